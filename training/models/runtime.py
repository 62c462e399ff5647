"""Setting up torch in the process that does the work."""

from __future__ import annotations

import os

from contracts.counting import counted
from contracts.errors import JobFailed
from training.assignment import Assignment
from training.seeding import seed_everything


def waiting() -> dict[str, str]:
    """Environment that makes threads sleep while they wait, unless it says otherwise already.

    Threads that spin take the CPU from those they wait for: where others work on the same cores,
    two threads were ten times slower than one. It is read when torch is loaded.
    """
    return {"OMP_WAIT_POLICY": os.environ.get("OMP_WAIT_POLICY", "PASSIVE")}


def prepare_runtime(assignment: Assignment) -> str:
    """Set threads and seeds, keep every library off the network; the device to compute on.

    Raises:
        JobFailed: GPUs were asked for, and torch sees none.
    """
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    os.environ.update(waiting())
    import torch
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    torch.set_num_threads(assignment.threads)
    seed_everything(assignment.seed)
    if not assignment.spec.hardware.gpus:
        return "cpu"
    if not torch.cuda.is_available():
        raise JobFailed(
            f"the job was given {counted(assignment.spec.hardware.gpus, 'GPU')}, but torch "
            f"{torch.__version__} sees none; use an image with CUDA"
        )
    return "cuda"
