"""Effects: the ledger, objects, executions and the runner, each behind a small class."""
