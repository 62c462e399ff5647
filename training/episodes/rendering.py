"""Conversations as text and then as tokens, cut where sampled and given text meet."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from contracts.errors import JobFailed
from training.episodes.speech import Turn, functions, spoken, turns_of
from training.models.plain_text import PlainText, unguarded
from training.models.protocols import Tokenizer
from trajectories.message import Message

_Turns = tuple[Turn, ...]
_PARSES = re.compile(r"arguments\s*\|\s*tojson")
_TAKES_TEXT = re.compile(r"arguments(['\"]\])?\s+is\s+string")


class Segment(NamedTuple):
    """A piece of text, all sampled by the policy or all given to it."""

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


class Stretch(NamedTuple):
    """A turn of the policy, or all that is said between two of them.

    Attributes:
        said: what the template makes of it.
        opening: what the template adds to let the policy speak next; empty if it does not.
    """

    said: Segment
    opening: Segment


class Opening(NamedTuple):
    """A prompt in parts that it may lose, oldest first.

    Attributes:
        system: the system prompt and the tools; empty if there are none.
        turns: whole turns after that, the oldest first.
        last: what the answer replies to, up to where the policy begins to speak.
    """

    system: Segment
    turns: tuple[Segment, ...]
    last: Segment


NOTHING = Segment("", sampled=False)


class Rendering:
    """A chat template at work; what was rendered or tokenised once is not again.

    Games have few distinct turns. So what a template makes of a turn is remembered, and a
    conversation put together of such memories is held to one rendering of it as a whole. Where
    they differ, turns depend on more than their neighbours, and each is rendered where it stands.

    Calls are given to the template as the OpenAI form has them, with their arguments as text;
    one that would write that text as JSON once more gets the object that it stands for.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._text = PlainText(tokenizer)
        template = tokenizer.chat_template or ""
        self._parsed = bool(_PARSES.search(template)) and not _TAKES_TEXT.search(template)
        self._tools: dict[str, list[dict[str, Any]]] = {}
        self._prompts: dict[tuple[_Turns, str], str] = {}
        self._stretches: dict[tuple[str, _Turns, bool], Stretch] = {}
        self._pieces: dict[Segment, Piece] = {}
        self._turns_stand_alone = True

    def prompt(self, messages: Sequence[Message], tools: str = "") -> Segment:
        """A prompt's text, up to where the policy begins to speak."""
        return Segment(self._prompt(turns_of(messages, self._text), tools), sampled=False)

    def opening(self, messages: Sequence[Message], tools: str = "") -> Opening:
        """The same in parts; where the template does not write it turn by turn, in fewer."""
        turns = turns_of(messages, self._text)
        whole = self._prompt(turns, tools)
        told = sum(1 for _ in _leading_system(turns))
        ends = self._ends(whole, turns, told, tools)
        parts = [whole[a:b] for a, b in zip((0, *ends), (*ends, len(whole)), strict=True)]
        system = parts.pop(0) if (told or tools) and len(parts) > 1 else ""
        *older, last = (Segment(part, sampled=False) for part in parts)
        return Opening(Segment(system, sampled=False), tuple(older), last)

    def stretches(
        self, prompt: Sequence[Message], answer: Sequence[Message], tools: str = ""
    ) -> list[Stretch]:
        """Cut an answer's text where sampled and given text meet.

        Raises:
            JobFailed: the chat template changes earlier text when a message is added, or leaves
                tool calls out.
        """
        before, turns = turns_of(prompt, self._text), turns_of(answer, self._text)
        blocks = list(_blocks(turns))
        if self._turns_stand_alone:
            made = self._put_together(before, blocks, tools)
            whole = self._render((*before, *turns), tools, opens=False)
            put = "".join(one.said.text + one.opening.text for one in made)
            if self._prompt(before, tools) + put == whole:
                return made
            self._turns_stand_alone = False
        return [self._cut(before, blocks, place, tools) for place in range(len(blocks))]

    def tokenise(self, segments: Iterable[Segment]) -> None:
        """Learn the tokens of many segments at once, which is faster than one by one."""
        new = sorted(set(segments) - self._pieces.keys())
        if not new:
            return
        end = self._tokenizer.eos_token_id
        for segment, found in zip(new, self._text.encode([text for text, _ in new]), strict=True):
            sampled = _up_to_end(found, end) if segment.sampled else 0
            self._pieces[segment] = Piece(tuple(found), sampled)

    def piece(self, segment: Segment) -> Piece:
        """Tokens of a segment that was tokenised."""
        return self._pieces[segment]

    def _ends(self, whole: str, turns: _Turns, told: int, tools: str) -> list[int]:
        """Where the turns of a prompt end in its text, the last one's end left out."""
        firsts = [told] if told else []
        ends: list[int] = []
        for count in (*firsts, *range(told + 1, len(turns))):
            text = self._render_if_it_may(turns[:count], tools)
            if whole.startswith(text) and len(text) > (ends[-1] if ends else 0):
                ends.append(len(text))
        return ends

    def _put_together(self, before: _Turns, blocks: list[_Turns], tools: str) -> list[Stretch]:
        made: list[Stretch] = []
        for place, block in enumerate(blocks):
            key = (blocks[place - 1][-1].role if place else "", block, _opens(blocks, place))
            if key not in self._stretches:
                self._stretches[key] = self._cut(before, blocks, place, tools)
            made.append(self._stretches[key])
        return made

    def _cut(self, before: _Turns, blocks: list[_Turns], place: int, tools: str) -> Stretch:
        """What one block of an answer adds to the text, and the opening of the next."""
        so_far = (*before, *(turn for block in blocks[:place] for turn in block))
        opened = place == 0 or _opens(blocks, place - 1)
        rendered = self._render(so_far, tools, opens=opened)
        block = blocks[place]
        closed = self._render((*so_far, *block), tools, opens=False)
        opens = _opens(blocks, place)
        longer = self._render((*so_far, *block), tools, opens=True) if opens else closed
        if not closed.startswith(rendered) or not longer.startswith(closed):
            raise JobFailed(
                "the tokenizer's chat template changes earlier text when a message is added, so "
                "its answers cannot be told from their prompts; use an append-only template"
            )
        text = closed[len(rendered) :]
        _require_calls(block, text)
        opening = Segment(longer[len(closed) :], sampled=False)
        return Stretch(Segment(text, block[0].sampled), opening)

    def _prompt(self, turns: _Turns, tools: str) -> str:
        key = (turns, tools)
        if key not in self._prompts:
            self._prompts[key] = self._render(turns, tools, opens=True)
        return self._prompts[key]

    def _render(self, turns: Sequence[Turn], tools: str, *, opens: bool) -> str:
        return self._tokenizer.apply_chat_template(
            [spoken(turn, self._text, parsed=self._parsed) for turn in turns],
            tools=self._functions(tools),
            tokenize=False,
            add_generation_prompt=opens,
        )

    def _render_if_it_may(self, turns: Sequence[Turn], tools: str) -> str:
        """Some templates refuse a conversation that stops where they do not like it."""
        from jinja2 import TemplateError

        try:
            return self._render(turns, tools, opens=False)
        except TemplateError:
            return ""

    def _functions(self, tools: str) -> list[dict[str, Any]] | None:
        if not tools:
            return None
        if tools not in self._tools:
            self._tools[tools] = self._text.guard_all(functions(tools))
        return self._tools[tools] or None


def _blocks(turns: _Turns) -> Iterator[_Turns]:
    """Each turn of the assistant alone, and all that is said between two of them together."""
    for assistant, some in groupby(turns, key=lambda turn: turn.role == "assistant"):
        if assistant:
            yield from ((turn,) for turn in some)
        else:
            yield tuple(some)


def _opens(blocks: Sequence[_Turns], place: int) -> bool:
    """Whether the turn after this block is the policy's."""
    return place + 1 < len(blocks) and blocks[place + 1][0].role == "assistant"


def _leading_system(turns: _Turns) -> Iterator[Turn]:
    for turn in turns:
        if turn.role != "system":
            return
        yield turn


def _require_calls(block: _Turns, text: str) -> None:
    for turn in block:
        for call in turn.calls:
            if call.name not in text:
                raise JobFailed(
                    f"the tokenizer's chat template leaves out tool calls ({unguarded(call.name)} "
                    "is called, and its name is not in the text); use one that renders them"
                )


def _up_to_end(ids: Sequence[int], end: int | None) -> int:
    if end is None or end not in ids:
        return len(ids)
    return len(ids) - list(reversed(ids)).index(end)
