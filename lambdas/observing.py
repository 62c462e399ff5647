"""Logs and metrics of every function; payloads are not logged, they hold tokens."""

from __future__ import annotations

import os

from aws_lambda_powertools import Logger, Metrics

logger = Logger(service="relay")
# One namespace a stack, so that alarms of one are not about another.
metrics = Metrics(
    namespace=os.environ.get("POWERTOOLS_METRICS_NAMESPACE", "Relay"), service="relay"
)
