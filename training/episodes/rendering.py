"""Conversations as text and then as tokens, cut where sampled and given text meet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from contracts.errors import JobFailed
from training.models.protocols import Tokenizer
from trajectories.pair import Message

Messages = tuple[Message, ...]


class Segment(NamedTuple):
    """A piece of an answer's text, all sampled by the policy or all given to it."""

    text: str
    sampled: bool


class Rendering:
    """A chat template at work; what was rendered or tokenised once is not again.

    Games have few distinct turns and share their beginnings, which makes the memory worth it.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._texts: dict[tuple[Messages, bool], str] = {}
        self._tokens: dict[str, list[int]] = {}

    def prompt(self, messages: Messages) -> str:
        """A prompt's text, up to where the policy begins to speak."""
        return self._render(messages, opens=True)

    def segments(self, prompt: Messages, answer: Messages) -> list[Segment]:
        """Cut an answer's text where sampled and given text meet.

        Raises:
            JobFailed: the chat template changes earlier text when a message is added.
        """
        so_far = prompt
        rendered = self._render(so_far, opens=True)
        segments: list[Segment] = []
        for index, message in enumerate(answer):
            so_far = (*so_far, message)
            following = answer[index + 1] if index + 1 < len(answer) else None
            opens = following is not None and following.role == "assistant"
            closed = self._render(so_far, opens=False)
            longer = self._render(so_far, opens=True) if opens else closed
            if not closed.startswith(rendered) or not longer.startswith(closed):
                raise JobFailed(
                    "the tokenizer's chat template changes earlier text when a message is added, "
                    "so its answers cannot be told from their prompts; use an append-only template"
                )
            segments.append(Segment(closed[len(rendered) :], message.role == "assistant"))
            if opens:
                segments.append(Segment(longer[len(closed) :], False))
            rendered = longer
        return segments

    def tokenise(self, texts: Iterable[str]) -> None:
        """Learn the tokens of many texts at once, which is faster than one by one."""
        new = sorted(set(texts) - self._tokens.keys())
        if new:
            ids = self._tokenizer(new, add_special_tokens=False, verbose=False)["input_ids"]
            self._tokens.update(zip(new, ids, strict=True))

    def tokens(self, text: str) -> list[int]:
        """Token ids of a text that was tokenised."""
        return self._tokens[text]

    def _render(self, messages: Messages, *, opens: bool) -> str:
        key = (messages, opens)
        if key not in self._texts:
            self._texts[key] = self._tokenizer.apply_chat_template(
                [{"role": message.role, "content": message.content} for message in messages],
                tokenize=False,
                add_generation_prompt=opens,
            )
        return self._texts[key]


def sampled_length(piece: Sequence[int], end: int | None) -> int:
    """How many tokens of an answer's piece the policy samples: up to its end token.

    Args:
        piece: token ids of a sampled segment.
        end: id of the end token; what a template adds after it is not sampled.
    """
    if end is None or end not in piece:
        return len(piece)
    return len(piece) - list(piece)[::-1].index(end)
