"""Plans a run, says what comes next, publishes."""
