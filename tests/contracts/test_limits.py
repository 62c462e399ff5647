"""Limits of ours that stand for limits of services."""

from __future__ import annotations

from contracts.limits import STATE_OUTPUT_BYTES_MAX

STATE_BYTES = 256 * 1024
ERROR_BYTES = 32 * 1024
"""What Step Functions takes of a failure's cause, which lies beside the outputs."""


def test_a_state_carries_the_outputs_of_a_round_its_input_and_a_failure() -> None:
    inputs, collect, optimize, evaluate = [STATE_OUTPUT_BYTES_MAX] * 4
    assert inputs + collect + optimize + evaluate + ERROR_BYTES < STATE_BYTES - 8 * 1024
