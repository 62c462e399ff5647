"""Hears jobs and executions, and answers Step Functions."""
