"""Starting and ending the processes of the local stack, and only those.

What was started is on record with its process id and start time, so that a process that happens
to have got the same id later is never touched. Its descendants are found by their parents, by
their session, and by a mark in the environment that they inherit.
"""

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from relay.local.errors import DamagedStateError, GivenUpError
from relay.local.leftovers import MARK, mark_of
from relay.local.places import LocalPlaces

PATIENCE_S = 10.0
_CLOCK_SLACK_S = 0.5
_NO_SESSION = -1
_writing = threading.Lock()


@dataclass(frozen=True)
class Started:
    """A process on record; `created` is its start time in seconds since the epoch.

    One that an older Relay recorded has no command.
    """

    pid: int
    created: float
    command: Sequence[str] | None = None


class Processes:
    """The recorded processes of one state folder."""

    def __init__(self, places: LocalPlaces) -> None:
        """Read nothing yet; every call looks at the record anew."""
        self.places = places
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        self._given_up = False

    def start(
        self,
        name: str,
        command: Sequence[str],
        env: Mapping[str, str],
        cwd: Path | None = None,
        temporary: Path | None = None,
    ) -> int:
        """Start a process in a session of its own, with its log file, and record it.

        What it and its children write to a temporary folder goes to `temporary`, by default the
        stack's own, so that nothing of it outlives the stack elsewhere.

        Returns:
            Its process id.

        Raises:
            GivenUpError: the stack is being ended by who brings it up.
        """
        folder = temporary or self.places.temporary
        for one in (self.places.logs, folder):
            one.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _writing, self.places.log(name).open("ab") as log:
            if self._given_up:
                raise GivenUpError(name)
            child = subprocess.Popen(
                list(command),
                env={**env, "TMPDIR": str(folder), MARK: self._mark(name)},
                cwd=cwd or self.places.root,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            self._children[name] = child
            created = psutil.Process(child.pid).create_time()
            others = {key: value for key, value in self._read().items() if key != name}
            self._write({**others, name: Started(child.pid, created, list(command))})
        return child.pid

    def run(self, name: str, command: Sequence[str], env: Mapping[str, str], cwd: Path) -> int:
        """Start a process, wait for its end and return its exit status; others can stop it."""
        self.start(name, command, env, cwd)
        status = self._children[name].wait()
        self._forget(name)
        return status

    def give_up(self) -> None:
        """Start nothing any more: what another thread has under way ends with its next start."""
        with _writing:
            self._given_up = True

    def names(self) -> list[str]:
        """Every process on record, alive or not, in the order of starting."""
        return list(self._read())

    def alive(self, name: str) -> bool:
        """Whether the recorded process runs."""
        started = self._read().get(name)
        return started is not None and _find(started) is not None

    def runs(self, name: str, command: Sequence[str]) -> bool:
        """Whether the recorded process runs, and was started by this very command."""
        started = self._read().get(name)
        if started is None or _find(started) is None:
            return False
        return started.command is None or list(started.command) == list(command)

    def pid(self, name: str) -> int | None:
        """The process id, if the process runs."""
        started = self._read().get(name)
        return started.pid if started and _find(started) else None

    def stop(self, name: str, patience_s: float = PATIENCE_S) -> None:
        """End the process and all that it started: TERM, then KILL after `patience_s` seconds."""
        _end(_family(self._read().get(name), self._mark(name)), patience_s)
        self._forget(name)

    def _forget(self, name: str) -> None:
        if child := self._children.pop(name, None):
            child.wait()
        with _writing:
            self._write({key: value for key, value in self._read().items() if key != name})

    def _mark(self, name: str) -> str:
        return mark_of(self.places, name)

    def _read(self) -> dict[str, Started]:
        try:
            text = self.places.processes.read_text()
        except FileNotFoundError:
            return {}
        try:
            return {name: Started(**fields) for name, fields in json.loads(text).items()}
        except (ValueError, TypeError, AttributeError) as error:
            remedy = (
                f"look for processes whose environment has {MARK}={self.places.root}#..., "
                "end them, then remove the file"
            )
            raise DamagedStateError(self.places.processes, remedy) from error

    def _write(self, record: Mapping[str, Started]) -> None:
        partial = self.places.processes.with_suffix(".partial")
        partial.write_text(json.dumps({name: asdict(one) for name, one in record.items()}))
        partial.replace(self.places.processes)


def _find(started: Started) -> psutil.Process | None:
    try:
        process = psutil.Process(started.pid)
        same = abs(process.create_time() - started.created) < _CLOCK_SLACK_S
        return process if same and process.status() != psutil.STATUS_ZOMBIE else None
    except psutil.NoSuchProcess:
        return None


def _family(started: Started | None, mark: str) -> list[psutil.Process]:
    """The process and all that descends from it, whether or not it is still there itself."""
    leader = _find(started) if started else None
    family = {leader, *leader.children(recursive=True)} if leader else set()
    session = started.pid if started and (leader or _zombie(started.pid)) else None
    for process in psutil.process_iter():
        if _session(process.pid) == session or _marked(process, mark):
            family.add(process)
    return [process for process in family if process.pid != os.getpid()]


def _marked(process: psutil.Process, mark: str) -> bool:
    try:
        return bool(process.environ().get(MARK) == mark)
    except psutil.Error:
        return False


def _zombie(pid: int) -> bool:
    """Whether the process is gone; then no other gets its id while its session lasts."""
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except (ProcessLookupError, PermissionError):
        return _NO_SESSION


def _end(family: Iterable[psutil.Process], patience_s: float) -> None:
    left = list(family)
    for number, wait_s in ((signal.SIGTERM, patience_s), (signal.SIGKILL, 5.0)):
        for process in left:
            try:
                process.send_signal(number)
            except psutil.NoSuchProcess:
                continue
        left = _still_there(left, wait_s)


def _still_there(family: Sequence[psutil.Process], wait_s: float) -> list[psutil.Process]:
    """Those that are not gone after `wait_s` seconds; a zombie counts as gone."""
    give_up_at = time.monotonic() + wait_s
    while True:
        left = [process for process in family if process.is_running() and not _zombie(process.pid)]
        if not left or time.monotonic() > give_up_at:
            return left
        time.sleep(0.05)
