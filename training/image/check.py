"""`python -m training.image.check`: builds the jobs' image and has it work, without a daemon.

The base is a stand-in made by debootstrap, with Ray in its Python and Ray's user, as the real one
can't be had everywhere; everything else is `training/Dockerfile` as it is.

| exit code | |
|---|---|
| 0 | built, and a small run went as it should |
| 1 | the image is wrong |
| 3 | this machine can't tell, and says why; nothing is known of the image |
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

from training.image import stand_in_base, wheels
from training.image.buildah import Buildah
from training.image.errors import CannotCheck, ImageWrong
from training.image.tools import missing
from training.image.trial import Trial, s3, workspace

PROJECT = Path(__file__).parents[2]
WORK = PROJECT / ".relay" / "image-check"
NAME = "localhost/relay-training"
_PIP = "[global]\nno-index = true\nfind-links = /wheels\n"


def say(words: str) -> None:
    """Tell whoever waits."""
    sys.stderr.write(f"{time.strftime('%T')} {words}\n")


def build(buildah: Buildah, work: Path) -> None:
    """Build `training/Dockerfile` on the stand-in, from wheels that lie here."""
    say("fetching the locked wheels")
    wheels.fetch(work / "wheels")
    say("making a base that stands in for Ray's")
    base = stand_in_base.make(buildah, work / "debian", work / "wheels")
    (work / "pip.conf").write_text(_PIP)
    say(f"building on {base}")
    dockerfile = PROJECT / "training" / "Dockerfile"
    words = [f"--volume={work}/wheels:/wheels:ro", f"--volume={work}/pip.conf:/etc/pip.conf:ro"]
    words += ["--build-arg", f"BASE={base}", "--build-arg", "TORCH=cpu"]
    buildah.build([*words, "--file", str(dockerfile), "--tag", NAME, str(PROJECT)])
    # What had the name before; it is gigabytes.
    buildah.ask("rmi", "--prune")


def check(work: Path) -> None:
    """Build the image and try it.

    Raises:
        CannotCheck: this machine lacks something.
        ImageWrong: the image is not as it must be.
    """
    lacks = missing()
    if lacks:
        raise CannotCheck("; ".join(lacks))
    (work / "wheels").mkdir(parents=True, exist_ok=True)
    log = work / "log"
    log.write_bytes(b"")
    buildah = Buildah(work, log)
    build(buildah, work)
    container = buildah.ask("from", "--pull-never", NAME)
    try:
        with s3(work / "s3.log") as endpoint, workspace(work / "workspace") as folder:
            Trial(buildah, container, folder, endpoint).run(say)
    finally:
        buildah.ask("rm", container)


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the image; argument: a folder for what is made, .relay/image-check by default."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    work = Path(given[0]).resolve() if given else WORK
    try:
        check(work)
    except CannotCheck as error:
        say(f"the image can't be checked here: {error}")
        return error.exit_code
    except ImageWrong as error:
        say(f"the image is wrong: {error}")
        return error.exit_code
    say("the image builds, and does what jobs must")
    return 0


if __name__ == "__main__":
    sys.exit(main())
