"""The local stack comes up and down as one, and what it acknowledged outlives its processes."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from relay.local import emulator_process, ray_head
from relay.local.deployment import App, client
from relay.local.errors import DeploymentError, PortTakenError, StackBusyError
from relay.local.places import LocalPlaces
from relay.local.ports import ports_of, taken
from relay.local.processes import Processes
from relay.local.stack import Attached, Settings, Stack, _alone, down, status, up

pytestmark = pytest.mark.emulator

PROGRAM = Path(__file__).parent / "app" / "app.py"
SLEEPER = Attached("sleeper", lambda outputs: ["sleep", "600", outputs["SaidOutput"]][:2])


@dataclass
class Line:
    """The small app on a local stack."""

    places: LocalPlaces
    settings: Settings
    stack: Stack

    def __call__(self, service: str) -> Any:
        return client(self.places, self.stack.ports.emulator, service)

    def up(self) -> None:
        self.stack = up(self.places, self.settings)

    def kill(self) -> None:
        pid = Processes(self.places).pid("emulator")
        os.kill(pid, signal.SIGKILL)
        eventually(lambda: not Processes(self.places).alive("emulator"))

    def put(self, key: str) -> str:
        bucket = self.stack.outputs["BucketOutput"]
        return self("s3").put_object(Bucket=bucket, Key=key, Body=key.encode())["VersionId"]

    def write(self, key: str) -> None:
        table = self.stack.outputs["TableOutput"]
        self("dynamodb").put_item(TableName=table, Item={"pk": {"S": key}})

    def item(self, key: str) -> dict[str, Any] | None:
        table = self.stack.outputs["TableOutput"]
        return self("dynamodb").get_item(TableName=table, Key={"pk": {"S": key}}).get("Item")

    def execution(self, key: str) -> dict[str, Any]:
        arn = self.stack.outputs["MachineOutput"].replace("stateMachine", "execution")
        return self("stepfunctions").describe_execution(executionArn=f"{arn}:{key}")


def eventually(ask: Callable[[], object], patience_s: float = 15.0) -> object:
    """The first true answer."""
    give_up_at = time.monotonic() + patience_s
    while not (answer := ask()):
        assert time.monotonic() < give_up_at, "it never happened"
        time.sleep(0.1)
    return answer


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Line]:
    places = LocalPlaces(tmp_path_factory.mktemp("stack"))
    app = App(PROGRAM, "Probe", {"say": "hello"}, [PROGRAM.parent / "function"])
    settings = Settings(app, ray_cpus=None, attached=[SLEEPER])
    try:
        yield Line(places, settings, up(places, settings))
    finally:
        down(places)
        assert marked(places) == []


def marked(places: LocalPlaces) -> list[psutil.Process]:
    """Every process that descends from the stack."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get("RELAY_LOCAL_PROCESS", "").startswith(f"{places.root}#"):
                found.append(process)
    return found


def test_an_object_runs_through_to_the_table(line: Line) -> None:
    line.put("first")
    eventually(lambda: line.item("first"))
    assert eventually(lambda: line.execution("first")["status"] == "SUCCEEDED")


def test_settings_reach_the_app_and_outputs_the_attached(line: Line) -> None:
    assert line.stack.outputs["SaidOutput"] == "hello"
    assert {one.name: one.answers for one in status(line.places)} == {
        "emulator": True,
        "sleeper": None,
    }


def test_a_second_up_changes_nothing_and_is_quick(line: Line) -> None:
    before = line.places.processes.read_text()
    started = time.monotonic()
    line.up()
    assert time.monotonic() - started < 3
    assert line.places.processes.read_text() == before


def test_only_what_is_missing_is_started(line: Line) -> None:
    processes = Processes(line.places)
    emulator = processes.pid("emulator")
    processes.stop("sleeper")
    line.up()
    assert processes.alive("sleeper")
    assert processes.pid("emulator") == emulator


def test_what_was_acknowledged_survives_kill_9(line: Line) -> None:
    queue = line("sqs").create_queue(QueueName="kept")["QueueUrl"]
    version = line.put("kept")
    line.put("kept")
    line.write("mine")
    line("sqs").send_message(QueueUrl=queue, MessageBody="mine")
    for n in range(20):
        line.write(f"item-{n}")
    line("dynamodb").delete_item(
        TableName=line.stack.outputs["TableOutput"], Key={"pk": {"S": "item-0"}}
    )
    line.put("last-words")
    line.kill()
    line.up()
    assert line.item("mine")
    assert [line.item(f"item-{n}") is not None for n in range(20)] == [False] + [True] * 19
    assert line("sqs").receive_message(QueueUrl=queue)["Messages"][0]["Body"] == "mine"
    bucket = line.stack.outputs["BucketOutput"]
    old = line("s3").get_object(Bucket=bucket, Key="kept", VersionId=version)
    assert old["Body"].read() == b"kept"
    # The notification was in the queue before the put was answered.
    eventually(lambda: line.item("last-words"), patience_s=90)


def test_the_line_works_after_kill_9_without_another_deployment(line: Line) -> None:
    deployed = line.places.log("cdk-deploy").stat().st_mtime
    line.put("before")
    eventually(lambda: line.item("before"))
    eventually(lambda: line.execution("before")["status"] == "SUCCEEDED")
    time.sleep(2.5)  # progress of executions is saved about a second after it happens
    line.kill()
    line.up()
    assert line.places.log("cdk-deploy").stat().st_mtime == deployed
    assert line.execution("before")["status"] == "SUCCEEDED"
    line.put("after")
    eventually(lambda: line.item("after"))


def test_a_schedule_fires_again_after_kill_9(line: Line) -> None:
    line.kill()
    state = line.places.state / "eventbridge.json"
    # As if the rule had been made two minutes ago, so that it is due.
    made = f'"State": "ENABLED", "CreationTime": {time.time() - 120}'
    state.write_text(state.read_text().replace('"State": "ENABLED"', made))
    since = time.time()
    line.up()
    eventually(lambda: float((line.item("tick") or {"at": {"N": 0}})["at"]["N"]) > since, 20)


def test_a_clean_stop_keeps_everything_too(line: Line) -> None:
    line.write("noted")
    down(line.places)
    assert marked(line.places) == []
    line.up()
    assert line.item("noted")
    line.put("another-day")
    eventually(lambda: line.item("another-day"))


def test_two_commands_at_once_are_refused(line: Line) -> None:
    with _alone(line.places), pytest.raises(StackBusyError, match="Another command"):
        line.up()


def test_a_taken_port_is_said_so(tmp_path: Path) -> None:
    places = LocalPlaces(tmp_path)
    places.make()
    ports = ports_of(places)
    listener = subprocess.Popen(
        [sys.executable, "-m", "http.server", "-b", "127.0.0.1", str(ports.emulator)],
        stderr=subprocess.DEVNULL,
    )
    try:
        eventually(lambda: taken(ports.emulator))
        with pytest.raises(PortTakenError, match=str(ports.emulator)):
            up(places, Settings(App(PROGRAM, "Probe"), ray_cpus=None))
    finally:
        listener.kill()
        listener.wait()


def test_an_up_that_fails_leaves_nothing_running(tmp_path: Path) -> None:
    program = tmp_path / "app.py"
    program.write_text("raise SystemExit('no such setting')")
    places = LocalPlaces(tmp_path / "state")
    with pytest.raises(DeploymentError, match="no such setting"):
        up(places, Settings(App(program, "Probe"), ray_cpus=None))
    assert marked(places) == []


def test_an_interrupted_up_leaves_nothing_running(tmp_path: Path) -> None:
    program = tmp_path / "app.py"
    program.write_text("import time; time.sleep(60)")
    places = LocalPlaces(tmp_path / "state")
    code = (
        "from pathlib import Path; from relay.local.stack import *;"
        "from relay.local.deployment import App; from relay.local.places import LocalPlaces;"
        f"up(LocalPlaces(Path({str(places.root)!r})),"
        f"Settings(App(Path({str(program)!r}), 'Probe'), ray_cpus=None))"
    )
    command = subprocess.Popen(
        [sys.executable, "-c", code], stderr=subprocess.PIPE, cwd=PROGRAM.parents[3]
    )
    eventually(lambda: places.processes.exists() and "cdk-synth" in places.processes.read_text())
    time.sleep(1)
    command.send_signal(signal.SIGTERM)
    _, said = command.communicate(timeout=30)
    assert b"KeyboardInterrupt" in said
    assert marked(places) == []


def test_an_interrupt_while_ray_starts_does_not_wait_for_the_deployment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "app.py"
    program.write_text("import time; time.sleep(60)")
    places = LocalPlaces(tmp_path / "state")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    def late(*given: Any) -> None:
        time.sleep(1)
        start_emulator(*given)

    start_emulator = emulator_process.start_emulator
    monkeypatch.setattr(emulator_process, "start_emulator", late)
    monkeypatch.setattr(ray_head, "start_ray", interrupted)
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        up(places, Settings(App(program, "Probe"), ray_cpus=1))
    assert time.monotonic() - started < 30
    assert marked(places) == []
