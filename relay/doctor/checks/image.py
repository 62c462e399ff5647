"""The jobs' image, where it says it is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from relay.doctor.answers import Answer, Found, judge
from relay.doctor.finding import Finding, ok, unknown

_ECR = re.compile(
    r"(?P<account>\d{12})\.dkr\.ecr\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(?:\.cn)?/"
    r"(?P<repository>[^:@]+)(?::(?P<tag>[^@]+))?(?:@(?P<digest>sha256:[0-9a-f]{64}))?"
)


class Place(NamedTuple):
    """An image of ECR."""

    account: str
    region: str
    repository: str
    id: Mapping[str, str]


def place(image: str) -> Place | None:
    """Where in ECR an image is; None when it is elsewhere."""
    match = _ECR.fullmatch(image)
    if match is None:
        return None
    digest, tag = match["digest"], match["tag"]
    wanted = {"imageDigest": digest} if digest else {"imageTag": tag or "latest"}
    return Place(match["account"], match["region"], match["repository"], wanted)


def elsewhere(image: str) -> Finding:
    """What can be said of an image of another registry."""
    return unknown(
        f"image {image}", "not in ECR, so nobody was asked", f"docker manifest inspect {image}"
    )


def there(image: str, answer: Answer) -> Finding:
    """Whether ECR has the image."""
    about = f"image {image}"

    def by(found: Found) -> Finding:
        detail = (found["imageDetails"] or [{}])[0]
        size = detail.get("imageSizeInBytes", 0) / 1e9
        return ok(about, f"{detail.get('imageDigest', '')[:19]}…, {size:.1f} GB")

    missing = "build and push it (docs/operate/first-deploy.md), or deploy with `-c image=…`"
    return judge(about, answer, missing=missing, by=by)
