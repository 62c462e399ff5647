"""Many calls of one kind, a bounded number of them under way at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def side_by_side(work: Callable[[T], object], items: Iterable[T], at_once: int) -> None:
    """Do the work for every item; the first error is raised when all calls have ended.

    Args:
        work: may be called from several threads.
        items: what for.
        at_once: most calls under way; 1 does them one by one, in their order.
    """
    if at_once == 1:
        for item in items:
            work(item)
        return
    with ThreadPoolExecutor(at_once) as pool:
        for done in [pool.submit(work, item) for item in items]:
            done.result()
