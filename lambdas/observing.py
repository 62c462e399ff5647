"""Logs and metrics of every function; payloads are not logged, they hold tokens."""

from __future__ import annotations

from aws_lambda_powertools import Logger, Metrics

logger = Logger(service="relay")
metrics = Metrics(namespace="Relay", service="relay")
