"""Pairs that a tiny model can learn from in a second."""

import random

from contracts.model import canonical_json
from trajectories.message import Message, plain
from trajectories.pair import Pair

THINGS = ("parcel", "invoice", "password", "refund", "address", "order")


def make_pairs(count: int, seed: int = 0) -> list[Pair]:
    """Pairs whose chosen answer names a day, and whose rejected one does not."""
    draw = random.Random(seed)
    made = {}
    while len(made) < count:
        thing, number = draw.choice(THINGS), draw.randrange(10_000)
        pair = Pair.of(
            [Message(role="user", content=f"Where is {thing} {number}?")],
            [Message(role="assistant", content=f"The {thing} comes on Friday.")],
            [Message(role="assistant", content=f"Wait for the {thing}, maybe.")],
        )
        made[pair.id] = pair
    return list(made.values())


def openai_file(pairs: list[Pair]) -> bytes:
    """The pairs as a file that somebody would drop."""

    return b"".join(
        canonical_json(
            {
                "input": {"messages": plain(pair.prompt)},
                "preferred_output": plain(pair.chosen),
                "non_preferred_output": plain(pair.rejected),
            }
        )
        + b"\n"
        for pair in pairs
    )
