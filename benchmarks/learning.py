"""The learning of examples/guess-number by itself: no bucket, no Ray, no control plane.

    python -m benchmarks.learning --seeds 0 1 2 --threads 2 [--control]

It reads the example's games, learns round after round with the phases' own code, judges the last
policy on fresh games, and prints a line a seed: success after each step, and where the time went.
With --control it also learns without the first round's DPO, to show what that step adds.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

from contracts.artifact import ArtifactRef
from contracts.job import JobSpec
from contracts.model import digest
from contracts.pipeline import Pipeline
from contracts.plan import Plan, PlannedDrop
from training.assignment import Assignment
from training.checkpoints.folders import folder_of
from training.events import Done, Event
from training.lessons.curve import FILE as CURVE
from training.phases import collect, evaluate_games, optimize

EXAMPLE = Path(__file__).parent.parent / "examples" / "guess-number"
GAMES = EXAMPLE / "games.jsonl"
Change = tuple[str, str, Any]
"""Algorithm, field, value."""


class Learning:
    """One run of a pipeline, phase by phase in this process."""

    def __init__(self, pipeline: Pipeline, folder: Path) -> None:
        self.pipeline = pipeline
        self._folder = folder
        self._plan = Plan(
            run=f"r260101-120000-{pipeline.seed:06d}",
            pipeline_version=digest(pipeline.to_bytes()),
            pipeline=pipeline,
            drops=(_drop(),),
            parent=None,
            created_at=datetime.now(UTC),
        )
        self.artifacts: dict[str, ArtifactRef] = {}
        self.seconds: dict[str, float] = {}

    def collect(self) -> None:
        """Read the games, and make the first policy."""
        done = self._do(1, "collect", {_drop().id: GAMES})
        self.artifacts = dict(done.artifacts)

    def optimize(self, round_: int) -> Mapping[str, float]:
        """Learn as the round says; its figures."""
        done = self._do(round_, "optimize", self._materials("episodes", "start"))
        self.artifacts["parent"] = self.artifacts.get("parent", self.artifacts["start"])
        self.artifacts["start"] = self.artifacts["policy"] = done.artifacts["policy"]
        return done.metrics

    def evaluate(self) -> Mapping[str, float]:
        """Judge the last policy; the figures."""
        materials = {
            "parent": folder_of(self.artifacts["parent"]),
            "candidate": folder_of(self.artifacts["policy"]),
        }
        return self._do(len(self.pipeline.rounds), "evaluate", materials).metrics

    def curve(self) -> list[dict[str, Any]]:
        """The points of the learning curve."""
        lines = (folder_of(self.artifacts["policy"]) / CURVE).read_text().splitlines()
        return [json.loads(line) for line in lines]

    def _materials(self, *names: str) -> dict[str, Path]:
        return {name: folder_of(self.artifacts[name]) for name in names}

    def _do(self, round_: int, phase: Any, materials: Mapping[str, Path]) -> Done:  # noqa: ANN401
        assignment = Assignment(self._spec(round_, phase), self._plan)
        assignment.folder.mkdir(parents=True)
        begun = time.monotonic()
        done = _last(self._work(phase, assignment, materials))
        name = f"{round_} {phase}"
        self.seconds[name] = time.monotonic() - begun
        self.seconds |= {f"{name}: {stage}": took for stage, took in done.seconds.items()}
        return done

    def _work(
        self,
        phase: str,
        assignment: Assignment,
        materials: Mapping[str, Path],
    ) -> Iterator[Event]:
        if phase == "collect":
            return collect.work(assignment, materials)
        if phase == "optimize":
            return optimize.work(assignment, materials)
        environment = self.pipeline.environment
        if environment is None:
            raise SystemExit("the pipeline has no environment to be judged in")
        return evaluate_games.work(assignment, environment, materials)

    def _spec(self, round_: int, phase: Any) -> JobSpec:  # noqa: ANN401
        return JobSpec(
            run=self._plan.run,
            pipeline=self.pipeline.name,
            round=round_,
            phase=phase,
            attempt=1,
            nonce="n" * 16,
            bucket="none",
            workspace=str(self._folder),
            inputs=self.artifacts,
            last_round=round_ == len(self.pipeline.rounds),
            hardware=self.pipeline.hardware,
            deadline=datetime.now(UTC) + timedelta(hours=1),
            progress_interval_s=1,
        )


def _drop() -> PlannedDrop:
    return PlannedDrop(
        id="games",
        key="incoming/guess-number/games.jsonl",
        version_id="1",
        size=GAMES.stat().st_size,
        accepted_at=datetime.now(UTC),
    )


def _last(events: Iterator[Event]) -> Done:
    *_, last = events
    if not isinstance(last, Done):
        raise SystemExit(f"the work ended with {last}")
    return last


def learn(pipeline: Pipeline, folder: Path) -> dict[str, Any]:
    """Run a pipeline; what it came to."""
    learning = Learning(pipeline, folder)
    begun, cpu = time.monotonic(), time.process_time()
    learning.collect()
    rounds = [learning.optimize(number) for number in range(1, len(pipeline.rounds) + 1)]
    judged = learning.evaluate()
    points = [(one["algorithm"], one["figures"]) for one in learning.curve()]
    steps = [(name, shown["success_after"]) for name, shown in points if "success_after" in shown]
    return {
        "seed": pipeline.seed,
        "before": points[0][1]["success_before"],
        "after": {f"{place} {name}": value for place, (name, value) in enumerate(steps, 1)},
        "sampled": judged["end_success_rate"],
        "greedy": judged["greedy_success_rate"],
        "lost": judged["tasks_lost"],
        "format_errors": judged["end_format_errors"],
        "iterations": rounds[-1]["steps"],
        "sampler_gap": rounds[-1].get("sampler_gap", 0.0),
        "training_success": [
            round(shown["success"], 3) for name, shown in points if "success" in shown
        ],
        "total_seconds": round(time.monotonic() - begun, 1),
        "cpu_seconds": round(time.process_time() - cpu, 1),
        "seconds": {name: round(took, 1) for name, took in learning.seconds.items()},
    }


def read_pipeline(seed: int, threads: int, *, control: bool, changes: list[Change]) -> Pipeline:
    """The example's pipeline, as it is or without DPO."""
    value = yaml.safe_load((EXAMPLE / "pipeline.yaml").read_text())
    value |= {"seed": seed, "hardware": {"cpus": threads}}
    for round_ in value["rounds"]:
        round_.pop("collect", None)
        if control:
            round_["optimize"] = [one for one in round_["optimize"] if one["algorithm"] != "dpo"]
        for one in round_["optimize"]:
            one |= {field: figure for name, field, figure in changes if one["algorithm"] == name}
    return Pipeline.model_validate(value)


def _change(text: str) -> Change:
    place, _, figure = text.partition("=")
    algorithm, _, field = place.partition(".")
    return algorithm, field, json.loads(figure)


def main() -> None:
    """Learn with each seed, and print a JSON line each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--control", action="store_true", help="also without DPO")
    parser.add_argument(
        "--set", nargs="*", type=_change, default=[], help="such as ppo.learning_rate=0.001"
    )
    chosen = parser.parse_args()
    for seed in chosen.seeds:
        for control in [False, True][: 1 + chosen.control]:
            pipeline = read_pipeline(seed, chosen.threads, control=control, changes=chosen.set)
            with tempfile.TemporaryDirectory() as folder:
                print(json.dumps({"control": control} | learn(pipeline, Path(folder))), flush=True)


if __name__ == "__main__":
    main()
