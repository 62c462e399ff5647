"""Pairs and episodes as token ids: the prompt once, and a mark on every sampled token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from training.episodes.rendering import Rendering, Segment
from training.models.protocols import Tokenizer
from trajectories.message import Message
from trajectories.pair import Pair
from trajectories.trajectory import Trajectory

_Turns = tuple[Message, ...]


@dataclass(frozen=True)
class Answer:
    """Tokens after the prompt.

    Attributes:
        ids: token ids.
        learn: for each, whether the policy would sample it (1) or is given it (0).
    """

    ids: tuple[int, ...]
    learn: tuple[int, ...]


@dataclass(frozen=True)
class Row:
    """A whole sequence.

    Attributes:
        ids: token ids, at least one.
        learn: for each, whether it is one to learn (1) or not (0).
    """

    ids: tuple[int, ...]
    learn: tuple[int, ...]

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

    prompt: tuple[int, ...]
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
        return Row(self.prompt + answer.ids, (0,) * len(self.prompt) + answer.learn)


@dataclass(frozen=True)
class Truncations:
    """How many pairs or episodes did not fit the context as they were."""

    prompts: int = 0
    answers: int = 0


def encode_pairs(
    pairs: Sequence[Pair], tokenizer: Tokenizer, *, context: int
) -> tuple[list[EncodedPair], Truncations]:
    """Render, tokenise and fit pairs.

    A pair over the context loses the oldest tokens of its prompt first. Only an answer that is
    too long by itself is cut, at its end, and one token of the prompt always stays.

    Args:
        pairs: what to encode.
        tokenizer: with a chat template that renders a prompt as a prefix of what follows it.
        context: longest branch in tokens, at least 2.

    Raises:
        JobFailed: the chat template is not of that kind.
    """
    conversations = [(pair.prompt, (pair.chosen, pair.rejected)) for pair in pairs]
    encoded = []
    cut_prompts = cut_answers = 0
    for prompt, (chosen, rejected) in encode_answers(conversations, tokenizer):
        made = fit(prompt, chosen, rejected, context=context)
        cut_prompts += len(made.prompt) < len(prompt)
        cut_answers += made.chosen != chosen or made.rejected != rejected
        encoded.append(made)
    return encoded, Truncations(cut_prompts, cut_answers)


def encode_trajectories(
    trajectories: Sequence[Trajectory], tokenizer: Tokenizer, *, context: int
) -> tuple[list[Row], Truncations]:
    """Render, tokenise and fit episodes; what the assistant says in them is learnt.

    Args:
        trajectories: what to encode.
        tokenizer: see `encode_pairs`.
        context: longest row in tokens, at least 2.

    Raises:
        JobFailed: the chat template changes earlier text when a message is added.
    """
    conversations = [(one.opening, (one.play,)) for one in trajectories]
    rows = []
    cut_prompts = cut_answers = 0
    for prompt, (answer,) in encode_answers(conversations, tokenizer):
        made = fit(prompt, answer, answer, context=context)
        cut_prompts += len(made.prompt) < len(prompt)
        cut_answers += made.chosen != answer
        rows.append(made.branch(made.chosen))
    return rows, Truncations(cut_prompts, cut_answers)


def encode_answers(
    conversations: Sequence[tuple[_Turns, tuple[_Turns, ...]]], tokenizer: Tokenizer
) -> list[tuple[tuple[int, ...], list[Answer]]]:
    """Token ids of prompts and of the answers to each, before anything is cut.

    Args:
        conversations: prompts, each with its answers.
        tokenizer: see `encode_pairs`.

    Raises:
        JobFailed: the chat template changes earlier text when a message is added.
    """
    rendering = Rendering(tokenizer)
    prompts = [Segment(rendering.prompt(prompt), sampled=False) for prompt, _ in conversations]
    segments = [
        [rendering.segments(prompt, answer) for answer in answers]
        for prompt, answers in conversations
    ]
    rendering.tokenise(prompts)
    rendering.tokenise(piece for answers in segments for one in answers for piece in one)
    end = tokenizer.eos_token_id
    return [
        (rendering.piece(prompt).ids, [_joined(one, rendering, end) for one in answers])
        for prompt, answers in zip(prompts, segments, strict=True)
    ]


def fit(prompt: tuple[int, ...], chosen: Answer, rejected: Answer, *, context: int) -> EncodedPair:
    """Cut a pair to the context: the prompt's start, and answers only when they must.

    Args:
        prompt: ids, at least one.
        chosen: the preferred answer.
        rejected: the other one.
        context: longest branch in tokens, at least 2.
    """
    chosen, rejected = _head(chosen, context - 1), _head(rejected, context - 1)
    room = context - max(len(chosen.ids), len(rejected.ids))
    return EncodedPair(prompt[-room:], chosen, rejected)


def _head(answer: Answer, most: int) -> Answer:
    return Answer(answer.ids[:most], answer.learn[:most])


def _joined(segments: list[Segment], rendering: Rendering, end: int | None) -> Answer:
    ids: list[int] = []
    learn: list[int] = []
    for segment in segments:
        piece = rendering.piece(segment)
        ids += piece.ids
        learn += [1] * piece.sampled + [0] * (len(piece.ids) - piece.sampled)
    last = max((place for place, mark in enumerate(learn, 1) if mark), default=len(ids))
    keep = last if end is not None else len(ids)
    return Answer(tuple(ids[:keep]), tuple(learn[:keep]))
