"""A policy speaking: it reads what is new to it, and answers token by token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from training.rollouts.reading import Chunk, Reader
from training.rollouts.sampling import draw


@dataclass(frozen=True)
class Turn:
    """A turn that is to begin or to go on.

    Attributes:
        chunk: what has not been read yet.
        chances: a number of [0, 1) for each token that may be sampled; that many at most.
    """

    chunk: Chunk
    chances: Sequence[float]


class Spoken(NamedTuple):
    """Tokens that were sampled in a turn, at least one, and their log-probabilities."""

    tokens: list[int]
    logprobs: list[float]


def speak(
    reader: Reader, turns: Sequence[Turn], *, temperature: float, end: int, enough: int
) -> list[Spoken]:
    """Read and answer side by side, until enough turns have ended.

    A turn ends with the end token, or when its chances are used up. The last token sampled has
    not been read.

    Args:
        reader: has read what came before the chunks.
        turns: of different rows.
        temperature: of the sampling; 0 takes the likeliest token.
        end: the token that ends a turn.
        enough: so many ended turns stop the others too, which may go on later.

    Returns:
        What each turn came to.
    """
    import torch

    with torch.inference_mode():
        logits = reader.read([turn.chunk for turn in turns])
        device = logits.device
        rooms = torch.tensor([len(turn.chances) for turn in turns], device=device)
        width = max(len(turn.chances) for turn in turns)
        padded = [[*turn.chances, *[0.0] * (width - len(turn.chances))] for turn in turns]
        chances = torch.tensor(padded, dtype=torch.float64, device=device)
        tokens = torch.zeros((width, len(turns)), dtype=torch.long, device=device)
        logprobs = torch.zeros((width, len(turns)), device=device)
        counts = torch.zeros_like(rooms)
        active = torch.arange(len(turns), device=device)
        line = reader.line([turn.chunk for turn in turns])
        for step in range(width):
            drawn, likely = draw(logits, temperature, chances[active, step])
            tokens[step, active] = drawn
            logprobs[step, active] = likely
            counts[active] += 1
            going_on = (drawn != end) & (rooms[active] > step + 1)
            if not going_on.all():
                active, drawn = active[going_on], drawn[going_on]
                line = line.only(going_on)
            if len(active) == 0 or len(turns) - len(active) >= enough:
                break
            logits, line = reader.go_on(line, drawn)
    return [
        Spoken(said[:count], likely[:count])
        for said, likely, count in zip(
            tokens.T.tolist(), logprobs.T.tolist(), counts.tolist(), strict=True
        )
    ]
