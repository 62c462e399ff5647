"""The first request to end is heeded, and tidying up is not disturbed by more."""

from __future__ import annotations

import os
import signal

import pytest

from relay.console.interrupts import SIGNALS, Interrupts


def send(number: int) -> None:
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", SIGNALS)
def test_the_first_request_interrupts_and_more_do_not_disturb_tidying_up(number: int) -> None:
    done = []

    def work() -> None:
        try:
            with interrupts.heeded():
                send(number)
                done.append("not reached")
        finally:
            for again in SIGNALS:
                send(again)
            done.append("tidied up")

    with Interrupts() as interrupts, pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["tidied up"]


def test_a_request_after_the_work_is_done_does_not_disturb_tidying_up() -> None:
    with Interrupts() as interrupts:
        with interrupts.heeded():
            pass
        send(signal.SIGINT)


def test_afterwards_signals_mean_what_they_meant_before() -> None:
    before = [signal.getsignal(number) for number in SIGNALS]
    with Interrupts():
        pass
    assert [signal.getsignal(number) for number in SIGNALS] == before
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
