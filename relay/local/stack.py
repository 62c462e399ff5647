"""The whole local stack: up, down, and how it is."""

import fcntl
import os
import shutil
import signal
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from relay.local import emulator_process, ray_head
from relay.local.deployment import App, deploy
from relay.local.environment import client_environment, unaddressed
from relay.local.errors import StackBusyError
from relay.local.leftovers import end_leftovers
from relay.local.places import LocalPlaces
from relay.local.ports import Ports, free_for_ray, ports_of
from relay.local.processes import PATIENCE_S, Processes

OnStep = Callable[[str], None]


@dataclass(frozen=True)
class Attached:
    """One more process of the stack (the agent), started when all else is there.

    `command` gets the stack's outputs; `env` is added to what every client needs.
    """

    name: str
    command: Callable[[Mapping[str, str]], Sequence[str]]
    env: Callable[[Mapping[str, str]], Mapping[str, str]] = lambda _outputs: {}
    cwd: Path | None = None


@dataclass(frozen=True)
class Settings:
    """What is brought up: the app, Ray's size (None: no Ray), and what else runs with it."""

    app: App
    ray_cpus: int | None = 4
    attached: Sequence[Attached] = ()


@dataclass(frozen=True)
class Stack:
    """A stack that is up: its outputs, and the environment that points a process at it."""

    outputs: Mapping[str, str]
    environment: Mapping[str, str]
    ports: Ports


@dataclass(frozen=True)
class ProcessStatus:
    """One process: whether it runs, and whether it answers (None if it has no address)."""

    name: str
    pid: int | None
    answers: bool | None
    log: Path


def up(places: LocalPlaces, settings: Settings, on_step: OnStep = lambda _step: None) -> Stack:
    """Start whatever of the stack is missing; what this call started is ended if it fails.

    Raises:
        StackBusyError: Another command is at work on the same folder.
        LocalStackError: A part did not come up; the error says which and shows its log.
        KeyboardInterrupt: The command was interrupted (SIGINT or SIGTERM).
    """
    places.make()
    with _alone(places), _interruptible():
        processes = Processes(places)
        with _undone_on_failure(places, processes):
            return _bring_up(places, processes, settings, on_step)


def down(places: LocalPlaces, on_step: OnStep = lambda _step: None) -> None:
    """End every process of the stack, last started first; the data stays.

    Raises:
        StackBusyError: Another command is at work on the same folder.
    """
    if not places.root.exists():
        end_leftovers(places)
        return
    with _alone(places):
        _end(places, Processes(places), set(), on_step)
        shutil.rmtree(places.temporary, ignore_errors=True)


def status(places: LocalPlaces) -> list[ProcessStatus]:
    """How each process is that was ever started and not stopped since."""
    if not places.processes.exists():
        return []
    processes, ports = Processes(places), ports_of(places)
    return [
        ProcessStatus(name, processes.pid(name), _answers(places, ports, name), places.log(name))
        for name in processes.names()
    ]


def environment_of(places: LocalPlaces) -> dict[str, str]:
    """What points a process at the stack of this folder: the embedded AWS and Ray."""
    ports = ports_of(places)
    return {**client_environment(places, ports.emulator), **ray_head.ray_environment(places, ports)}


def _bring_up(
    places: LocalPlaces, processes: Processes, settings: Settings, on_step: OnStep
) -> Stack:
    ports = ports_of(places) if processes.alive(ray_head.NAME) else free_for_ray(places)
    # Ray and the deployment know nothing of each other, and both take seconds. On failure
    # the processes are ended before the pool is left, or it would wait for them.
    with ThreadPoolExecutor(max_workers=1) as pool, _undone_on_failure(places, processes):
        control_plane = pool.submit(_control_plane, places, processes, settings.app, on_step)
        if settings.ray_cpus is not None:
            on_step("Starting Ray")
            ray_head.start_ray(places, processes, ports, settings.ray_cpus)
            on_step("Ray is up")
        outputs = control_plane.result()
    environment = environment_of(places)
    for attached in settings.attached:
        command = attached.command(outputs)
        if processes.runs(attached.name, command):
            continue
        if processes.alive(attached.name):
            on_step(f"Stopping {attached.name}, which was started differently")
            processes.stop(attached.name)
        on_step(f"Starting {attached.name}")
        env = {**unaddressed(os.environ), **environment, **attached.env(outputs)}
        processes.start(attached.name, command, env, attached.cwd)
    return Stack(outputs, environment, ports)


def _control_plane(
    places: LocalPlaces, processes: Processes, app: App, on_step: OnStep
) -> dict[str, str]:
    port = ports_of(places).emulator
    on_step("Starting the embedded AWS")
    emulator_process.start_emulator(places, processes, port)
    on_step("Deploying the control plane")
    outputs = deploy(processes, port, app)
    on_step("The control plane is deployed")
    return outputs


@contextmanager
def _undone_on_failure(places: LocalPlaces, processes: Processes) -> Iterator[None]:
    before = {name for name in processes.names() if processes.alive(name)}
    try:
        yield
    except BaseException:
        # Interrupts too: whoever gives up must not leave half a stack behind.
        processes.give_up()
        _end(places, processes, before)
        raise


def _end(
    places: LocalPlaces,
    processes: Processes,
    but: Collection[str],
    on_step: OnStep = lambda _step: None,
) -> None:
    """End what is on record, the last started first, and then what was cut off before it was."""
    for name in reversed(processes.names()):
        if name not in but:
            on_step(f"Stopping {name}")
            processes.stop(name, ray_head.GRACE_S if name == ray_head.NAME else PATIENCE_S)
    end_leftovers(places, but)
    if ray_head.NAME not in but:
        ray_head.remove_folder(places)


def _answers(places: LocalPlaces, ports: Ports, name: str) -> bool | None:
    if name == emulator_process.NAME:
        return emulator_process.answers(places, ports.emulator)
    if name == ray_head.NAME:
        return ray_head.answers(places, ports)
    return None


@contextmanager
def _alone(places: LocalPlaces) -> Iterator[None]:
    """Hold the folder's lock; the kernel frees it however this process ends."""
    with places.lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise StackBusyError(places.root) from error
        yield


@contextmanager
def _interruptible() -> Iterator[None]:
    """Turn SIGTERM into KeyboardInterrupt, so that both clean up in the same way."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
