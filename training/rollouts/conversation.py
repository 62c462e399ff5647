"""Between text and tokens: what is said to a policy, and what it said."""

from __future__ import annotations

from functools import lru_cache

from contracts.errors import JobFailed
from training.models.plain_text import PlainText
from training.models.protocols import Tokenizer

_ANSWER = "~answer~"
_KEPT = 4096


class Conversation:
    """A tokenizer's chat template, turn by turn.

    History is never rendered again: an observation becomes the tokens that the template puts
    between any answer's last word and the next answer's first, and they are appended. Texts and
    answers come again and again, so both ways are remembered.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        """Take a tokenizer.

        Raises:
            JobFailed: it has no end token, so that no answer would ever end.
        """
        if tokenizer.eos_token_id is None:
            raise JobFailed("the tokenizer has no end token, so that no answer would ever end")
        self.end: int = tokenizer.eos_token_id
        self._tokenizer = tokenizer
        self._plain = PlainText(tokenizer)
        self.text = lru_cache(_KEPT)(self._text)
        self.opening = lru_cache(_KEPT)(self._opening)
        self._between = lru_cache(_KEPT)(self._following)

    def reply(self, observation: str, *, ended: bool) -> tuple[int, ...]:
        """Tokens that follow an answer, up to where the next one begins.

        Args:
            observation: the user's words.
            ended: whether the policy said the end token itself; else it is given here.
        """
        rest = self._between(observation)
        return rest[1:] if ended else rest

    def _opening(self, system: str, observation: str) -> tuple[int, ...]:
        """Tokens of a conversation's beginning, up to where the first answer begins."""
        said = [{"role": "system", "content": system}] if system else []
        said.append({"role": "user", "content": observation})
        return self._ids(self._render(said))

    def _following(self, observation: str) -> tuple[int, ...]:
        said = [
            {"role": "user", "content": "?"},
            {"role": "assistant", "content": _ANSWER},
            {"role": "user", "content": observation},
        ]
        _, found, rest = self._render(said).partition(_ANSWER)
        ids = self._ids(rest) if found else ()
        if not ids or ids[0] != self.end:
            raise JobFailed(
                "the tokenizer's chat template does not put the end token after an answer, so "
                "turns cannot be told apart; use another template"
            )
        return ids

    def _text(self, ids: tuple[int, ...]) -> str:
        """What the policy said, its end token left out."""
        said = ids[:-1] if ids and ids[-1] == self.end else ids
        return self._tokenizer.decode(list(said), skip_special_tokens=False)

    def _render(self, said: list[dict[str, str]]) -> str:
        guarded = self._plain.guard_all(said)
        return self._tokenizer.apply_chat_template(
            guarded, tokenize=False, add_generation_prompt=True
        )

    def _ids(self, text: str) -> tuple[int, ...]:
        return tuple(self._plain.encode([text])[0])
