"""A policy reading on: what it thinks comes next after each row's new tokens, nothing re-read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from contracts.errors import JobFailed
from training.models.protocols import CausalModel
from training.rollouts.decoder import Decoder, fits
from training.rollouts.row_cache import Aim, RowCache

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module


class Chunk(NamedTuple):
    """Tokens that a row has not read yet.

    Attributes:
        row: of the cache.
        start: tokens that it has read before.
        ids: what follows, at least one.
    """

    row: int
    start: int
    ids: tuple[int, ...]


class Line(NamedTuple):
    """Where rows stand that read one token at a time.

    Attributes:
        rows: [b] of the cache.
        positions: [b] of the token that each reads next.
        everyone: whether the rows are all of the cache, in their order.
        longest: tokens that any of them has read then, at most.
    """

    rows: Tensor
    positions: Tensor
    everyone: bool
    longest: int

    def only(self, some: Tensor) -> Line:
        """Those rows of which `some`, [b] bool, is true."""
        return Line(self.rows[some], self.positions[some], False, self.longest)

    def moved_on(self) -> Line:
        """Each row one position further."""
        return self._replace(positions=self.positions + 1, longest=self.longest + 1)


class Reader:
    """A causal language model of full attention, with a cache of its own."""

    def __init__(self, model: CausalModel, *, rows: int, context: int) -> None:
        """Lay out the cache.

        Args:
            model: with dropout off.
            rows: conversations side by side.
            context: longest one, in tokens.

        Raises:
            JobFailed: the model has layers that look back less far than `context`.
        """
        _require_full_attention(model, context)
        self._model: Any = model
        self._device = next(model.parameters()).device
        self._cache = RowCache(rows, context)
        self._decoder = Decoder(model, context) if fits(model) else None

    def read(self, chunks: Sequence[Chunk]) -> Tensor:
        """Read chunks of different rows and lengths at once.

        Rows that begin with the same tokens have them read once, and copied.

        Returns:
            [len(chunks), vocabulary] float32 logits after each chunk's last token.
        """
        import torch

        leaders, places = _share_beginnings(chunks)
        with torch.inference_mode():
            logits = self._forward([chunks[index] for index in leaders])
            if len(leaders) == len(chunks):
                return logits
            self._copy_beginnings(chunks, leaders, places)
            return logits[torch.tensor(places, device=self._device)]

    def line(self, chunks: Sequence[Chunk]) -> Line:
        """Where rows stand once they have read these chunks."""
        import torch

        ends = [chunk.start + len(chunk.ids) for chunk in chunks]
        rows = [chunk.row for chunk in chunks]
        return Line(
            torch.tensor(rows, device=self._device),
            torch.tensor(ends, device=self._device),
            rows == list(range(self._cache.rows)),
            max(ends) + 1,
        )

    def go_on(self, line: Line, tokens: Tensor) -> tuple[Tensor, Line]:
        """Read one more token in each row.

        Args:
            line: where they stand.
            tokens: [b], one a row.

        Returns:
            [b, vocabulary] float32 logits after it, and where they stand now.
        """
        reach = self._cache.reserve(line.longest)
        positions = line.positions[:, None]
        self._cache.aim(Aim(line.rows, positions, line.everyone, reach))
        return self._logits(tokens[:, None], positions, reach, None), line.moved_on()

    def _forward(self, chunks: Sequence[Chunk]) -> Tensor:
        import torch

        device, cache = self._device, self._cache
        lengths = torch.tensor([len(chunk.ids) for chunk in chunks], device=device)
        starts = torch.tensor([chunk.start for chunk in chunks], device=device)
        width = max(len(chunk.ids) for chunk in chunks)
        ids = torch.tensor([[*c.ids, *[0] * (width - len(c.ids))] for c in chunks], device=device)
        steps = torch.arange(width, device=device)
        real = steps < lengths[:, None]
        positions = torch.where(real, starts[:, None] + steps, starts[:, None])
        line = self.line(chunks)
        reach = cache.reserve(line.longest - 1)
        places = torch.where(real, positions, cache.length)
        cache.aim(Aim(line.rows, places, line.everyone, reach))
        return self._logits(ids, positions, reach, lengths - 1)

    def _logits(self, ids: Tensor, positions: Tensor, reach: int, last: Tensor | None) -> Tensor:
        """[b, vocabulary] float32 logits after each row's last token; `last` says which it is."""
        import torch

        seen = torch.arange(reach, device=self._device) <= positions[:, None, :, None]
        if self._decoder is not None:
            hidden = self._decoder(ids, positions, seen, self._cache)
            head = self._model.get_output_embeddings()
            logits: Tensor = head(hidden[:, 0] if last is None else _at(hidden, last))
            return logits.float()
        with _logits_only_at(self._model, last):
            answer = self._model(
                input_ids=ids,
                position_ids=positions,
                attention_mask=seen,
                cache=self._cache,
                use_cache=True,
            )
        logits = answer.logits
        return logits.flatten(0, -2).float()

    def _copy_beginnings(
        self, chunks: Sequence[Chunk], leaders: Sequence[int], places: Sequence[int]
    ) -> None:
        import torch

        led = set(leaders)
        followers = [index for index in range(len(chunks)) if index not in led]
        source = [chunks[leaders[places[index]]].row for index in followers]
        target = [chunks[index].row for index in followers]
        self._cache.copy(
            torch.tensor(source, device=self._device),
            torch.tensor(target, device=self._device),
            max(len(chunks[index].ids) for index in followers),
        )


def _share_beginnings(chunks: Sequence[Chunk]) -> tuple[list[int], list[int]]:
    """Which chunks to read, and for each chunk its place among those."""
    leaders: list[int] = []
    places: list[int] = []
    seen: dict[tuple[int, ...], int] = {}
    for index, chunk in enumerate(chunks):
        place = seen.get(chunk.ids) if chunk.start == 0 else None
        if place is None:
            place = len(leaders)
            leaders.append(index)
            if chunk.start == 0:
                seen[chunk.ids] = place
        places.append(place)
    return leaders, places


@contextmanager
def _logits_only_at(model: CausalModel, last: Tensor | None) -> Iterator[None]:
    """Let the head see one hidden state a row, whatever model it is.

    Args:
        model: a causal language model.
        last: [b] position of each row's last token; None where there is only one.
    """
    if last is None:
        yield
        return
    places = last

    def select(_: Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return (_at(inputs[0], places), *inputs[1:])

    hook = model.get_output_embeddings().register_forward_pre_hook(select)
    try:
        yield
    finally:
        hook.remove()


def _at(hidden: Tensor, last: Tensor) -> Tensor:
    """[b, width] hidden states at one position a row."""
    import torch

    return hidden[torch.arange(len(last), device=last.device), last]


def _require_full_attention(model: CausalModel, context: int) -> None:
    kinds = set(getattr(model.config, "layer_types", None) or ["full_attention"])
    window = getattr(model.config, "sliding_window", None)
    if window is not None and window >= context:
        kinds.discard("sliding_attention")
    if kinds - {"full_attention"}:
        raise JobFailed(
            f"the model has layers of {', '.join(sorted(kinds))}, which cannot play within "
            f"{context} tokens; use one of full attention, or lower model.context"
        )
