"""A checkpoint is complete or it does not exist."""
