"""In which order an environment's tasks are played: all of them before any comes again."""

from __future__ import annotations

from hashlib import sha256

_TURNS = 4


def task_of(place: int, tasks: int, order: str) -> int:
    """The task at a place of an endless row of orders, each of all tasks.

    It is worked out by itself, so there may be as many tasks as one likes.

    Args:
        place: in the row, counted from 0.
        tasks: how many there are, at least one.
        order: names the row; another name, other orders.
    """
    return _shuffled(place % tasks, tasks, f"{order}/{place // tasks}")


def _shuffled(place: int, count: int, key: str) -> int:
    """Where a place goes in a permutation of 0 … count-1.

    A Feistel network of four turns (Luby and Rackoff, SIAM J. Comput. 17 (1988), 373–386) permutes
    the next power of four; it is applied until the place is one of the few (Black and Rogaway,
    CT-RSA 2002, "cycle walking").
    """
    bits = max(1, ((count - 1).bit_length() + 1) // 2)
    low = (1 << bits) - 1
    while True:
        left, right = place >> bits, place & low
        for turn in range(_TURNS):
            mixed = sha256(f"{key}/{turn}/{right}".encode()).digest()
            left, right = right, left ^ (int.from_bytes(mixed[:8], "big") & low)
        place = left << bits | right
        if place < count:
            return place
