"""`python -m training --job s3://bucket/runs/<run>/<r>-<phase>-<a>/job.json`."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence

from contracts import layout
from contracts.errors import RelayError
from training.assignment import read_spec
from training.attempt import Attempt
from training.objects import Objects
from training.stopping import leave_on_sigterm

USAGE_ERROR = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one job; the exit code is that of `Attempt.run`, or 2 when there is no spec to run."""
    parser = argparse.ArgumentParser(prog="python -m training", description=__doc__)
    parser.add_argument("--job", required=True, help="s3:// address of the job's job.json")
    options = parser.parse_args(arguments)
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    logging.getLogger("botocore").setLevel(logging.WARNING)
    try:
        bucket, key = layout.split_s3_uri(options.job)
        objects = Objects(bucket)
        spec = read_spec(objects, key)
    except (ValueError, RelayError) as error:
        logging.getLogger(__name__).error("there is no job to run: %s", error)
        return USAGE_ERROR
    return Attempt(spec, objects).run()


if __name__ == "__main__":
    leave_on_sigterm()
    sys.exit(main())
