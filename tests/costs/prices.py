"""From counted requests to money: unit prices that have to be checked, and three sizes of use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from counting import CALL, GET, MESSAGE, PUT, READ, WRITE, Counts

DAYS = 30
MINUTES = DAYS * 24 * 60
RUN_MINUTES = 60
PROGRESS_EVERY_S = 15
SECONDS_A_CALL = 0.2
SECONDS_A_SWEEP = 1.0
MEMORY_GB = 0.5
LOG_BYTES_A_CALL = 1500
LOG_BYTES_A_RUN = 25_000
TRANSITIONS_A_RUN = 12
ALARMS, METRICS = 9, 16
POLLS_A_MINUTE = 30
"""Two queues, five pollers each, twenty seconds a poll."""

PRICES: Mapping[str, float] = {
    "function call": 0.20e-6,
    "GB-second of a function (arm64)": 0.0000133334,
    "state transition (standard)": 25e-6,
    "DynamoDB read unit (on demand)": 0.125e-6,
    "DynamoDB write unit (on demand)": 0.625e-6,
    "S3 GET": 0.4e-6,
    "S3 PUT": 5e-6,
    "SQS request (standard)": 0.40e-6,
    "GB of logs": 0.50,
    "trace": 5e-6,
    "alarm a month": 0.10,
    "own metric a month": 0.30,
}
"""Dollars in us-east-1."""


class Use(NamedTuple):
    """How much a deployment is used."""

    drops_a_day: int
    pipelines: int
    runs_a_day: int


USES = (Use(10, 1, 10), Use(1_000, 10, 240), Use(100_000, 100, 2_400))
"""Runs of an hour take turns, so a pipeline has at most 24 a day, of whatever waited."""


def requests(use: Use, measured: Mapping[str, Counts]) -> Counts:
    """What a month takes, by kind."""
    runs = use.runs_a_day * DAYS
    live = runs * RUN_MINUTES
    often = {
        "a drop": use.drops_a_day * DAYS,
        "a run": runs,
        "a progress report": runs * RUN_MINUTES * 60 // PROGRESS_EVERY_S,
        "a sweep": MINUTES,
        "a sweep, for each pipeline that is idle": use.pipelines * MINUTES - live,
        "a sweep, for each run that is live": live,
    }
    total: Counts = Counts()
    for what, times in often.items():
        for kind, number in measured[what].items():
            total[kind] += number * times
    total[MESSAGE] += POLLS_A_MINUTE * MINUTES
    return total


def costs(use: Use, measured: Mapping[str, Counts]) -> dict[str, float]:
    """Dollars a month, by what they are for."""
    found = requests(use, measured)
    runs = use.runs_a_day * DAYS
    seconds = (found[CALL] - MINUTES) * SECONDS_A_CALL + MINUTES * SECONDS_A_SWEEP
    logs = (found[CALL] * LOG_BYTES_A_CALL + runs * LOG_BYTES_A_RUN) / 1e9
    return {
        "functions": found[CALL] * PRICES["function call"]
        + seconds * MEMORY_GB * PRICES["GB-second of a function (arm64)"],
        "state machine": runs * TRANSITIONS_A_RUN * PRICES["state transition (standard)"],
        "ledger": found[READ] * PRICES["DynamoDB read unit (on demand)"]
        + found[WRITE] * PRICES["DynamoDB write unit (on demand)"],
        "bucket": found[GET] * PRICES["S3 GET"] + found[PUT] * PRICES["S3 PUT"],
        "queues": found[MESSAGE] * PRICES["SQS request (standard)"],
        "logs and traces": logs * PRICES["GB of logs"] + found[CALL] * PRICES["trace"],
        "alarms and metrics": ALARMS * PRICES["alarm a month"]
        + METRICS * PRICES["own metric a month"],
    }
