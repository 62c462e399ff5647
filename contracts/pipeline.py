"""A pipeline: the named recipe that a drop is trained by."""

from __future__ import annotations

from collections.abc import Set
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, Field, model_validator

from contracts.hardware import Hardware
from contracts.limits import HEARTBEAT_MIN_S, OBJECT_BYTES_MAX, ROUNDS_MAX
from contracts.misfit import Misfit
from contracts.model import Contract, Stored
from contracts.names import PipelineName
from contracts.steps import Step


def _listed(value: object) -> object:
    return [value] if isinstance(value, dict | BaseModel) else value


class TinyModel(Contract):
    """A small, randomly initialised transformer; its tokenizer is trained on the first drop."""

    source: Literal["tiny"] = "tiny"
    vocab_size: int = Field(1024, ge=300, le=65_536, description="BPE tokens, specials included.")
    hidden_size: int = Field(64, ge=16, le=4096)
    layers: int = Field(2, ge=1, le=64)
    heads: int = Field(4, ge=1, le=64)
    context: int = Field(256, ge=32, le=32_768, description="Longest sequence in tokens.")

    @model_validator(mode="after")
    def _heads_divide_the_width(self) -> Self:
        if self.hidden_size % self.heads or (self.hidden_size // self.heads) % 2:
            raise Misfit("heads", "hidden_size divided by heads must be an even whole number")
        return self


class FolderModel(Contract):
    """A Hugging Face model and tokenizer in a folder on the cluster's shared file system."""

    source: Literal["folder"]
    path: str = Field(pattern=r"^/", description="Absolute path that `from_pretrained` loads.")
    context: int = Field(2048, ge=32, le=131_072, description="Longest sequence in tokens.")


class DataRules(Contract):
    """What of an upload is taken, and what is held out."""

    format: Literal[
        "auto",
        "openai_pairs",
        "sharegpt_pairs",
        "trl_pairs",
        "hh_transcripts",
        "message_pairs",
        "nova_dpo",
        "episode_logs",
        "verifiers",
        "trl_completions",
        "openai_chat",
        "sharegpt",
        "nova_sft",
        "nova_rft",
        "verl_prompts",
        "skyrl_prompts",
        "trl_prompts",
    ] = Field("auto", description="auto detects by content and says by what evidence.")
    held_out_share: float = Field(
        0.2,
        gt=0,
        lt=1,
        description="Share of prompts, chosen by digest, never trained on; with an environment, "
        "share of pairs that training only looks at.",
    )
    learn_from: Literal["auto", "pairs", "labels"] = Field(
        "auto",
        description="Without an environment: preference pairs, or single episodes that are good "
        "or bad; auto takes what there is enough of, and says why.",
    )
    good_reward: float = Field(
        0.5,
        allow_inf_nan=False,
        description="An episode of at least this reward is good, where no label says.",
    )
    min_reward_gap: float = Field(
        0.1, gt=0, description="Two episodes of one task make a pair when their rewards differ so."
    )
    pairs_per_task: int = Field(
        128, ge=1, le=100_000, description="Most pairs that are made of one task's episodes."
    )
    max_bad_share: float = Field(
        1.0, ge=0, le=1, description="A file with a larger share of bad records is refused whole."
    )
    max_object_bytes: int = Field(
        1024**3, ge=1, le=OBJECT_BYTES_MAX, description="Of a file, and of each file of a set."
    )
    seal_limit_s: int = Field(
        3600,
        ge=60,
        le=604_800,
        description="A folder whose newest file is this old, and no _SUCCESS there to seal it, "
        "gets a report that says so.",
    )


class Rollouts(Contract):
    """What the policy plays in `collect`."""

    episodes: int = Field(256, ge=1, le=1_000_000)
    actors: int = Field(1, ge=1, le=1024, description="Ray actors that play side by side.")
    temperature: float = Field(1.0, gt=0, le=10)


class Environment(Contract):
    """What the policy acts in: a class named by an import path from the allow-list."""

    path: str = Field(
        "training.environments.guess_number:GuessNumber",
        pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$",
        description="module:Class",
    )
    settings: dict[str, int | float | str | bool] = Field(
        {}, description="Keyword arguments of the class."
    )
    max_turns: int = Field(8, ge=1, le=1000, description="The policy's turns an episode.")
    max_new_tokens: int = Field(8, ge=1, le=8192, description="Sampled tokens a turn.")
    step_limit_s: float = Field(10.0, gt=0, le=3600, description="Longest step of the environment.")


class Round(Contract):
    """What one round does: play, if it says so, then learn, step after step."""

    collect: Rollouts | None = Field(None, description="None: learn from what was dropped.")
    optimize: Annotated[tuple[Step, ...], BeforeValidator(_listed)] = Field(
        min_length=1, max_length=8, description="One step, or a list of steps, in their order."
    )


class Evaluation(Contract):
    """How a policy that plays is judged: on seeds that neither drops nor rollouts contain."""

    episodes: int = Field(1024, ge=16, le=1_000_000, description="Sampled, at temperature 1.")


class Gate(Contract):
    """When a candidate becomes the current policy."""

    metric: Literal[
        "auto", "accuracy", "label_accuracy", "likelihood", "success_rate", "mean_reward"
    ] = Field(
        "auto",
        description="auto, without an environment: accuracy over held-out pairs, else "
        "label_accuracy over held-out good and bad episodes, else likelihood of good ones.",
    )
    min_gain: float = Field(
        0.0,
        ge=-1,
        le=1,
        description="The lower end of the gain's 95% interval must be above this.",
    )


_START_LIMIT_MIN_S = 30
_WITHIN_THE_TIMEOUT = {"heartbeat_s": HEARTBEAT_MIN_S, "start_limit_s": _START_LIMIT_MIN_S}
"""Limits that would never be the ones that hold if they were behind it, with their least."""


class Patience(Contract):
    """How long the control plane waits; the state machine and `sweep` hold to it."""

    start_limit_s: int = Field(
        1800,
        ge=_START_LIMIT_MIN_S,
        le=604_800,
        description="From submission to the first progress, queueing for quota not counted.",
    )
    queue_limit_s: int = Field(
        43_200,
        ge=60,
        le=2_592_000,
        description="Longest wait in the cluster's queue for quota; it takes nothing from the "
        "other limits.",
    )
    heartbeat_s: int = Field(
        240,
        ge=HEARTBEAT_MIN_S,
        le=86_400,
        description="Longest silence; sweep speaks once a minute.",
    )
    timeout_s: int = Field(
        86_400,
        ge=60,
        le=2_592_000,
        description="Work of an attempt, from its submission on; where jobs queue in the cluster, "
        "from the job's own start on.",
    )

    @model_validator(mode="before")
    @classmethod
    def _what_is_not_set_fits_the_timeout(cls, given: Any) -> Any:  # noqa: ANN401 - unread input
        """Whoever sets only a short `timeout_s` need not know what it is shorter than."""
        whole_s = given.get("timeout_s") if isinstance(given, dict) else None
        if not isinstance(whole_s, int):
            return given
        halved = {
            name: max(least_s, whole_s // 2)
            for name, least_s in _WITHIN_THE_TIMEOUT.items()
            if cls.model_fields[name].default >= whole_s
        }
        return {**halved, **given}

    @model_validator(mode="after")
    def _every_limit_can_be_reached(self) -> Self:
        """A limit behind `timeout_s` would never be the one that holds."""
        for name in _WITHIN_THE_TIMEOUT:
            limit_s = getattr(self, name)
            if limit_s >= self.timeout_s:
                raise Misfit(
                    name,
                    f"{name} of {limit_s} must be less than timeout_s of {self.timeout_s}, which "
                    f"ends the attempt before; lower {name} or raise timeout_s",
                )
        return self


def _check_room(environment: Environment, context: int) -> None:
    """A turn takes its sampled tokens and at least one that opens it; the rest is not known yet."""
    turns, tokens = environment.max_turns, environment.max_new_tokens
    if turns * (tokens + 1) > context:
        raise Misfit(
            "model.context",
            f"model.context of {context} tokens is shorter than a game: environment.max_turns "
            f"{turns} times max_new_tokens {tokens} and an opening token is {turns * (tokens + 1)}",
        )


class Pipeline(Stored):
    """The recipe, as registered by `relay pipelines apply`."""

    name: PipelineName
    description: str = Field("", max_length=500)
    seed: int = Field(0, ge=0, lt=2**31)
    model: TinyModel | FolderModel = Field(TinyModel(), discriminator="source")
    data: DataRules = DataRules()
    rounds: tuple[Round, ...] = Field(min_length=1, max_length=ROUNDS_MAX)
    environment: Environment | None = Field(
        None, description="None: it learns from what was dropped alone."
    )
    evaluation: Evaluation = Evaluation()
    gate: Gate = Gate()
    hardware: Hardware = Hardware()
    patience: Patience = Patience()
    attempts: int = Field(3, ge=1, le=10, description="Jobs a phase may use.")

    @model_validator(mode="after")
    def _the_parts_fit_together(self) -> Self:
        _check_steps(self)
        _check_gate(self)
        if self.environment is not None:
            _check_room(self.environment, self.model.context)
        steps = [step.algorithm for round_ in self.rounds for step in round_.optimize]
        if self.hardware.learners > 1 and "ppo" in steps:
            raise Misfit(
                "hardware.learners",
                f"hardware.learners is {self.hardware.learners}, but ppo plays and learns in one "
                "process; set it to 1",
            )
        asked = [round_.collect.actors if round_.collect else 0 for round_ in self.rounds]
        actors, most = max(asked), asked.index(max(asked))
        if actors > self.hardware.cpus:
            raise Misfit(
                f"rounds.{most}.collect.actors",
                f"rounds ask for {actors} actors, hardware.cpus is {self.hardware.cpus}",
            )
        return self

    @property
    def algorithms(self) -> frozenset[str]:
        """Of all steps of all rounds."""
        return frozenset(step.algorithm for round_ in self.rounds for step in round_.optimize)

    @property
    def learning_rules(self) -> DataRules:
        """The data rules, `learn_from` settled where the steps leave no choice."""
        settled = _CHOICE_OF.keys() & self.algorithms
        if self.environment is not None or not settled:
            return self.data
        return self.data.model_copy(update={"learn_from": _CHOICE_OF[min(settled)]})


_CHOICE_OF = {"dpo": "pairs", "kto": "labels"}
_METRICS_OF = {
    "pairs": ("auto", "accuracy"),
    "labels": ("auto", "label_accuracy", "likelihood"),
    "auto": ("auto", "accuracy", "label_accuracy", "likelihood"),
}


def _check_steps(pipeline: Pipeline) -> None:
    algorithms = pipeline.algorithms
    plays = any(round_.collect for round_ in pipeline.rounds) or "ppo" in algorithms
    if plays and pipeline.environment is None:
        raise Misfit(
            _where_it_plays(pipeline),
            "rounds that collect rollouts or learn by ppo need an environment",
        )
    if pipeline.environment is not None:
        if algorithms & {"kto", "auto"}:
            words = "kto and auto are for pipelines without an environment"
            raise Misfit(_step_by(pipeline, {"kto", "auto"}), words)
        return
    if {"dpo", "kto"} <= algorithms:
        words = "dpo learns from pairs and kto from labels; use one of them"
        raise Misfit(_step_by(pipeline, {"kto"}), words)
    chosen = pipeline.data.learn_from
    for algorithm in _CHOICE_OF.keys() & algorithms:
        if chosen not in {"auto", _CHOICE_OF[algorithm]}:
            words = f"data.learn_from is {chosen}, but a round learns by {algorithm}"
            raise Misfit("data.learn_from", words)


def _step_by(pipeline: Pipeline, algorithms: Set[str]) -> str:
    """Path of the first step that learns by one of these, which the pipeline does."""
    return next(
        f"rounds.{place}.optimize.{number}.algorithm"
        for place, round_ in enumerate(pipeline.rounds)
        for number, step in enumerate(round_.optimize)
        if step.algorithm in algorithms
    )


def _where_it_plays(pipeline: Pipeline) -> str:
    """Path of the first rollouts, or of the first step that plays for itself."""
    collecting = (
        f"rounds.{place}.collect" for place, round_ in enumerate(pipeline.rounds) if round_.collect
    )
    return next(collecting, "") or _step_by(pipeline, {"ppo"})


def _check_gate(pipeline: Pipeline) -> None:
    metric = pipeline.gate.metric
    by_games = metric in {"success_rate", "mean_reward"}
    if by_games != (pipeline.environment is not None):
        raise Misfit(
            "gate.metric",
            "gate.metric is accuracy for pairs, label_accuracy or likelihood for labels, auto for "
            "any of them, and success_rate or mean_reward for an environment",
        )
    learn_from = pipeline.learning_rules.learn_from
    if not by_games and metric not in _METRICS_OF[learn_from]:
        raise Misfit(
            "gate.metric",
            f"gate.metric is {metric}, but what is learnt from are {learn_from}, "
            f"which give {' or '.join(_METRICS_OF[learn_from])}",
        )
