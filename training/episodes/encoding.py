"""Pairs as token ids: the prompt once, both answers after it, a mark on every sampled token."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from contracts.errors import JobFailed
from training.models.protocols import Tokenizer
from trajectories.pair import Message, Pair


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
    def distinct(self) -> bool:
        """Whether anything tells the answers apart, as far as the context reaches."""
        return self.chosen != self.rejected


@dataclass(frozen=True)
class Truncations:
    """How many pairs did not fit the context as they were."""

    prompts: int = 0
    answers: int = 0


_Segment = tuple[str, int]


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
    texts: list[str] = []
    places: list[tuple[list[_Segment], list[_Segment], list[_Segment]]] = []
    for pair in pairs:
        prompt = [(_render(tokenizer, pair.prompt, opens=True), 0)]
        branches = tuple(_segments(tokenizer, pair.prompt, answer) for answer in _answers(pair))
        places.append((prompt, *branches))  # type: ignore[arg-type]
        texts += [text for part in places[-1] for text, _ in part]
    tokens = iter(_tokenise(tokenizer, texts))
    encoded = []
    cut_prompts = cut_answers = 0
    for prompt_part, chosen_part, rejected_part in places:
        prompt_ids = _joined(prompt_part, tokens, None).ids
        chosen = _joined(chosen_part, tokens, tokenizer.eos_token_id)
        rejected = _joined(rejected_part, tokens, tokenizer.eos_token_id)
        made = fit(prompt_ids, chosen, rejected, context=context)
        cut_prompts += len(made.prompt) < len(prompt_ids)
        cut_answers += made.chosen != chosen or made.rejected != rejected
        encoded.append(made)
    return encoded, Truncations(cut_prompts, cut_answers)


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


def _answers(pair: Pair) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    return pair.chosen, pair.rejected


def _render(tokenizer: Tokenizer, messages: Sequence[Message], *, opens: bool) -> str:
    plain = [{"role": message.role, "content": message.content} for message in messages]
    return tokenizer.apply_chat_template(plain, tokenize=False, add_generation_prompt=opens)


def _segments(
    tokenizer: Tokenizer, prompt: Sequence[Message], answer: Sequence[Message]
) -> list[_Segment]:
    """Cut an answer's text where sampled and given text meet."""
    so_far = list(prompt)
    rendered = _render(tokenizer, so_far, opens=True)
    segments: list[_Segment] = []
    for index, message in enumerate(answer):
        so_far.append(message)
        following = answer[index + 1] if index + 1 < len(answer) else None
        opens = following is not None and following.role == "assistant"
        closed = _render(tokenizer, so_far, opens=False)
        longer = _render(tokenizer, so_far, opens=True) if opens else closed
        if not closed.startswith(rendered) or not longer.startswith(closed):
            raise JobFailed(
                "the tokenizer's chat template changes earlier text when a message is added, so "
                "its answers cannot be told from their prompts; use an append-only template"
            )
        learn = int(message.role == "assistant")
        segments.append((closed[len(rendered) :], learn))
        if opens:
            segments.append((longer[len(closed) :], 0))
        rendered = longer
    return segments


def _tokenise(tokenizer: Tokenizer, texts: list[str]) -> list[list[int]]:
    if not texts:
        return []
    return tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"]


def _joined(segments: list[_Segment], tokens: Iterator[list[int]], end: int | None) -> Answer:
    ids: list[int] = []
    learn: list[int] = []
    for _, sampled in segments:
        piece = next(tokens)
        stop = _after_end(piece, end) if sampled else 0
        ids += piece
        learn += [1] * stop + [0] * (len(piece) - stop)
    last = max((place for place, mark in enumerate(learn, 1) if mark), default=len(ids))
    keep = last if end is not None else len(ids)
    return Answer(tuple(ids[:keep]), tuple(learn[:keep]))


def _after_end(piece: list[int], end: int | None) -> int:
    """Length of what the policy samples: up to its end token, not what a template adds after."""
    if end is None or end not in piece:
        return len(piece)
    return len(piece) - piece[::-1].index(end)
