"""Conversations as text and then as tokens, cut where sampled and given text meet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from contracts.errors import JobFailed
from training.models.protocols import Tokenizer
from trajectories.message import Message

Turn = tuple[str, str]
"""Role and content."""


class Segment(NamedTuple):
    """A piece of an answer's text, all sampled by the policy or all given to it."""

    text: str
    sampled: bool


class Piece(NamedTuple):
    """The tokens of a segment.

    Attributes:
        ids: token ids.
        sampled: how many of them the policy samples: up to its end token, as what a template
            adds after that is not sampled.
    """

    ids: tuple[int, ...]
    sampled: int


class Rendering:
    """A chat template at work; what was rendered or tokenised once is not again.

    Games have few distinct turns. So what a template makes of a turn is remembered, and a
    conversation put together of such memories is held to one rendering of it as a whole. Where
    they differ, turns depend on more than their neighbours, and each is rendered where it stands.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._prompts: dict[tuple[Turn, ...], str] = {}
        self._turns: dict[tuple[str, Turn, bool], list[Segment]] = {}
        self._pieces: dict[Segment, Piece] = {}
        self._turns_stand_alone = True

    def prompt(self, messages: Sequence[Message]) -> str:
        """A prompt's text, up to where the policy begins to speak."""
        return self._prompt(_plain(messages))

    def segments(self, prompt: Sequence[Message], answer: Sequence[Message]) -> list[Segment]:
        """Cut an answer's text where sampled and given text meet.

        Raises:
            JobFailed: the chat template changes earlier text when a message is added.
        """
        before, turns = _plain(prompt), _plain(answer)
        if self._turns_stand_alone:
            made = self._put_together(before, turns)
            whole = self._render((*before, *turns), opens=False)
            if self._prompt(before) + "".join(text for text, _ in made) == whole:
                return made
            self._turns_stand_alone = False
        return [one for place in range(len(turns)) for one in self._cut(before, turns, place)]

    def tokenise(self, segments: Iterable[Segment]) -> None:
        """Learn the tokens of many segments at once, which is faster than one by one."""
        new = sorted(set(segments) - self._pieces.keys())
        if not new:
            return
        texts = [text for text, _ in new]
        ids = self._tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"]
        end = self._tokenizer.eos_token_id
        for segment, found in zip(new, ids, strict=True):
            sampled = _up_to_end(found, end) if segment.sampled else 0
            self._pieces[segment] = Piece(tuple(found), sampled)

    def piece(self, segment: Segment) -> Piece:
        """Tokens of a segment that was tokenised."""
        return self._pieces[segment]

    def _put_together(self, before: tuple[Turn, ...], turns: tuple[Turn, ...]) -> list[Segment]:
        made: list[Segment] = []
        for place, turn in enumerate(turns):
            key = (turns[place - 1][0] if place else "", turn, _opens(turns, place))
            if key not in self._turns:
                self._turns[key] = self._cut(before, turns, place)
            made += self._turns[key]
        return made

    def _cut(self, before: tuple[Turn, ...], turns: tuple[Turn, ...], place: int) -> list[Segment]:
        """What one turn of an answer adds to the text, and the opening of the next."""
        so_far = (*before, *turns[:place])
        opened = place == 0 or _opens(turns, place - 1)
        rendered = self._render(so_far, opens=opened)
        closed = self._render((*so_far, turns[place]), opens=False)
        opens = _opens(turns, place)
        longer = self._render((*so_far, turns[place]), opens=True) if opens else closed
        if not closed.startswith(rendered) or not longer.startswith(closed):
            raise JobFailed(
                "the tokenizer's chat template changes earlier text when a message is added, so "
                "its answers cannot be told from their prompts; use an append-only template"
            )
        segments = [Segment(closed[len(rendered) :], turns[place][0] == "assistant")]
        return [*segments, Segment(longer[len(closed) :], False)] if opens else segments

    def _prompt(self, turns: tuple[Turn, ...]) -> str:
        if turns not in self._prompts:
            self._prompts[turns] = self._render(turns, opens=True)
        return self._prompts[turns]

    def _render(self, turns: Sequence[Turn], *, opens: bool) -> str:
        return self._tokenizer.apply_chat_template(
            [{"role": role, "content": content} for role, content in turns],
            tokenize=False,
            add_generation_prompt=opens,
        )


def _plain(messages: Sequence[Message]) -> tuple[Turn, ...]:
    return tuple((message.role, message.content) for message in messages)


def _opens(turns: Sequence[Turn], place: int) -> bool:
    """Whether the turn after this one is the policy's."""
    return place + 1 < len(turns) and turns[place + 1][0] == "assistant"


def _up_to_end(ids: Sequence[int], end: int | None) -> int:
    if end is None or end not in ids:
        return len(ids)
    return len(ids) - list(reversed(ids)).index(end)
