"""What people say is never a special token, however much it looks like one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from training.models.protocols import Tokenizer

_MARK = "\ue000"
_LITERAL = _MARK + "\ue001"
_BREAK = _MARK + "\ue002"
"""Of Unicode's private use area: no template strips, escapes or rewrites them."""


class PlainText:
    """Guards texts on their way through a chat template to the tokenizer.

    A template puts its own special tokens between what was said, and a tokenizer can't tell them
    from the same letters in what was said: a user who writes `<|end|>` would end a turn. So
    such letters get a mark in their middle before they are rendered, and the text is cut there
    before it is tokenised; no piece of it is a special token then. Decoding gives the text back.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        special = set(tokenizer.all_special_tokens)
        special |= {str(one) for one in tokenizer.added_tokens_decoder.values() if one.special}
        longest_first = sorted((one for one in special if len(one) > 1), key=lambda s: (-len(s), s))
        self._risky = re.compile("|".join(re.escape(one) for one in (*longest_first, _MARK)))

    def guard(self, text: str) -> str:
        """The text with marks, to be rendered."""
        return self._risky.sub(_marked, text)

    def guard_all(self, value: Any) -> Any:  # noqa: ANN401 - any JSON value
        """A JSON value with all its texts guarded, names of fields as well."""
        if isinstance(value, str):
            return self.guard(value)
        if isinstance(value, list):
            return [self.guard_all(one) for one in value]
        if isinstance(value, dict):
            return {self.guard(name): self.guard_all(one) for name, one in value.items()}
        return value

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of rendered texts, their marks taken out."""
        cut = [text.split(_BREAK) if _MARK in text else [text] for text in texts]
        pieces = [piece.replace(_LITERAL, _MARK) for parts in cut for piece in parts]
        if not pieces:
            return []
        found = self._tokenizer(pieces, add_special_tokens=False, verbose=False)["input_ids"]
        ids = iter(found)
        return [[token for _ in parts for token in next(ids)] for parts in cut]


def unguarded(text: str) -> str:
    """The text as it was before it was guarded."""
    return text.replace(_BREAK, "").replace(_LITERAL, _MARK) if _MARK in text else text


def _marked(found: re.Match[str]) -> str:
    text = found.group()
    return _LITERAL if text == _MARK else text[0] + _BREAK + text[1:]
