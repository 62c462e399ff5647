"""The doctor's look at a control plane that is deployed, and at one that somebody meddled with."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from deployed import Line
from test_roles import resource

from relay.doctor.control_plane_round import ControlPlaneRound
from relay.doctor.finding import Finding
from relay.doctor.reading import AwsReading

pytestmark = [pytest.mark.line, pytest.mark.emulator]


class Session:
    """The line's session; the region is the stack's."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def client(self, service: str, **_: object) -> object:
        return self._line.client(service)


def look(line: Line) -> dict[str, Finding]:
    aws = AwsReading(Session(line))  # type: ignore[arg-type]
    found = ControlPlaneRound(aws, "Relay", lambda: datetime.now(UTC)).findings()
    return {one.name: one for one in found}


def test_a_deployed_control_plane_is_well_but_for_what_other_tests_left_in_queues(line: Line):
    found = look(line)
    ill = [one for one in found.values() if one.verdict != "ok"]
    assert [one for one in ill if not one.name.startswith(("dead letters", "queue"))] == []
    assert {"function sweep", "messages to intake", "bucket notification"} <= set(found)


def test_a_schedule_that_was_switched_off_is_found(line: Line):
    events = line.client("events")
    rule = resource(line, "AWS::Events::Rule", "SweepEveryRule").rpartition("/")[2]
    events.disable_rule(Name=rule)
    try:
        finding = look(line)["rule SweepEveryRule"]
    finally:
        events.enable_rule(Name=rule)
    assert (finding.verdict, "DISABLED" in finding.seen) == ("wrong", True)
    assert look(line)["rule SweepEveryRule"].verdict == "ok"


def test_bells_that_were_taken_away_are_found(line: Line):
    s3 = line.client("s3")
    before = s3.get_bucket_notification_configuration(Bucket=line.bucket)
    kept = {"QueueConfigurations": before["QueueConfigurations"]}
    s3.put_bucket_notification_configuration(
        Bucket=line.bucket,
        NotificationConfiguration={"QueueConfigurations": kept["QueueConfigurations"][:1]},
    )
    try:
        finding = look(line)["bucket notification"]
    finally:
        s3.put_bucket_notification_configuration(Bucket=line.bucket, NotificationConfiguration=kept)
    assert finding.verdict == "wrong"
    assert look(line)["bucket notification"].verdict == "ok"
