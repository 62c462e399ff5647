"""What facts mean: pure functions from answers to findings."""
