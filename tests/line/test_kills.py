"""Kill -9, each on its own, while a real job trains: every run ends, and nothing is left."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from deployed import WholeLine, until

from contracts import layout
from contracts.ledger import AttemptRecord, RunRecord
from contracts.names import attempt_key
from contracts.result import PhaseResult
from lambdas.logic.retry_run import retry_run
from lambdas.settings import Settings
from lambdas.wiring import build
from relay.local import stack

pytestmark = [pytest.mark.line, pytest.mark.emulator, pytest.mark.ray]

EXAMPLE = Path(__file__).parents[2] / "examples" / "preferences" / "pairs.jsonl"
RECIPE = {
    "model": {"source": "tiny", "vocab_size": 512, "hidden_size": 32, "context": 96},
    "rounds": [
        {"optimize": {"algorithm": "dpo", "steps": 400, "batch_size": 16, "checkpoint_every": 40}}
    ],
}
LEARNT_SOMETHING = 60
LOOPBACK = {"127.0.0.1", "::1", "::ffff:127.0.0.1"}


def begin(line: WholeLine, name: str, body: bytes | None = None) -> str:
    """Drop a file; the run's id once its job is well into training."""
    line.register(name, **RECIPE)
    line.put(f"incoming/{name}/pairs.jsonl", body or EXAMPLE.read_bytes())
    run = until(lambda: line.runs(name), 30)[0].run
    until(lambda: step_of(line, run) >= LEARNT_SOMETHING, 120)
    assert_nothing_listens_outside_loopback(line)
    return str(run)


def step_of(line: WholeLine, run: str) -> int:
    progress = [a.progress for a in line.attempts(run) if a.phase == "optimize"]
    return max((p.step for p in progress if p), default=0)


def of(line: WholeLine, run: str, phase: str) -> list[AttemptRecord]:
    return [attempt for attempt in line.attempts(run) if attempt.phase == phase]


def result_of(line: WholeLine, run: str, number: int) -> PhaseResult:
    key = layout.result(attempt_key(run, 1, "optimize", number))
    return PhaseResult.from_bytes(line.read(key), where=key)


def assert_it_ended_well(line: WholeLine, name: str, within_s: float = 150) -> RunRecord:
    (run,) = line.ended(name, within_s=within_s)
    assert run.status in {"PUBLISHED", "KEPT"}, run.reason
    until(lambda: not line.processes("-m training", run.run), 20)
    return run


def test_a_killed_driver_goes_on_from_the_newest_checkpoint(whole_line: WholeLine):
    run = begin(whole_line, "driver")
    whole_line.kill("-m training", run)
    assert_it_ended_well(whole_line, "driver")
    first, second = of(whole_line, run, "optimize")
    assert (first.status, first.error) == ("FAILED", "JobCrashed")
    assert second.status == "SUCCEEDED"
    assert "step" in result_of(whole_line, run, 2).resumed_from
    assert len(of(whole_line, run, "collect")) == 1


def test_a_killed_agent_finds_its_job_after_it_is_started_again(whole_line: WholeLine):
    run = begin(whole_line, "agent")
    before = {process.pid for process in whole_line.processes("-m training", run)}
    whole_line.kill("-m relay.agent", str(whole_line.places.root))
    whole_line.bring_up()
    assert_it_ended_well(whole_line, "agent")
    assert before
    assert [len(of(whole_line, run, phase)) for phase in ("collect", "optimize")] == [1, 1]


def test_a_killed_ray_is_started_again_and_the_run_goes_on(whole_line: WholeLine):
    run = begin(whole_line, "ray")
    whole_line.kill("gcs_server", ray_folder(whole_line))
    assert_it_ended_well(whole_line, "ray")
    attempts = of(whole_line, run, "optimize")
    assert [a.status for a in attempts] == ["FAILED", "SUCCEEDED"]
    assert "step" in result_of(whole_line, run, 2).resumed_from


def ray_folder(line: WholeLine) -> str:
    return str(line.places.ray)


def test_killed_functions_are_called_again(whole_line: WholeLine):
    run = begin(whole_line, "functions")
    emulator = whole_line.processes("-m relay.local.emulator", str(whole_line.places.root))[0]
    workers = emulator.children(recursive=True)
    assert workers
    for worker in workers:
        worker.kill()
    assert_it_ended_well(whole_line, "functions")
    assert len(of(whole_line, run, "optimize")) == 1


def test_a_killed_emulator_takes_its_run_up_again(whole_line: WholeLine):
    run = begin(whole_line, "emulator")
    whole_line.kill("-m relay.local.emulator", str(whole_line.places.root))
    whole_line.bring_up()
    assert_it_ended_well(whole_line, "emulator")
    assert len(of(whole_line, run, "collect")) == 1
    assert whole_line.ledger.pipelines.get("emulator").consecutive_failures == 0


def test_a_run_goes_on_when_the_whole_stack_was_down(whole_line: WholeLine):
    run = begin(whole_line, "stack")
    stack.down(whole_line.places)
    assert not whole_line.processes("-m training", run)
    whole_line.bring_up()
    assert_it_ended_well(whole_line, "stack")
    attempts = of(whole_line, run, "optimize")
    assert attempts[-1].status == "SUCCEEDED"
    assert "step" in result_of(whole_line, run, len(attempts)).resumed_from


def test_a_cancelled_run_leaves_no_job_and_its_retry_goes_on_from_the_last_handoff(
    whole_line: WholeLine,
):
    run = begin(whole_line, "cancelled")
    whole_line.client("stepfunctions").stop_execution(executionArn=whole_line.execution(run))
    (ended,) = whole_line.ended("cancelled", within_s=60)
    assert ended.status == "CANCELLED"
    until(lambda: not whole_line.processes("-m training", run), 60)
    again = retry_run(run, plane_of(whole_line))
    until(lambda: whole_line.ledger.runs.get(again).status in {"PUBLISHED", "KEPT"}, 150)
    assert of(whole_line, again, "collect") == []


def plane_of(line: WholeLine):
    outputs = line.outputs
    settings = Settings(
        bucket=outputs["Bucket"],
        ledger_table=outputs["LedgerTable"],
        state_machine_arn=outputs["StateMachineArn"],
        job_queue_url=outputs["JobQueueUrl"],
        workspace_root=outputs["WorkspaceRoot"],
        progress_interval_s=1,
        runner="queue",
    )
    return build(settings, line.session)


def assert_nothing_listens_outside_loopback(line: WholeLine) -> None:
    mine = {str(line.places.root), ray_folder(line)}
    processes = {p.pid: p for part in mine for p in line.processes(part)}
    for process in list(processes.values()):
        with suppress(psutil.NoSuchProcess):
            processes |= {child.pid: child for child in process.children(recursive=True)}
    listening = {at for process in processes.values() for at in listens_at(process)}
    assert len(listening) > 4
    assert {address for address, _ in listening} <= LOOPBACK, listening


def listens_at(process: psutil.Process) -> list[tuple[str, str]]:
    try:
        command = " ".join(process.cmdline())[:160]
        connections = process.net_connections(kind="inet")
    except psutil.NoSuchProcess:
        return []
    return [(one.laddr.ip, command) for one in connections if one.status == psutil.CONN_LISTEN]
