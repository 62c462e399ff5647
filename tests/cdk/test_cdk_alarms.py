"""What operators are woken for, what they look at, and what they read then."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from synthesis import ROOT, Template, flat, of_type, the

ALARMS = {
    "Relay-dead-letters-uploads": "dead-letters",
    "Relay-dead-letters-reports": "dead-letters",
    "Relay-dead-letters-jobs": "dead-letters",
    "Relay-dead-letters-sweeps": "dead-letters",
    "Relay-oldest-message-uploads": "oldest-message",
    "Relay-oldest-message-reports": "oldest-message",
    "Relay-failed-runs": "failed-runs",
    "Relay-silent-phase": "silent-phase",
    "Relay-missing-sweep": "missing-sweep",
}
OPERATE = ROOT / "docs" / "operate"


def _alarms(template: Template) -> dict[str, dict[str, Any]]:
    found = [one["Properties"] for one in of_type(template, "CloudWatch::Alarm").values()]
    return {one["AlarmName"]: one for one in found}


def test_these_alarms_are_there_each_with_its_runbook(template: Template) -> None:
    runbooks = {
        name: alarm["AlarmDescription"].rpartition("Runbook: docs/operate/")[2]
        for name, alarm in _alarms(template).items()
    }
    assert runbooks == {name: f"{page}.md" for name, page in ALARMS.items()}


@pytest.mark.parametrize("page", sorted(set(ALARMS.values())))
def test_a_runbook_says_what_it_means_what_to_look_at_and_what_to_do(page: str) -> None:
    text = (OPERATE / f"{page}.md").read_text()
    assert text.startswith(f"# {page}\n")
    assert [part for part in ("What it means", "Look", "Do") if f"## {part}\n" not in text] == []
    assert f"({page}.md)" in (OPERATE / "README.md").read_text()


def test_every_page_that_is_linked_exists() -> None:
    for page in OPERATE.glob("*.md"):
        links = re.findall(r"\]\(([^)#:]+\.md)\)", page.read_text())
        assert [link for link in links if not (page.parent / link).exists()] == [], page.name


def test_nobody_is_told_unless_somebody_is_named(template: Template) -> None:
    assert of_type(template, "SNS::Topic") == {}
    assert not [name for name, one in _alarms(template).items() if "AlarmActions" in one]


def test_who_is_named_is_told_of_every_alarm_and_of_its_end(on_cluster: Template) -> None:
    assert the(on_cluster, "SNS::Subscription")["Endpoint"] == "team@example.com"
    for alarm in _alarms(on_cluster).values():
        for actions in (alarm["AlarmActions"], alarm["OKActions"]):
            assert [flat(on_cluster, one) for one in actions] == ["<Alarms/Topic>"]


def test_alarms_may_publish_though_the_topic_has_a_policy_of_its_own(on_cluster: Template) -> None:
    policy = the(on_cluster, "SNS::TopicPolicy")["PolicyDocument"]
    (allowed,) = [one for one in policy["Statement"] if one["Effect"] == "Allow"]
    assert allowed["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
    like = flat(on_cluster, allowed["Condition"]["ArnLike"]["aws:SourceArn"])
    assert like.endswith(":alarm:Relay-*")
    assert [name for name in _alarms(on_cluster) if not name.startswith("Relay-")] == []


def test_a_dead_letter_of_any_queue_is_told_within_a_minute(template: Template) -> None:
    watched = {
        flat(template, alarm["Dimensions"][0]["Value"])
        for name, alarm in _alarms(template).items()
        if "dead-letters" in name and (alarm["Period"], alarm["Threshold"]) == (60, 1)
    }
    ends = {"<Uploads/DeadLetters>", "<Reports/DeadLetters>", "<Jobs/DeadLetters>"}
    assert watched == ends | {"<MissedSweeps>"}


def test_silence_of_the_metrics_wakes_nobody_but_where_sweeps_are_missing(
    template: Template,
) -> None:
    missing = {name: alarm["TreatMissingData"] for name, alarm in _alarms(template).items()}
    assert missing.pop("Relay-missing-sweep") == "breaching"
    assert set(missing.values()) == {"notBreaching"}


def test_an_alarm_is_about_a_metric_as_functions_write_it(
    template: Template,
) -> None:
    from lambdas.observing import metrics

    (named,) = {
        one["Properties"]["Environment"]["Variables"]["POWERTOOLS_METRICS_NAMESPACE"]
        for one in of_type(template, "Lambda::Function").values()
    }
    own = [one for one in _alarms(template).values() if not one["Namespace"].startswith("AWS/")]
    assert {one["Namespace"] for one in own} == {named} == {metrics.provider.namespace}
    dimensions = {(one["Name"], one["Value"]) for alarm in own for one in alarm["Dimensions"]}
    assert dimensions == {("service", metrics.provider.service)}
    written = (ROOT / "lambdas" / "sweep" / "handler.py").read_text()
    assert [one["MetricName"] for one in own if f'"{one["MetricName"]}"' not in written] == []


def test_every_own_metric_on_the_dashboard_is_one_that_functions_write(template: Template) -> None:
    from cdk.components.dashboard import REPORTS, UPLOADS
    from lambdas.logic.accept_upload import Outcome
    from lambdas.logic.hear_job import Heard

    outcomes = {f"Upload{word.capitalize()}" for word in Outcome.__args__}
    heard = {f"Report{word.capitalize()}" for word in Heard.__args__}
    assert set(UPLOADS) == outcomes
    assert set(REPORTS) - heard == {"ReportIgnored"}
    handlers = "".join(path.read_text() for path in (ROOT / "lambdas").glob("*/handler.py"))
    for name in ("SweptJobs", "SilentPhases", "NodeEvents", "ReportIgnored"):
        assert f'"{name}"' in handlers


def test_the_dashboard_shows_every_alarm_and_answers_questions(template: Template) -> None:
    page = the(template, "CloudWatch::Dashboard")
    assert page["DashboardName"] == "Relay"
    body = json.loads(flat(template, page["DashboardBody"]))
    first, *graphs = body["widgets"]
    assert len(first["properties"]["alarms"]) == len(ALARMS)
    assert [one["properties"]["title"] for one in graphs] == [
        "Uploads",
        "Runs",
        "What jobs said",
        "Phases",
        "Messages that wait",
        "Age of the oldest message, in seconds",
        "Errors of functions",
        "Time of functions",
    ]
