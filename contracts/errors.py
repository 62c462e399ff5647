"""The tree of errors. A class's name is the `ErrorEquals` string in the state machine.

RelayError
├── PermanentError            trying again changes nothing
│   ├── ContractBroken        an object does not have the form its contract says
│   ├── DropRefused           an upload cannot be taken
│   ├── PipelineInvalid       a pipeline file has a wrong field
│   ├── PipelineUnknown       no such pipeline is registered
│   ├── RunNotOpen            the run has ended, or does not hold its pipeline's lease
│   ├── AttemptsExhausted     a phase used up its attempts
│   ├── DataUnusable          too little usable data to learn from
│   ├── ArtifactCorrupt       a file does not match its manifest
│   ├── PolicyConflict        the parent is no longer the current policy
│   ├── ClusterRefused        the cluster is not there, or does not let this role in
│   ├── JobConflict           another job has this attempt's name
│   ├── JobInvalid            the cluster does not take the job as it is described
│   ├── JobFailed             the job says that it cannot succeed
│   └── JobStopped            the job was stopped on request
├── TransientError            the same call may succeed later
│   ├── PreviousJobStillRunning   the attempt before has not ended yet
│   ├── JobCrashed            the job ended without a word, or by an unexpected error
│   ├── JobNotStarted         no progress within the start limit
│   ├── DeadlineExceeded      the job ran past its own deadline
│   └── ServiceUnavailable    a service throttled or failed
└── FencedError               a newer attempt exists; this one changes nothing
    └── AttemptFenced
"""

from __future__ import annotations


class RelayError(Exception):
    """Whatever Relay raises on purpose; the message says what, where and the remedy."""


class PermanentError(RelayError):
    """Trying again changes nothing."""


class ContractBroken(PermanentError):
    """An object does not have the form its contract says."""


class DropRefused(PermanentError):
    """An upload cannot be taken."""


class PipelineInvalid(PermanentError):
    """A pipeline file has a wrong field."""


class PipelineUnknown(PermanentError):
    """No such pipeline is registered."""


class RunNotOpen(PermanentError):
    """The run has ended, or does not hold its pipeline's lease."""


class AttemptsExhausted(PermanentError):
    """A phase used up its attempts."""


class DataUnusable(PermanentError):
    """Too little usable data to learn from."""


class ArtifactCorrupt(PermanentError):
    """A file does not match its manifest."""


class PolicyConflict(PermanentError):
    """The parent is no longer the current policy."""


class ClusterRefused(PermanentError):
    """The cluster is not there, or does not let this role in."""


class JobConflict(PermanentError):
    """Another job has this attempt's name."""


class JobInvalid(PermanentError):
    """The cluster does not take the job as it is described."""


class JobFailed(PermanentError):
    """The job says that it cannot succeed."""


class JobStopped(PermanentError):
    """The job was stopped on request."""


class TransientError(RelayError):
    """The same call may succeed later."""


class PreviousJobStillRunning(TransientError):
    """The attempt before has not ended yet."""


class JobCrashed(TransientError):
    """The job ended without a word, or by an unexpected error."""


class JobNotStarted(TransientError):
    """No progress within the start limit."""


class DeadlineExceeded(TransientError):
    """The job ran past its own deadline."""


class ServiceUnavailable(TransientError):
    """A service throttled or failed."""


class FencedError(RelayError):
    """A newer attempt exists; this one changes nothing."""


class AttemptFenced(FencedError):
    """The caller's token or nonce is not that of the newest attempt."""


def names_below(root: type[RelayError]) -> tuple[str, ...]:
    """Class names of every leaf under `root`, sorted: what a retry or a catch lists."""
    leaves: list[str] = []
    for child in root.__subclasses__():
        leaves += names_below(child) if child.__subclasses__() else [child.__name__]
    return tuple(sorted(leaves))
