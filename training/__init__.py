"""What runs on the cluster: one process an attempt, its work a Ray task, its answer an object.

The driver (`python -m training`) holds the credentials and talks to S3; the work reads and writes
the run's workspace only. Nothing here but the work imports torch or transformers.
"""
