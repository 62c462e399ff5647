"""What each kind of happening takes, counted on the code as it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from counting import Counting, Counts, counting
from fakes.world import World

DROPS = 10
PIPELINES = 10


def measured() -> dict[str, Counts]:
    """By happening: requests by kind. What is said of one is the share of it in several."""
    alone = _whole_run(1)
    drop = _share(_whole_run(1 + DROPS) - alone, DROPS)
    return {
        "a drop": drop,
        "a run": alone - drop,
        "a progress report": _progress(),
        "a sweep": _sweeps(0),
        "a sweep, for each pipeline that is idle": _share(
            _sweeps(PIPELINES) - _sweeps(0), PIPELINES
        ),
        "a sweep, for each run that is live": _live_sweep() - _sweeps(0),
    }


def _whole_run(drops: int) -> Counts:
    def work(world: World) -> Callable[[], None]:
        def do() -> None:
            for number in range(drops):
                world.upload(f"incoming/tone-0/{number}.jsonl", b'{"a": 1}')
            world.deliver_all()
            world.end_run(world.runs("tone-0")[-1].run)
            world.deliver_all()

        return do

    with counting() as counted:
        return counted.during(work(counted.world))


def _started(counted: Counting) -> str:
    """A run whose first job is at work."""
    run = _run_of(counted.world)
    counted.world.graph.step(run)
    counted.world.agent.answer_bell()
    return run


def _run_of(world: World) -> str:
    return world.start_run("tone-0")


def _progress() -> Counts:
    with counting() as counted:
        _started(counted)
        world = counted.world
        (key,) = world.agent.jobs

        def report() -> None:
            world.agent.report_progress(key)
            world.deliver_all()

        report()
        return counted.during(report)


def _live_sweep() -> Counts:
    with counting() as counted:
        _started(counted)
        world = counted.world
        (key,) = world.agent.jobs
        world.agent.report_progress(key)
        world.deliver_all()
        return counted.during(world.sweep)


def _sweeps(pipelines: int) -> Counts:
    with counting(max(1, pipelines)) as counted:
        world = counted.world
        for number in range(pipelines):
            world.end_run(world.start_run(f"tone-{number}"))
        world.sweep()
        return counted.during(world.sweep)


def _share(counts: Counts, of: int) -> Counts:
    return Counter({kind: round(number / of) for kind, number in counts.items() if number})
