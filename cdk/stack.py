"""The control plane's stack: parts, who may do what to them, and what is told of them."""

from __future__ import annotations

from pathlib import Path

from aws_cdk import CfnOutput, Duration, Fn, Stack
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from cdk.cluster_jobs import ClusterJobs
from cdk.components.alarms import Alarms, Watched
from cdk.components.code_bundle import code_bundle
from cdk.components.control_function import ControlFunction, Role, Shared, powertools
from cdk.components.dashboard import Dashboard
from cdk.components.ledger import Ledger
from cdk.components.object_store import ObjectStore, bells
from cdk.components.run_machine import RunMachine
from cdk.components.run_status_rule import RunStatusRule
from cdk.components.sweep_schedule import SweepSchedule
from cdk.components.work_queue import WorkQueue, dead_letters, let_send, policy_of
from cdk.jobs import Jobs
from cdk.names import bucket_arn_pattern, run_executions_arn, run_machine_arn
from cdk.queue_jobs import QueueJobs
from cdk.rights import Rights
from cdk.settings import Settings

ROOT = Path(__file__).parents[1]

# Short where a queue is read: a message that failed comes back after six timeouts.
INTAKE = Role("intake", "takes or refuses what is uploaded", Duration.seconds(20))
SUBMIT = Role("submit", "starts a phase's job", Duration.seconds(20))
REPORT = Role("report", "answers phases by what jobs report", Duration.seconds(20))
DECIDE = Role("decide", "plans runs, judges and publishes policies", Duration.minutes(5))
SWEEP = Role("sweep", "finds what got stuck", Duration.seconds(55))
"""Shorter than a minute, so that sweeps do not overlap."""

VISIBILITY_PER_TIMEOUT = 6
"""Lambda's advice for a queue that a function reads."""
BATCH = 10


class ControlPlane(Stack):
    """Everything between a bucket and a runner; of a cluster only how to find it."""

    def __init__(self, scope: Construct, settings: Settings) -> None:
        """Compose the stack.

        Args:
            scope: the app.
            settings: what may differ between deployments.
        """
        super().__init__(
            scope,
            settings.name,
            description="Relay: files dropped in a bucket become better policies",
            termination_protection=settings.protects,
        )
        # The CDK has functions wait for their roles, which they name anyhow.
        self.template_options.metadata = {"cfn-lint": {"config": {"ignore_checks": ["W3005"]}}}
        self.settings = settings
        self._make_queues()
        self._make_storage()
        self._make_functions()
        self._make_events()
        self.jobs.let_in(self.store.bucket)
        self._make_watch()
        self._tell()

    def told(self, output: str) -> str:
        """One of the stack's outputs, for a stack that is deployed after it."""
        return Fn.get_stack_output(self.stack_name, output)

    def runner_functions(self) -> dict[str, ControlFunction]:
        """The functions that talk to a runner, by what they are called."""
        return {"Submit": self.submit, "Report": self.report, "Sweep": self.sweep}

    @property
    def ends(self) -> dict[str, sqs.Queue]:
        """Where messages end that nobody could handle, by whose they were."""
        work = {"uploads": self.uploads, "reports": self.reports, "jobs": self.jobs.queue}
        dead = {name: one.dead_letters for name, one in work.items() if one is not None}
        return {**dead, "sweeps": self.missed_sweeps}

    def _make_queues(self) -> None:
        self.uploads = WorkQueue(self, "Uploads", visibility=_visibility(INTAKE))
        self.reports = WorkQueue(self, "Reports", visibility=_visibility(REPORT))
        self.jobs = self._make_jobs()
        self.missed_sweeps = dead_letters(self, "MissedSweeps")
        for work in (self.uploads, self.reports):
            let_send(
                work.queue,
                "Notify",
                "s3.amazonaws.com",
                bucket_arn_pattern(self),
                self.account,
            )

    def _make_jobs(self) -> Jobs:
        if self.settings.on_a_cluster:
            return ClusterJobs(self, self.settings, self.reports)
        return QueueJobs(self, self.settings)

    def _make_storage(self) -> None:
        settings = self.settings
        self.store = ObjectStore(
            self,
            "Store",
            retains=settings.retains,
            bells=bells(self.uploads.queue, self.reports.queue),
            after=[policy_of(self.uploads.queue), policy_of(self.reports.queue)],
        )
        self.ledger = Ledger(self, "Ledger", retains=settings.retains, protects=settings.protects)

    def _make_functions(self) -> None:
        self.rights = Rights(
            bucket=self.store.bucket,
            table=self.ledger.table,
            uploads=self.uploads.queue,
            reports=self.reports.queue,
            missed_sweeps=self.missed_sweeps,
            machine_arn=run_machine_arn(self),
            executions_arn=run_executions_arn(self),
            start_jobs=tuple(self.jobs.starting()),
            stop_jobs=tuple(self.jobs.stopping()),
        )
        with code_bundle(ROOT) as code:
            shared = Shared(
                code, powertools(self, self.settings), self._environment(), self.settings
            )
            rights = self.rights
            self.intake = ControlFunction(self, INTAKE, shared=shared, rights=rights.intake())
            self.submit = ControlFunction(self, SUBMIT, shared=shared, rights=rights.submit())
            self.report = ControlFunction(self, REPORT, shared=shared, rights=rights.report())
            self.decide = ControlFunction(self, DECIDE, shared=shared, rights=rights.decide())
            self.sweep = ControlFunction(self, SWEEP, shared=shared, rights=rights.sweep())
        self.jobs.serve(self.runner_functions())
        self.runs = RunMachine(
            self,
            "Runs",
            settings=self.settings,
            submit=self.submit.function,
            decide=self.decide.function,
        )

    def _make_events(self) -> None:
        concurrency = self.settings.max_concurrency
        self.intake.read(self.uploads.queue, batch=BATCH, concurrency=concurrency)
        self.report.read(self.reports.queue, batch=BATCH, concurrency=concurrency)
        RunStatusRule(self, "RunStatus", reports=self.reports)
        SweepSchedule(self, "SweepEvery", sweep=self.sweep.function, missed=self.missed_sweeps)

    def _make_watch(self) -> None:
        work = {"uploads": self.uploads, "reports": self.reports}
        watched = Watched(
            ends=self.ends,
            queues={whose: one.queue for whose, one in work.items()},
            runs=self.runs.machine,
        )
        self.alarms = Alarms(self, "Alarms", settings=self.settings, watched=watched)
        functions = {
            "intake": self.intake,
            "submit": self.submit,
            "report": self.report,
            "decide": self.decide,
            "sweep": self.sweep,
        }
        Dashboard(
            self,
            "Dashboard",
            namespace=self.settings.name,
            watched=watched,
            functions={name: one.function for name, one in functions.items()},
            alarms=self.alarms.all,
        )

    def _tell(self) -> None:
        settings = self.settings
        told = {
            "Bucket": self.store.bucket.bucket_name,
            "LedgerTable": self.ledger.table.table_name,
            "StateMachineArn": self.runs.machine.state_machine_arn,
            "UploadsQueueUrl": self.uploads.queue.queue_url,
            "UploadsDeadLetterQueueUrl": self.uploads.dead_letters.queue_url,
            "ReportsQueueUrl": self.reports.queue.queue_url,
            "ReportsDeadLetterQueueUrl": self.reports.dead_letters.queue_url,
            **self.jobs.outputs(),
            "WorkspaceRoot": settings.workspace_root,
            "ProgressIntervalS": f"{settings.progress_interval_s:g}",
        }
        for name, value in told.items():
            CfnOutput(self, name, value=value)

    def _environment(self) -> dict[str, str]:
        settings = self.settings
        return {
            "BUCKET": self.store.bucket.bucket_name,
            "LEDGER_TABLE": self.ledger.table.table_name,
            "STATE_MACHINE_ARN": run_machine_arn(self),
            **self.jobs.variables(),
            "WORKSPACE_ROOT": settings.workspace_root,
            "PROGRESS_INTERVAL_S": f"{settings.progress_interval_s:g}",
            "RUNNER": settings.runner,
            "POWERTOOLS_METRICS_NAMESPACE": settings.name,
            "POWERTOOLS_SERVICE_NAME": "relay",
            "POWERTOOLS_LOG_LEVEL": settings.log_level,
        }


def _visibility(role: Role) -> Duration:
    return Duration.seconds(VISIBILITY_PER_TIMEOUT * int(role.timeout.to_seconds()))
