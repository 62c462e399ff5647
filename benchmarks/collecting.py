"""In how much memory, and how fast, a large drop is read, sorted out and learnt from.

`python -m benchmarks.collecting --gigabytes 0.2 1` writes a file of distinct records of 2 to 5 kB
for each size, does the phase `collect` on it and then `optimize`, of a few steps by the pipeline's
algorithm, each in a process of its own, and tells the peak of its resident memory and the seconds.
What matters is what each further gigabyte costs. `--form` chooses what the records are.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.reading import blocks
from contracts.artifact import ArtifactRef
from contracts.job import JobSpec
from contracts.model import digest
from contracts.pipeline import Pipeline
from contracts.plan import Plan, PlannedDrop
from training.assignment import Assignment
from training.checkpoints.folders import folder_of
from training.events import Done
from training.phases import collect, optimize

RUN = "r260101-120000-aaaaaa"
ALGORITHMS = {"chats": "sft", "pairs": "dpo", "labels": "kto", "episodes": "dpo"}
TRIALS = 8
"""Episodes of a task."""


def lines(form: str, size: int) -> Iterator[str]:
    """Records of a form, distinct ones, up to a size."""
    for block, chats in enumerate(blocks(size)):
        for place, line in enumerate(chats):
            chat = json.loads(line)
            chat["messages"][0]["content"] += f" You are number {block}."
            yield json.dumps(_made(form, chat, place)) + "\n"


def _made(form: str, chat: dict[str, Any], place: int) -> dict[str, Any]:
    turns = chat["messages"]
    if form == "chats":
        return chat
    if form == "labels":
        return chat | {"label": bool(place % 2)}
    if form == "pairs":
        answers = turns[-1:], [{"role": "assistant", "content": "I do not know."}]
        return {"prompt": turns[:-1], "chosen": answers[0], "rejected": answers[1]}
    task = f"{turns[0]['content']} {place // TRIALS}"
    opening = [{"role": "user", "content": task}]
    traj = opening + [turn for turn in turns[2:] if isinstance(turn["content"], str)]
    traj = [one for one in traj if one["role"] != "tool"]
    return {"task_id": task, "trial": place, "reward": place % TRIALS, "traj": traj}


def do(phase: str, form: str, folder: Path) -> None:
    """Do a phase on what lies in a folder, and print its peak and its seconds."""
    assignment = _assignment(phase, form, folder)
    assignment.folder.mkdir(parents=True, exist_ok=True)
    materials = {"drop": folder / "drop"}
    work = collect.work
    if phase == "optimize":
        materials = {name: folder_of(assignment.input(name)) for name in ("episodes", "start")}
        work = optimize.work
    begun, processor = time.monotonic(), time.process_time()
    for event in work(assignment, materials):
        last = event
    assert isinstance(last, Done), last
    refs = {name: ref.model_dump(mode="json") for name, ref in last.artifacts.items()}
    (folder / "artifacts.json").write_text(json.dumps(refs))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    size = (folder / "drop").stat().st_size / 1e6
    print(
        f"{phase:9} {form:9} {size:6,.0f} MB: peak memory {peak:6,.0f} MiB, "
        f"{time.monotonic() - begun:6.1f} s ({time.process_time() - processor:.1f} of processor); "
        + ", ".join(f"{name} {value:g}" for name, value in last.seconds.items()),
        flush=True,
    )


def _assignment(phase: str, form: str, folder: Path) -> Assignment:
    pipeline = _pipeline(form)
    drop = PlannedDrop(
        id="drop", key="incoming/benchmark/drop", version_id="1", size=1, accepted_at=_now()
    )
    plan = Plan(
        run=RUN,
        pipeline_version=digest(pipeline.to_bytes()),
        pipeline=pipeline,
        drops=(drop,),
        parent=None,
        created_at=_now(),
    )
    refs = folder / "artifacts.json"
    inputs = json.loads(refs.read_text()) if refs.is_file() else {}
    spec = JobSpec(
        run=RUN,
        pipeline=pipeline.name,
        round=1,
        phase=phase,
        attempt=1,
        nonce="n" * 16,
        bucket="none",
        workspace=str(folder / "workspace"),
        inputs={name: ArtifactRef.model_validate(ref) for name, ref in inputs.items()},
        last_round=True,
        hardware=pipeline.hardware,
        deadline=_now() + timedelta(hours=9),
        progress_interval_s=1,
    )
    return Assignment(spec, plan)


def _pipeline(form: str) -> Pipeline:
    """A policy so small that its own memory does not matter."""
    model = {"source": "tiny", "vocab_size": 300, "hidden_size": 16, "layers": 1, "heads": 1}
    step = {"algorithm": ALGORITHMS[form], "steps": 2, "batch_size": 4, "warmup_steps": 1}
    return Pipeline.model_validate(
        {
            "name": "benchmark",
            "seed": 0,
            "model": model | {"context": 1024},
            "rounds": [{"optimize": step}],
            "hardware": {"cpus": 1},
        }
    )


def _now() -> datetime:
    return datetime.now(UTC)


def main() -> None:
    """Write a file of each size, and do each phase in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, nargs="+", default=[0.05, 0.2])
    parser.add_argument("--form", choices=ALGORITHMS, default="chats")
    parser.add_argument("--phase", choices=("collect", "optimize"), nargs="+", default=["collect"])
    parser.add_argument("--folder", type=Path, help="for the files, instead of a temporary one")
    parser.add_argument("--do", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.do:
        do(asked.phase[0], asked.form, asked.do)
        return
    for gigabytes in asked.gigabytes:
        with tempfile.TemporaryDirectory(dir=asked.folder) as place:
            with Path(place, "drop").open("w") as file:
                file.writelines(lines(asked.form, int(gigabytes * 1e9)))
            for phase in asked.phase:
                options = ["--phase", phase, "--form", asked.form, "--do", place]
                command = [sys.executable, "-m", "benchmarks.collecting", *options]
                subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
