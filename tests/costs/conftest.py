"""Powertools reads these when it is imported."""

from __future__ import annotations

import os

os.environ["POWERTOOLS_LOG_LEVEL"] = "CRITICAL"
os.environ["POWERTOOLS_SERVICE_NAME"] = "relay"
