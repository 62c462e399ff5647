"""Playing many episodes at once, no token read twice."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

from training.environments.guarded import Failure
from training.environments.loading import MakeEnvironment
from training.models.protocols import CausalModel, Tokenizer
from training.rollouts.conversation import Conversation
from training.rollouts.episode import Episode
from training.rollouts.reading import Reader
from training.rollouts.sampling import generator_of
from training.rollouts.seat import Limits, Seat
from training.rollouts.seeds import EpisodePlan
from training.rollouts.speaking import speak
from training.rollouts.stage import Stage

ROWS = 256
"""Episodes side by side; on a CPU more gain nothing."""


def play(
    model: CausalModel,
    tokenizer: Tokenizer,
    make_environment: MakeEnvironment,
    plans: Sequence[EpisodePlan],
    *,
    temperature: float,
    max_turns: int,
    max_new_tokens: int,
    context: int,
    generator_seed: int = 0,
    rows: int = ROWS,
    step_limit_s: float = 10.0,
) -> Iterator[Episode]:
    """Play every planned episode once.

    Keys and values of what was said are kept from turn to turn, so each token is read once. Rows
    are of different lengths; one that has ended makes room for the next episode. All chance in
    an episode comes from its own plan, so it does not matter which others are played beside it.

    Args:
        model: with dropout off; must not change before the last episode is out.
        tokenizer: with a chat template.
        make_environment: makes one instance; they are used again after `reset`.
        plans: the episodes.
        temperature: of the sampling; 0 takes the likeliest token.
        max_turns: after these an episode is cut off.
        max_new_tokens: sampled tokens a turn.
        context: most tokens of an episode; one without room for a turn is cut off.
        generator_seed: tells apart several samplings of the same plans.
        rows: most episodes side by side.
        step_limit_s: longest call of an environment; one that takes longer fails its episode.

    Yields:
        The episodes, as they end.

    Raises:
        JobFailed: a reward is not finite, or an environment hangs again and again.
    """
    conversation = Conversation(tokenizer)
    table = _Table(
        reader=Reader(model, rows=max(1, min(rows, len(plans))), context=context),
        conversation=conversation,
        stage=Stage(make_environment, step_limit_s),
        limits=Limits(max_turns, max_new_tokens, context, conversation.end),
        temperature=temperature,
        stream=generator_seed,
    )
    try:
        yield from table.play(deque(plans), max(1, min(rows, len(plans))))
    finally:
        table.close()


class _Table:
    def __init__(
        self,
        *,
        reader: Reader,
        conversation: Conversation,
        stage: Stage,
        limits: Limits,
        temperature: float,
        stream: int,
    ) -> None:
        self._reader = reader
        self._conversation = conversation
        self._stage = stage
        self._limits = limits
        self._temperature = temperature
        self._stream = stream
        self._seats: dict[int, Seat] = {}

    def play(self, waiting: deque[EpisodePlan], rows: int) -> Iterator[Episode]:
        while waiting or self._seats:
            free = [row for row in range(rows) if row not in self._seats][: len(waiting)]
            if free:
                yield from self._sit_down(free, [waiting.popleft() for _ in free])
            if self._seats:
                yield from self._speak()

    def close(self) -> None:
        for seat in self._seats.values():
            self._stage.release(seat.environment)
        self._stage.close()

    def _sit_down(self, rows: list[int], plans: list[EpisodePlan]) -> Iterator[Episode]:
        for row, plan, opened in zip(rows, plans, self._stage.open(plans), strict=True):
            if isinstance(opened, Failure):
                yield _never_begun(plan, opened.reason)
                continue
            environment, observation, task = opened
            generator = generator_of(plan.seed, self._stream)
            seat = Seat(row, plan, environment, self._limits, generator, task)
            if environment.system:
                seat.messages.append({"role": "system", "content": environment.system})
            seat.hear(self._conversation.opening(environment.system, observation), observation)
            self._seats[row] = seat
            if seat.over:
                yield self._leave(seat)

    def _speak(self) -> Iterator[Episode]:
        """Let those speak who are more: who begin a turn, or who are in the midst of one.

        Those in the midst stop once half of the table waits to begin; those who begin stop after
        a token, where others are in the midst, to go on with them.
        """
        seated = [self._seats[row] for row in sorted(self._seats)]
        begin = [seat for seat in seated if seat.begins]
        midst = [seat for seat in seated if not seat.begins]
        due, others = (begin, midst) if len(begin) >= len(midst) else (midst, begin)
        spoken = speak(
            self._reader,
            [seat.turn() for seat in due],
            temperature=self._temperature,
            end=self._limits.end,
            enough=0 if due is begin and others else (len(seated) + 1) // 2 - len(others),
        )
        said = zip(due, spoken, strict=True)
        ended = [seat for seat, tokens in said if seat.say(tokens)]
        if ended:
            yield from self._end_turns(ended)

    def _end_turns(self, seats: list[Seat]) -> Iterator[Episode]:
        texts = [self._conversation.text(seat.said) for seat in seats]
        turns = [(seat.environment, text) for seat, text in zip(seats, texts, strict=True)]
        names = [f"episode {seat.plan.index}, turn {seat.turns + 1}" for seat in seats]
        for seat, text, step in zip(seats, texts, self._stage.step(turns, names), strict=True):
            seat.messages.append({"role": "assistant", "content": text})
            if isinstance(step, Failure):
                seat.fail(step.reason)
            else:
                seat.judge(step)
                if not seat.over:
                    reply = self._conversation.reply(step.observation, ended=seat.ended)
                    seat.hear(reply, step.observation)
            if seat.over:
                yield self._leave(seat)

    def _leave(self, seat: Seat) -> Episode:
        del self._seats[seat.row]
        episode = seat.episode()
        if not episode.failed:
            self._stage.release(seat.environment)
        return episode


def _never_begun(plan: EpisodePlan, reason: str) -> Episode:
    return Episode(
        index=plan.index,
        seed=plan.seed,
        task=plan.task or 0,
        ids=[],
        actions=[],
        logprobs=[],
        rewards=[],
        reward=0.0,
        success=False,
        turns=0,
        terminated=False,
        truncated=False,
        format_errors=0,
        failed=reason,
    )
