"""Bounds that hold everywhere, each with the service limit or the reason behind it."""

from __future__ import annotations

PIPELINE_NAME_MAX = 40
RUN_ID_MAX = 28
"""A RayJob's name holds at most 47 characters: run, round, phase, attempt."""
JOB_NAME_MAX = 47
ROUNDS_MAX = 99
ATTEMPTS_MAX = 99
WORKER_GROUPS_MAX = 16
"""Kueue takes at most 17 worker groups of a RayJob; one is kept for its submitter."""
KEY_BYTES_MAX = 1024
"""S3's limit on an object key, UTF-8 encoded."""
OBJECT_BYTES_MAX = 5 * 1024**3
SNIFF_BYTES = 64 * 1024
DROPS_PER_RUN_MAX = 5_000
"""A plan of this many drops stays under 2 MB; what is over waits for the next run."""
OBJECTS_PER_SET_MAX = 5_000
"""Objects that one seal takes; a plan of them stays under 8 MB even with the longest keys."""
OBJECTS_PER_RUN_MAX = 5_000
"""Objects of all drops of a run; a drop that would go over waits for the next run."""
SETS_PER_RUN_MAX = 200
"""Each is listed in S3 while the run is planned."""
VERSIONS_PER_SET_MAX = 20_000
"""Versions, old ones and deletions too, that a listing of a set looks through: twenty pages."""
SET_BYTES_MAX = 200 * 1024**3
"""All objects of a set: they are brought to one node's workspace."""
PROBLEMS_SHOWN_MAX = 20
PROBLEMS_PER_RESULT_MAX = 20_000
"""Problems that a result shows over all its objects: their counts are never cut."""
HEARTBEAT_MIN_S = 120
"""Shortest silence that may be too long: two turns of the sweep."""
PROGRESS_INTERVAL_MAX_S = 60
"""Half of that, so that a job is heard in time wherever it is silent for no longer."""
STATUS_OBJECT_BYTES_MAX = 1024 * 1024
"""Largest progress object, pipeline or manifest that a function reads into memory."""
RESULT_BYTES_MAX = 16 * 1024 * 1024
"""Largest result: a thousand objects of a collect, each with all the problems it may show."""
CAUSE_MAX = 1_000
"""Characters of a failure's cause; Step Functions takes 32,768, a person reads a line."""
NOTE_MAX = 300
"""Characters of what happened to the machines of a run."""
WAITING_MAX = 300
"""Characters of why a job waits."""
STATE_OUTPUT_BYTES_MAX = 48 * 1024
"""Of one phase. Four travel together, one of them from the round before, with the plan and, at the
end, an error of up to 32 KiB; Step Functions takes 256 KiB."""
LEDGER_RETENTION_S = 365 * 24 * 3600
FAILED_RUNS_BEFORE_PAUSE = 2
