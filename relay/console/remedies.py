"""What an operator can do about the end of a run: by its error's name, else by its status."""

from __future__ import annotations

from contracts.ledger import RunStatus

_RETRY = "mend the cause, then `relay retry {run}`: it takes the same drops"
_GOES_ON = "`relay retry {run}` goes on from the last good handoff"

_REMEDIES: dict[str, str] = {
    "ContractBroken": "the control plane and the jobs are of different versions: deploy both, "
    "then `relay retry {run}`",
    "DropRefused": "mend the file and upload it again: it is a new drop",
    "PipelineInvalid": "mend the pipeline's file, `relay pipelines apply FILE`, then "
    "`relay retry {run}`",
    "PipelineUnknown": "`relay pipelines apply FILE`, then `relay retry {run}`",
    "RunNotOpen": "an ended run can't be redriven: use `relay retry {run}`",
    "AttemptsExhausted": f"look at each attempt's cause above; {_RETRY}",
    "DataUnusable": "upload more or better data: `relay validate FILE` says what is wrong with it",
    "ArtifactCorrupt": "a file changed or was lost between two phases: look at the file system, "
    "then `relay retry {run}`",
    "PolicyConflict": "another policy was published meanwhile: drop the data again, to train "
    "from that one",
    "ClusterRefused": "`relay doctor` says what the cluster lacks; then `relay retry {run}`",
    "JobConflict": "another job has the attempt's name: is the cluster's namespace shared? "
    + _GOES_ON,
    "JobInvalid": "the cluster runs another version of KubeRay than this one was made for: "
    "`relay doctor`, then `relay retry {run}`",
    "JobFailed": _RETRY,
    "JobStopped": _GOES_ON,
    "PreviousJobStillRunning": "the job before would not end: look at the agent and at Ray, then "
    "`relay retry {run}`",
    "JobCrashed": f"look at the job's log; {_GOES_ON}",
    "JobNotStarted": "no agent took the job in time: start one (`relay local up`), then "
    "`relay retry {run}`",
    "DeadlineExceeded": "raise patience.timeout_s in the pipeline or give it less to do; "
    f"{_GOES_ON}",
    "ServiceUnavailable": f"wait until the service is well; {_GOES_ON}",
    "AttemptFenced": _GOES_ON,
    "States.HeartbeatTimeout": "the job fell silent: look at the agent and at Ray; " + _GOES_ON,
    "States.Timeout": "raise patience.timeout_s in the pipeline; " + _GOES_ON,
}
_ELSE = "look at the execution in the Step Functions console; " + _GOES_ON

_AFTER: dict[RunStatus, str] = {
    "KEPT": "drop more or better data, and the next run starts from the same policy; or let it "
    "learn longer (steps, rounds) or lower gate.min_gain, `relay pipelines apply FILE`, and drop "
    "again",
    "NO_DATA": "`relay drops --pipeline {pipeline}` has a report on what could not be used: mend "
    "it and drop it again",
    "EMPTY": "nothing: another run took the drops, `relay runs --pipeline {pipeline}` has it",
    "CANCELLED": _GOES_ON,
}


def remedy_after(status: RunStatus, run: str, pipeline: str) -> str:
    """What to do after a run that no error ended; empty while it is open or when it published."""
    return _AFTER.get(status, "").format(run=run, pipeline=pipeline)


def remedy(error: str, run: str) -> str:
    """One line of what to do; always says something."""
    return _REMEDIES.get(error, _ELSE).format(run=run)


def has_remedy(error: str) -> bool:
    """Whether an error's name has a remedy of its own."""
    return error in _REMEDIES
