"""Where every object lies in the bucket: the only place that knows a key's form."""

from __future__ import annotations

import re
from urllib.parse import quote

from contracts.limits import KEY_BYTES_MAX
from contracts.model import digest
from contracts.names import RUN_PATTERN, AttemptKey, Phase, attempt_key, is_pipeline_name

INCOMING = "incoming/"
REJECTED = "rejected/"
RUNS = "runs/"
PIPELINES = "pipelines/"
POLICIES = "policies/"
PROGRESS = "progress.json"
RESULT = "result.json"
SEAL = "_SUCCESS"
STOP_REQUESTED = "stop-requested"
"""A file in an attempt's folder of the workspace, whose presence asks the work to save and end."""
NO_PIPELINE = "_no-pipeline"
BY_DIGEST = "_by-digest"

_UNSAFE = re.compile(r"[\x00-\x1f\x7f%]")
_STATUS_KEY = re.compile(
    rf"^{RUNS}(?P<run>{RUN_PATTERN[1:-1]})/(?P<round>[0-9]{{1,2}})-(?P<phase>[a-z]+)"
    rf"-(?P<attempt>[0-9]{{1,2}})/(?P<name>progress|result)\.json$"
)


def pipeline(name: str) -> str:
    """The registered, canonical pipeline."""
    return f"{PIPELINES}{name}.json"


def plan(run: str) -> str:
    """What a run was decided to be."""
    return f"{RUNS}{run}/plan.json"


def attempt_object(key: AttemptKey, name: str) -> str:
    """An object of one attempt: job, claim, stop, exit, progress or result."""
    return f"{RUNS}{key.run}/{key.folder}/{name}"


def job(key: AttemptKey) -> str:
    """The job's spec: desired state, put once."""
    return attempt_object(key, "job.json")


def claim(key: AttemptKey) -> str:
    """Which agent runs the job: put once, by condition."""
    return attempt_object(key, "claim.json")


def stop(key: AttemptKey) -> str:
    """Whoever runs the job shall end it; a job not yet claimed never starts."""
    return attempt_object(key, "stop.json")


def exit_(key: AttemptKey) -> str:
    """The job's process is gone; written by the agent."""
    return attempt_object(key, "exit.json")


def progress(key: AttemptKey) -> str:
    """The job's newest sign of life, overwritten."""
    return attempt_object(key, PROGRESS)


def result(key: AttemptKey) -> str:
    """The job's last word."""
    return attempt_object(key, RESULT)


def policy(pipeline_name: str, run: str) -> str:
    """Prefix of the policy that a run exported, ending in a slash."""
    return f"{POLICIES}{pipeline_name}/{run}/"


def initial_policy(pipeline_name: str, run: str) -> str:
    """Prefix of version 0, made on a pipeline's first run, ending in a slash."""
    return f"{POLICIES}{pipeline_name}/{run}-initial/"


def current_policy(pipeline_name: str) -> str:
    """Which policy version is current."""
    return f"{POLICIES}{pipeline_name}/current.json"


def set_folder(pipeline_name: str, folder: str) -> str:
    """Prefix of a set's objects, ending in a slash."""
    return f"{INCOMING}{pipeline_name}/{folder}/"


def seal(pipeline_name: str, folder: str) -> str:
    """The object that makes a folder one drop."""
    return f"{set_folder(pipeline_name, folder)}{SEAL}"


def rejection(pipeline_name: str, rest: str, version_id: str) -> str:
    """The report on a refused object, for its uploader.

    Control characters, `%` and path steps such as `..` are percent-encoded, and a key that
    would grow past S3's limit is named by its digest, so any legal key has its own report.
    No pipeline's folder here begins with `_`, so `_by-digest` is nobody's; what a pipeline has
    below it lies together, so that it can be listed.

    Args:
        pipeline_name: what the key names as its pipeline, whether or not it can be one;
            empty when the key names none.
        rest: the key behind it.
        version_id: the object's version.
    """
    folder = _plain(pipeline_name)
    folder = f"%5F{folder[1:]}" if folder.startswith("_") else folder or NO_PIPELINE
    shown = "/".join(_plain(part) for part in rest.split("/"))
    made = f"{REJECTED}{folder}/{shown}@{version_id}.json"
    if len(made.encode("utf-8", "surrogatepass")) <= KEY_BYTES_MAX:
        return made
    named = digest(f"{folder}/{rest}".encode())
    below = f"{folder}/" if is_pipeline_name(folder) else ""
    return f"{REJECTED}{BY_DIGEST}/{below}{named}@{version_id}.json"


def _plain(part: str) -> str:
    encoded = _UNSAFE.sub(lambda found: quote(found[0], safe=""), part)
    return encoded.replace(".", "%2E") if encoded and set(encoded) == {"."} else encoded


def parse_status_key(key: str) -> tuple[AttemptKey, str] | None:
    """Read a progress or result key; None when it is neither."""
    match = _STATUS_KEY.fullmatch(key)
    if match is None:
        return None
    phase: Phase = match["phase"]  # type: ignore[assignment]
    try:
        found = attempt_key(match["run"], int(match["round"]), phase, int(match["attempt"]))
    except ValueError:
        return None
    name = f"{match['name']}.json"
    return (found, name) if attempt_object(found, name) == key else None


def s3_uri(bucket: str, key: str) -> str:
    """`s3://bucket/key`."""
    return f"s3://{bucket}/{key}"


def split_s3_uri(uri: str) -> tuple[str, str]:
    """Bucket and key of an `s3://` address.

    Raises:
        ValueError: it is not one.
    """
    scheme, _, rest = uri.partition("://")
    bucket, slash, key = rest.partition("/")
    if scheme != "s3" or not bucket or not slash:
        raise ValueError(f"{uri!r} is not s3://bucket/key")
    return bucket, key
