"""Several learners of one training, as workers of Ray Train."""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from queue import Empty
from typing import TYPE_CHECKING, Any

from contracts.counting import agreeing
from contracts.errors import JobCrashed, JobNotStarted, RelayError
from training.algorithms.party import Party
from training.assignment import Assignment
from training.events import Advance, Event, Materials, Stopped
from training.models.runtime import waiting

if TYPE_CHECKING:
    from ray.util.queue import Queue

Learn = Callable[[Assignment, Materials, Party], Iterator[Event]]
_LISTEN_S = 0.5


def learn_together(learn: Learn, assignment: Assignment, materials: Materials) -> Iterator[Event]:
    """Let Ray Train run the learners, and pass on what the first of them says.

    A learner that dies ends them all: the next attempt goes on from the newest checkpoint.

    Args:
        learn: one learner's part.
        assignment: its `hardware` says how many there are, and what each takes.
        materials: as in `learn`, on a file system that all of them see.

    Raises:
        JobNotStarted: Ray has no room for them within the pipeline's start limit.
        JobCrashed: one died.
        RelayError: what one raised.
    """
    from ray.util.queue import Queue

    said = Queue()
    fitting = _Fitting(learn, assignment, materials, said)
    fitting.start()
    asked_at = time.monotonic()
    limit_s = assignment.plan.pipeline.patience.start_limit_s
    begun = False
    while fitting.is_alive() or not said.empty():
        try:
            event: Event = said.get(timeout=_LISTEN_S)
        except Empty:
            if begun:
                continue
            if assignment.stop_mark.exists():
                yield Stopped()
                return
            if time.monotonic() - asked_at > limit_s:
                raise JobNotStarted(_not_started(assignment, limit_s)) from None
            yield Advance(f"Waiting for {_wanted(assignment)}")
        else:
            begun = True
            yield event
    said.shutdown()
    if fitting.error is not None:
        raise _what_happened(fitting.error) from fitting.error


class _Fitting(threading.Thread):
    """The trainer at work: `fit` returns when all learners have ended."""

    def __init__(
        self, learn: Learn, assignment: Assignment, materials: Materials, said: Queue
    ) -> None:
        super().__init__(daemon=True)
        self.error: BaseException | None = None
        self._loop = {
            "learn": learn,
            "assignment": assignment,
            "materials": dict(materials),
            "said": said,
            "meeting": str(assignment.folder / f"meeting-{uuid.uuid4().hex}"),
        }
        self._assignment = assignment

    def run(self) -> None:
        try:
            _trainer(self._assignment, self._loop).fit()
        except Exception as error:  # Raised again by whoever listens.
            self.error = error


def _trainer(assignment: Assignment, loop: dict[str, Any]) -> Any:  # noqa: ANN401 - untyped
    from ray.train import RunConfig, ScalingConfig
    from ray.train.backend import Backend
    from ray.train.torch import TorchConfig, TorchTrainer

    class Unset(TorchConfig):
        """The learners set the process group up themselves: over a file, so nothing listens."""

        @property
        def backend_cls(self) -> type[Backend]:
            return Backend

    hardware = assignment.spec.hardware
    return TorchTrainer(
        _be_a_learner,
        train_loop_config=loop,
        torch_config=Unset(),
        scaling_config=ScalingConfig(
            num_workers=hardware.learners,
            use_gpu=hardware.gpus > 0,
            resources_per_worker={"CPU": hardware.cpus, "GPU": hardware.gpus},
        ),
        run_config=RunConfig(  # type: ignore[call-arg]
            name=assignment.spec.key.job_name,
            storage_path=str(assignment.folder / "ray-train"),
            # Ray Train loads torch before a learner could set anything; types are still those of
            # its first version, which has no such field.
            worker_runtime_env={"env_vars": waiting()},
        ),
    )


def _be_a_learner(loop: dict[str, Any]) -> None:
    """What each worker does."""
    import ray.train
    import ray.util
    from torch import distributed

    context = ray.train.get_context()
    party = Party(context.get_world_rank(), context.get_world_size())
    assignment: Assignment = loop["assignment"]
    if ray.util.get_node_ip_address() == "127.0.0.1":  # type: ignore[no-untyped-call]
        os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    _meet(assignment, Path(loop["meeting"]), party)
    try:
        for event in loop["learn"](assignment, loop["materials"], party):
            if party.rank == 0:
                loop["said"].put(event)
    finally:
        distributed.destroy_process_group()


def _meet(assignment: Assignment, place: Path, party: Party) -> None:
    """Set the process group up.

    The first learner may score a reference for hours while the others wait for its word, so they
    wait as long as the attempt may take; one that dies is noticed by its closed connection.

    Args:
        assignment: whose deadline holds.
        place: a file that no earlier process has met over.
        party: who this is, and of how many.
    """
    from torch import distributed

    distributed.init_process_group(
        "cpu:gloo,cuda:nccl" if assignment.spec.hardware.gpus else "gloo",
        init_method=place.as_uri(),
        timeout=timedelta(seconds=assignment.plan.pipeline.patience.timeout_s),
        rank=party.rank,
        world_size=party.size,
    )


def _wanted(assignment: Assignment) -> str:
    hardware = assignment.spec.hardware
    return (
        f"Ray: {hardware.learners} learners of {hardware.cpus:g} "
        f"{agreeing(hardware.cpus, 'CPU')} and {hardware.gpus:g} {agreeing(hardware.gpus, 'GPU')}"
    )


def _not_started(assignment: Assignment, seconds: float) -> str:
    return (
        f"Ray did not start the learners within {seconds:g} s: {_wanted(assignment)}; free some, "
        "add nodes, or lower hardware.learners in the pipeline"
    )


def _what_happened(error: BaseException) -> RelayError:
    """Our own error out of Ray Train's, or that a learner died."""
    failures: dict[int, BaseException] = getattr(error, "worker_failures", {})
    for failure in failures.values():
        seen: BaseException | None = failure
        while seen is not None:
            if isinstance(seen, RelayError):
                return seen
            seen = getattr(seen, "cause", None) or seen.__cause__
    first = next(iter(str(error).strip().splitlines()), type(error).__name__)
    ranks = ", ".join(str(rank) for rank in sorted(failures))
    return JobCrashed(f"learner {ranks} died: {first}" if ranks else f"Ray Train failed: {first}")
