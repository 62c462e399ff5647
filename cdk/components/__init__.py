"""The stack's parts; each knows what it is, none knows what the others may do to it."""
