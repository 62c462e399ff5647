"""MiniStack as released forgets on kill -9 what it acknowledged; ours is in test_stack."""

import os
import signal
from pathlib import Path

import pytest
from emulated import plain_emulator

from relay.local.places import LocalPlaces
from relay.local.processes import Processes

pytestmark = pytest.mark.emulator


def test_the_gap_is_still_there(tmp_path: Path) -> None:
    with plain_emulator(tmp_path) as aws:
        aws("sqs").create_queue(QueueName="kept")
        os.kill(Processes(LocalPlaces(tmp_path)).pid("plain"), signal.SIGKILL)
    with plain_emulator(tmp_path) as aws:
        queues = aws("sqs").list_queues().get("QueueUrls", [])
    assert not queues, "MiniStack now does this; remove the gap durability"
