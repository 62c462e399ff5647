"""The embedded AWS answers as AWS does, and each gap that we close is still there to close."""

import execution_probes
import function_probes
import pytest
import task_probes
from gap import Observed, Probe

pytestmark = pytest.mark.emulator

GAPS = [*task_probes.GAPS, *execution_probes.GAPS, *function_probes.GAPS]
HOLDS = [*task_probes.HOLDS, *execution_probes.HOLDS, *function_probes.HOLDS]
PROBES = [*GAPS, *HOLDS]


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.name)
def test_the_embedded_aws_answers_as_aws_does(observed: Observed, probe: Probe) -> None:
    assert observed("closed", probe.ask) == probe.aws


@pytest.mark.parametrize("probe", GAPS, ids=lambda probe: probe.name)
def test_the_gap_is_still_there(observed: Observed, probe: Probe) -> None:
    answer = observed("released", probe.ask)
    assert answer != probe.aws, f"MiniStack now does this; remove the gap {probe.module}"
