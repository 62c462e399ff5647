"""Pairs and episodes as token ids: the prompt once, and a mark on every sampled token."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple, TypeVar

from training.episodes.fitting import Answer, Exchange, Ids, Loss, Prompt, fit
from training.episodes.rendering import Rendering, Segment, Stretch
from training.models.protocols import Tokenizer
from trajectories.message import Message
from trajectories.pair import Pair
from trajectories.trajectory import Trajectory

T = TypeVar("T")
_Turns = tuple[Message, ...]
_AT_ONCE = 2048
"""Conversations whose texts are in memory side by side."""


class Conversation(NamedTuple):
    """A prompt with answers to it, and the functions that may be called (JSON text)."""

    prompt: _Turns
    answers: tuple[_Turns, ...]
    tools: str = ""


@dataclass(frozen=True)
class Row:
    """A whole sequence.

    Attributes:
        ids: token ids, at least one.
        learn: for each, whether it is one to learn (1) or not (0).
    """

    ids: Ids
    learn: Ids

    @property
    def length(self) -> int:
        """Tokens."""
        return len(self.ids)

    @property
    def height(self) -> int:
        """It is one row of a batch."""
        return 1


@dataclass(frozen=True)
class EncodedPair:
    """A pair whose two branches share the prompt's ids exactly."""

    prompt: Ids
    chosen: Answer
    rejected: Answer

    @property
    def length(self) -> int:
        """Tokens of the longer branch."""
        return len(self.prompt) + max(len(self.chosen.ids), len(self.rejected.ids))

    @property
    def height(self) -> int:
        """Its branches are two rows of a batch."""
        return 2

    @property
    def distinct(self) -> bool:
        """Whether anything tells the answers apart, as far as the context reaches."""
        return self.chosen != self.rejected

    def branch(self, answer: Answer) -> Row:
        """The prompt, and one of its answers."""
        return row_of(self.prompt, answer)


@dataclass(frozen=True)
class Encoded:
    """A conversation as tokens, before anything is cut."""

    prompt: Prompt
    answers: tuple[tuple[Exchange, ...], ...]


def row_of(prompt: Ids, answer: Answer) -> Row:
    """A prompt with its answer as one sequence."""
    return Row(prompt + answer.ids, (0,) * len(prompt) + answer.learn)


def encode_pairs(
    pairs: Sequence[Pair], tokenizer: Tokenizer, *, context: int
) -> tuple[list[EncodedPair], Loss]:
    """Render, tokenise and fit pairs.

    Args:
        pairs: what to encode.
        tokenizer: with a chat template that renders a prompt as a prefix of what follows it.
        context: longest branch in tokens, at least 2.

    Returns:
        As many pairs, and what they lost to the context, see `fitting`.

    Raises:
        JobFailed: the chat template is not of that kind.
    """
    made = list(each_pair(pairs, tokenizer, context=context))
    return [pair for pair, _ in made], sum((loss for _, loss in made), Loss())


def each_pair(
    pairs: Iterable[Pair], tokenizer: Tokenizer, *, context: int
) -> Iterator[tuple[EncodedPair, Loss]]:
    """What `encode_pairs` does, pair by pair, some thousands of them in memory."""
    for _, encoded in encode(pairs, _of_pair, tokenizer, context=context):
        fitted = fit(encoded.prompt, encoded.answers, context=context)
        yield EncodedPair(fitted.prompt, *fitted.answers), fitted.loss


def encode_trajectories(
    trajectories: Sequence[Trajectory], tokenizer: Tokenizer, *, context: int
) -> tuple[list[Row], Loss]:
    """Render, tokenise and fit episodes; what the assistant says in them is learnt.

    Args:
        trajectories: what to encode.
        tokenizer: see `encode_pairs`.
        context: longest row in tokens, at least 2.

    Returns:
        As many rows, and what they lost to the context, see `fitting`.

    Raises:
        JobFailed: the chat template changes earlier text when a message is added.
    """
    made = list(each_trajectory(trajectories, tokenizer, context=context))
    return [row for row, _ in made], sum((loss for _, loss in made), Loss())


def each_trajectory(
    trajectories: Iterable[Trajectory], tokenizer: Tokenizer, *, context: int
) -> Iterator[tuple[Row, Loss]]:
    """What `encode_trajectories` does, episode by episode, some thousands of them in memory."""
    for _, encoded in encode(trajectories, of_trajectory, tokenizer, context=context):
        fitted = fit(encoded.prompt, encoded.answers, context=context)
        yield row_of(fitted.prompt, fitted.answers[0]), fitted.loss


def of_trajectory(one: Trajectory) -> Conversation:
    """An episode as an opening and one answer that is many turns long."""
    return Conversation(one.opening, (one.play,), one.tools)


def _of_pair(pair: Pair) -> Conversation:
    return Conversation(pair.prompt, (pair.chosen, pair.rejected), pair.tools)


def encode(
    items: Iterable[T],
    conversation: Callable[[T], Conversation],
    tokenizer: Tokenizer,
    *,
    context: int,
) -> Iterator[tuple[T, Encoded]]:
    """Token ids of prompts and of the answers to each, before anything is cut.

    Args:
        items: what to encode.
        conversation: an item as a prompt with its answers.
        tokenizer: see `encode_pairs`.
        context: longest branch; the prompt of a longer one is told apart into its turns.

    Yields:
        Each item with what was made of it, in the order given.

    Raises:
        JobFailed: the chat template changes earlier text when a message is added.
    """
    waiting = iter(items)
    while some := list(islice(waiting, _AT_ONCE)):
        conversations = [conversation(one) for one in some]
        encoded = _encode(conversations, Rendering(tokenizer), context)
        yield from zip(some, encoded, strict=True)


def _encode(
    conversations: Sequence[Conversation], rendering: Rendering, context: int
) -> Iterator[Encoded]:
    prompts = [rendering.prompt(one.prompt, one.tools) for one in conversations]
    answers = [
        [rendering.stretches(one.prompt, answer, one.tools) for answer in one.answers]
        for one in conversations
    ]
    rendering.tokenise(prompts)
    rendering.tokenise(part for some in answers for one in some for part in _parts(one))
    for one, prompt, some in zip(conversations, prompts, answers, strict=True):
        made = tuple(_exchanges(stretches, rendering) for stretches in some)
        whole = Prompt((), (), rendering.piece(prompt).ids)
        longest = max(len(Answer.of(answer).ids) for answer in made)
        if len(whole.last) + longest > context:
            whole = _in_parts(one, rendering)
        yield Encoded(whole, made)


def _in_parts(one: Conversation, rendering: Rendering) -> Prompt:
    system, turns, last = rendering.opening(one.prompt, one.tools)
    rendering.tokenise([system, *turns, last])
    older = tuple(rendering.piece(turn).ids for turn in turns)
    return Prompt(rendering.piece(system).ids, older, rendering.piece(last).ids)


def _parts(stretches: Sequence[Stretch]) -> Iterator[Segment]:
    for said, opening in stretches:
        yield from (said, opening)


def _exchanges(stretches: Sequence[Stretch], rendering: Rendering) -> tuple[Exchange, ...]:
    """Turns of the policy that are learnt; what is said after the last of them is left out."""
    made = []
    given: list[int] = []
    opening: Ids = ()
    for said, opens in stretches:
        piece = rendering.piece(said)
        if piece.sampled:
            made.append(Exchange(tuple(given), opening, piece.ids[: piece.sampled]))
            given, opening = list(piece.ids[piece.sampled :]), rendering.piece(opens).ids
        else:
            given += [*opening, *piece.ids]
            opening = rendering.piece(opens).ids
    return tuple(made)
