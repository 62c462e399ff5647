"""What a conversation that is too long for the context loses, and how much was lost.

The rule, until prompt and answers fit:

1. Whole turns go, the oldest first: those of the prompt after its system part, and then what is
   said between the policy's turns (the user's words, tools' results). The question that an
   answer replies to is no such turn, and neither is anything that is learnt.
2. Then the prompt loses its oldest tokens, the system part's first. One token always stays.
3. Only where the policy's own turns are longer than the context together, the oldest of them go,
   each as a whole. What is left of them is never cut, with one exception: where the newest turn
   is longer than the context by itself, its end is cut.

All branches of one prompt share what is left of it, so they keep the same ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import NamedTuple

Ids = tuple[int, ...]


class Prompt(NamedTuple):
    """A prompt's tokens: its system part, whole turns, and what is replied to."""

    system: Ids
    turns: tuple[Ids, ...]
    last: Ids


class Exchange(NamedTuple):
    """A turn of the policy, with what led to it.

    Attributes:
        given: said since the policy's turn before.
        opening: lets the policy speak; goes only with its turn.
        said: what the policy samples.
    """

    given: Ids
    opening: Ids
    said: Ids


@dataclass(frozen=True)
class Answer:
    """Tokens after the prompt.

    Attributes:
        ids: token ids.
        learn: for each, whether the policy would sample it (1) or is given it (0).
    """

    ids: Ids
    learn: Ids

    @classmethod
    def of(cls, exchanges: Iterable[Exchange]) -> Answer:
        """Put the turns together again."""
        ids: list[int] = []
        learn: list[int] = []
        for given, opening, said in exchanges:
            ids += [*given, *opening, *said]
            learn += [0] * (len(given) + len(opening)) + [1] * len(said)
        return cls(tuple(ids), tuple(learn))


@dataclass(frozen=True)
class Loss:
    """How much did not fit; all figures add up.

    Attributes:
        rows: conversations, or pairs.
        cut: of them, those that lost anything.
        prompts: of them, those that lost something of their prompt.
        answers: of them, those that lost something of an answer.
        actions: of them, those that lost tokens of the policy's own.
        tokens: of all rows, before.
        tokens_cut: of them, lost.
        action_tokens: that the policy samples, before.
        action_tokens_cut: of them, lost.
    """

    rows: int = 0
    cut: int = 0
    prompts: int = 0
    answers: int = 0
    actions: int = 0
    tokens: int = 0
    tokens_cut: int = 0
    action_tokens: int = 0
    action_tokens_cut: int = 0

    def __add__(self, other: Loss) -> Loss:
        """Of both together."""
        return Loss(
            **{one.name: getattr(self, one.name) + getattr(other, one.name) for one in fields(self)}
        )

    @property
    def share(self) -> float:
        """Share of all tokens that was lost."""
        return self.tokens_cut / max(1, self.tokens)

    @property
    def action_share(self) -> float:
        """Share of the policy's own tokens that was lost."""
        return self.action_tokens_cut / max(1, self.action_tokens)


class Fitted(NamedTuple):
    """What is left: the prompt's ids, its answers, and what was lost."""

    prompt: Ids
    answers: tuple[Answer, ...]
    loss: Loss


@dataclass
class _Branch:
    """An answer while it is being cut."""

    exchanges: list[Exchange]
    size: int = field(init=False)

    def __post_init__(self) -> None:
        self.size = sum(_size(one) for one in self.exchanges)

    def lose_given(self, room: int) -> None:
        for place in range(len(self.exchanges)):
            if self.size <= room:
                return
            self._strip(place)

    def lose_actions(self, room: int) -> None:
        while self.size > room and len(self.exchanges) > 1:
            self.size -= _size(self.exchanges.pop(0))
            self._strip(0)
        if self.size > room:
            self.exchanges = [Exchange((), (), self.exchanges[0].said[:room])]
            self.size = _size(self.exchanges[0])

    def _strip(self, place: int) -> None:
        """Leave a turn without what led to it; the first one is opened by the prompt already."""
        one = self.exchanges[place]
        left = one._replace(given=(), opening=one.opening if place else ())
        self.size -= _size(one) - _size(left)
        self.exchanges[place] = left


def fit(prompt: Prompt, answers: Sequence[Sequence[Exchange]], *, context: int) -> Fitted:
    """Cut a prompt and its answers to the context, by the rule above.

    Args:
        prompt: at least one token.
        answers: at least one, each to the same prompt.
        context: longest prompt with an answer in tokens, at least 2.
    """
    branches = [_Branch(list(exchanges)) for exchanges in answers]
    turns = list(prompt.turns)
    kept = len(prompt.system) + len(prompt.last) + sum(len(turn) for turn in turns)
    while turns and kept + _longest(branches) > context:
        kept -= len(turns.pop(0))
    for branch in branches:
        branch.lose_given(context - kept)
        branch.lose_actions(context - 1)
    ids = (*prompt.system, *(token for turn in turns for token in turn), *prompt.last)
    left = ids[-(context - _longest(branches)) :]
    made = tuple(Answer.of(branch.exchanges) for branch in branches)
    before = [Answer.of(exchanges) for exchanges in answers]
    return Fitted(left, made, _loss(prompt, before, left, made))


def _longest(branches: Sequence[_Branch]) -> int:
    return max(branch.size for branch in branches)


def _loss(prompt: Prompt, before: Sequence[Answer], left: Ids, after: Sequence[Answer]) -> Loss:
    whole = len(prompt.system) + sum(len(turn) for turn in prompt.turns) + len(prompt.last)
    answers = sum(len(one.ids) for one in before)
    actions = sum(sum(one.learn) for one in before)
    answers_cut = answers - sum(len(one.ids) for one in after)
    actions_cut = actions - sum(sum(one.learn) for one in after)
    return Loss(
        rows=1,
        cut=int(whole > len(left) or answers_cut > 0),
        prompts=int(whole > len(left)),
        answers=int(answers_cut > 0),
        actions=int(actions_cut > 0),
        tokens=whole + answers,
        tokens_cut=whole - len(left) + answers_cut,
        action_tokens=actions,
        action_tokens_cut=actions_cut,
    )


def _size(exchange: Exchange) -> int:
    return sum(len(part) for part in exchange)
