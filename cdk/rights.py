"""Who may do what: the whole of it, on one page."""

from __future__ import annotations

from dataclasses import dataclass

from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sqs as sqs

from cdk.statements import (
    allow,
    keeps_ledger,
    lists_versions,
    never_puts_objects,
    puts_objects,
    reads_objects,
    receives,
    sends,
    works_off,
)
from contracts.layout import INCOMING, PIPELINES, POLICIES, REJECTED, RUNS

Statements = list[iam.PolicyStatement]

PLANS = f"{RUNS}*/plan.json"
SPECS = f"{RUNS}*/job.json"
CURRENT = f"{POLICIES}*/current.json"
FORGET = "dynamodb:DeleteItem"
CHECK = "dynamodb:ConditionCheckItem"


def job_rights(bucket: s3.IBucket) -> Statements:
    """Read data, report, export; never decide what a run is or which policy is current."""
    return [
        *reads_objects(bucket, INCOMING, RUNS, POLICIES, PIPELINES, versions=True),
        puts_objects(bucket, f"{RUNS}*", f"{POLICIES}*", sid="ReportAndExport"),
        never_puts_objects(bucket, PLANS, SPECS, CURRENT, sid="NeverDecide"),
    ]


def agent_rights(bucket: s3.IBucket, jobs: sqs.Queue) -> Statements:
    """Take jobs, claim them, and say how they ended."""
    return [
        works_off(jobs, "TakeJobs"),
        *reads_objects(bucket, RUNS),
        puts_objects(bucket, f"{RUNS}*", sid="ClaimAndReport"),
        never_puts_objects(bucket, PLANS, SPECS, sid="NeverDecide"),
    ]


@dataclass(frozen=True)
class Rights:
    """The rights of the functions, given what there is.

    The ledger's keys are not narrowed per function: each of them reads and writes items of
    pipelines, drops and runs alike.
    """

    bucket: s3.Bucket
    table: dynamodb.Table
    uploads: sqs.Queue
    reports: sqs.Queue
    missed_sweeps: sqs.Queue
    machine_arn: str
    executions_arn: str
    start_jobs: tuple[iam.PolicyStatement, ...]
    """What it takes to have jobs started: to ring a queue, or to find a cluster."""
    stop_jobs: tuple[iam.PolicyStatement, ...]
    """What it takes to have them stopped, besides objects."""

    def intake(self) -> Statements:
        """Look into what arrived, refuse it in writing or record it, start a run."""
        return [
            receives(self.uploads, "ReceiveUploads"),
            *reads_objects(self.bucket, INCOMING, PIPELINES, versions=True),
            self._see_sets(),
            puts_objects(self.bucket, f"{REJECTED}*", sid="Refuse"),
            keeps_ledger(self.table, never=[FORGET]),
            self._start_runs(),
        ]

    def submit(self) -> Statements:
        """Start and stop jobs; hand over a phase that need not run again."""
        return [
            *reads_objects(self.bucket, RUNS),
            puts_objects(self.bucket, f"{RUNS}*", sid="PutJobs"),
            keeps_ledger(self.table, never=[FORGET, CHECK]),
            *self.start_jobs,
            self._answer_phases("states:SendTaskSuccess"),
        ]

    def report(self) -> Statements:
        """Answer phases by what jobs wrote; close runs, and start those that waited."""
        return [
            receives(self.reports, "ReceiveReports"),
            *reads_objects(self.bucket, RUNS),
            puts_objects(self.bucket, f"{REJECTED}*", f"{RUNS}*", sid="RefuseAndStopJobs"),
            keeps_ledger(self.table),
            self._answer_phases(
                "states:SendTaskFailure", "states:SendTaskHeartbeat", "states:SendTaskSuccess"
            ),
            self._start_runs(),
            self._see_runs(),
            *self.stop_jobs,
        ]

    def decide(self) -> Statements:
        """Plan, judge, publish; refuse in writing a set that cannot be planned."""
        return [
            *reads_objects(self.bucket, RUNS, POLICIES, PIPELINES),
            self._see_sets(),
            puts_objects(self.bucket, PLANS, CURRENT, f"{REJECTED}*", sid="PlanPublishAndRefuse"),
            keeps_ledger(self.table),
        ]

    def sweep(self) -> Statements:
        """Find what got stuck: everything that report and submit may do, but read uploads.

        Which uploads there are it sees, to tell of a folder whose seal never came.
        """
        return [
            *reads_objects(self.bucket, RUNS),
            self._see_sets(),
            puts_objects(self.bucket, f"{REJECTED}*", f"{RUNS}*", sid="RefuseAndStopJobs"),
            keeps_ledger(self.table),
            *self.start_jobs,
            sends(self.missed_sweeps, "SayThatASweepFailed"),
            self._answer_phases(
                "states:SendTaskFailure", "states:SendTaskHeartbeat", "states:SendTaskSuccess"
            ),
            self._start_runs(),
            self._see_runs(),
        ]

    def _see_sets(self) -> iam.PolicyStatement:
        """A set is what lies in its folder, in exact versions; their content is collect's."""
        return lists_versions(self.bucket, INCOMING, sid="SeeSets")

    def _start_runs(self) -> iam.PolicyStatement:
        return allow("StartRuns", ["states:StartExecution"], [self.machine_arn])

    def _see_runs(self) -> iam.PolicyStatement:
        return allow("SeeRuns", ["states:DescribeExecution"], [self.executions_arn])

    def _answer_phases(self, *actions: str) -> iam.PolicyStatement:
        # IAM documents no resource for these; the token is what says which task is answered.
        return allow("AnswerPhases", actions, ["*"])
