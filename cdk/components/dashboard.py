"""One page of a control plane: what comes in, what runs, what waits, what goes wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aws_cdk import Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from cdk.components.alarms import FIVE_MINUTES, Watched, own_metric

HALF = 12
UPLOADS = (
    "UploadAccepted",
    "UploadUnsealed",
    "UploadKnown",
    "UploadRefused",
    "UploadIgnored",
)
REPORTS = ("ReportTold", "ReportLate", "ReportFenced", "ReportUnknown", "ReportIgnored")


class Dashboard(Construct):
    """The alarms on top, then a row a question."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        namespace: str,
        watched: Watched,
        functions: Mapping[str, lambda_.Function],
        alarms: Sequence[cloudwatch.Alarm],
    ) -> None:
        """Make the page.

        Args:
            scope: the stack.
            id_: its role.
            namespace: of the metrics that functions write.
            watched: queues and state machine.
            functions: by what they are called.
            alarms: shown with their state.
        """
        super().__init__(scope, id_)
        self._namespace = namespace
        self.page = cloudwatch.Dashboard(self, "Page", dashboard_name=Stack.of(self).stack_name)
        self.page.add_widgets(
            cloudwatch.AlarmStatusWidget(alarms=list(alarms), width=24, title="Alarms")
        )
        self.page.add_widgets(_graph("Uploads", self._own(UPLOADS)), _graph("Runs", _runs(watched)))
        self.page.add_widgets(
            _graph("What jobs said", self._own(REPORTS)),
            _graph("Phases", self._own(("SweptJobs", "SilentPhases", "NodeEvents"), "Maximum")),
        )
        self.page.add_widgets(
            _graph("Messages that wait", _waiting(watched)),
            _graph("Age of the oldest message, in seconds", _ages(watched)),
        )
        self.page.add_widgets(
            _graph("Errors of functions", [_errors(name, one) for name, one in functions.items()]),
            _graph("Time of functions", [_times(name, one) for name, one in functions.items()]),
        )

    def _own(self, names: Sequence[str], statistic: str = "Sum") -> list[cloudwatch.IMetric]:
        return [own_metric(self._namespace, name, statistic, FIVE_MINUTES) for name in names]


def _graph(title: str, metrics: Sequence[cloudwatch.IMetric]) -> cloudwatch.GraphWidget:
    return cloudwatch.GraphWidget(title=title, left=list(metrics), width=HALF)


def _runs(watched: Watched) -> list[cloudwatch.IMetric]:
    runs = watched.runs
    return [
        runs.metric_started(period=FIVE_MINUTES, label="started"),
        runs.metric_succeeded(period=FIVE_MINUTES, label="published or kept"),
        runs.metric_failed(period=FIVE_MINUTES, label="failed"),
        runs.metric_aborted(period=FIVE_MINUTES, label="cancelled"),
    ]


def _waiting(watched: Watched) -> list[cloudwatch.IMetric]:
    work = {**watched.queues, **{f"dead letters of {w}": q for w, q in watched.ends.items()}}
    return [
        queue.metric_approximate_number_of_messages_visible(
            period=FIVE_MINUTES, statistic="Maximum", label=whose
        )
        for whose, queue in work.items()
    ]


def _ages(watched: Watched) -> list[cloudwatch.IMetric]:
    return [
        queue.metric_approximate_age_of_oldest_message(
            period=FIVE_MINUTES, statistic="Maximum", label=whose
        )
        for whose, queue in watched.queues.items()
    ]


def _errors(name: str, function: lambda_.Function) -> cloudwatch.IMetric:
    return function.metric_errors(period=FIVE_MINUTES, label=name)


def _times(name: str, function: lambda_.Function) -> cloudwatch.IMetric:
    return function.metric_duration(period=FIVE_MINUTES, statistic="p95", label=name)
