"""The forward pass of Llama-like models, with nothing in it that playing doesn't need.

transformers' own pass is written to be read and hooked into; for a small model that costs as much
as the arithmetic. This one works on the very same weights, and is held to the other by a test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from training.rollouts.row_cache import RowCache

if TYPE_CHECKING:
    from torch import Tensor

KINDS = ("llama", "qwen2", "qwen3")
_MOVING = ("dynamic", "longrope")
"""Rotations that depend on how long the sequence is."""


class _Norm(NamedTuple):
    """Root mean square norm over the last axis, arXiv 1910.07467."""

    weight: Tensor
    epsilon: float

    def __call__(self, x: Tensor) -> Tensor:
        import torch

        return torch.rms_norm(x, x.shape[-1:], None, self.epsilon).mul_(self.weight)


class _Map(NamedTuple):
    """A linear map: [out, in], and perhaps [out]."""

    weight: Tensor
    bias: Tensor | None

    def __call__(self, x: Tensor) -> Tensor:
        from torch.nn.functional import linear

        return linear(x, self.weight, self.bias)


class _Rotation(NamedTuple):
    """Rotary positions, arXiv 2104.09864, in halves: [b, 1, q, size] each."""

    cos: Tensor
    sin: Tensor

    def __call__(self, x: Tensor) -> Tensor:
        # The second half's sign is in `sin`, so that turning the halves about is a roll.
        return (x * self.cos).addcmul_(x.roll(x.shape[-1] // 2, -1), self.sin)


class _Layer(NamedTuple):
    """One layer; queries, keys and values are made by one map, as so many heads in this order."""

    number: int
    before: _Norm
    heads: _Map
    heads_norm: _Norm | None
    out: _Map
    between: _Norm
    gate: _Map
    up: _Map
    down: _Map
    bend: Callable[[Tensor], Tensor]
    queries: int
    keys: int
    size: int
    scaling: float


class Decoder:
    """A model's layers, from token ids to the last hidden state."""

    def __init__(self, model: Any, context: int) -> None:  # noqa: ANN401
        """Take a model for which `fits`.

        Args:
            model: a causal language model of transformers; the weights that make queries, keys
                and values are copied, so it must not change.
            context: most positions.
        """
        import torch

        base = model.model
        self._embed: Tensor = base.embed_tokens.weight
        self._layers = [_layer(number, one) for number, one in enumerate(base.layers)]
        self._last = _norm(base.norm)
        positions = torch.arange(context, device=self._embed.device)[None]
        with torch.inference_mode():
            cos, sin = (part[0] for part in base.rotary_emb(self._embed[:1, None], positions))
            half = sin.shape[-1] // 2
            self._cos, self._sin = cos, torch.cat((-sin[:, :half], sin[:, half:]), dim=-1)

    def __call__(self, ids: Tensor, positions: Tensor, seen: Tensor, cache: RowCache) -> Tensor:
        """Read tokens.

        Args:
            ids: [b, q].
            positions: [b, q].
            seen: [b, 1, q, reach] bool: which of the cache's places each token looks at.
            cache: aimed at where they go.

        Returns:
            [b, q, width] hidden states, ready for the head.
        """
        from torch.nn.functional import embedding

        rotate = _Rotation(self._cos[positions][:, None], self._sin[positions][:, None])
        hidden = embedding(ids, self._embed)
        attend = _attending(seen)
        for layer in self._layers:
            hidden = hidden + _attention(layer, layer.before(hidden), rotate, attend, cache)
            x = layer.between(hidden)
            hidden = hidden + layer.down(layer.bend(layer.gate(x)) * layer.up(x))
        return self._last(hidden)


_Attend = Callable[["Tensor", "Tensor", "Tensor", float], "Tensor"]


def _attention(
    layer: _Layer, x: Tensor, rotate: _Rotation, attend: _Attend, cache: RowCache
) -> Tensor:
    heads = layer.heads(x).view(*x.shape[:2], -1, layer.size)
    turned = heads[:, :, : -layer.keys]
    if layer.heads_norm is not None:
        turned = layer.heads_norm(turned)
    turned = rotate(turned.transpose(1, 2))
    query, key = turned[:, : layer.queries], turned[:, layer.queries :]
    value = heads[:, :, -layer.keys :].transpose(1, 2)
    keys, values = cache.update(key, value, layer.number)
    return layer.out(attend(query, keys, values, layer.scaling))


def _attending(seen: Tensor) -> _Attend:
    """Attention for tokens that see these places; heads that share keys are taken together."""
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    alone = seen.shape[2] == 1
    shut = torch.zeros(seen.shape, device=seen.device).masked_fill_(~seen, float("-inf"))

    def attend(query: Tensor, keys: Tensor, values: Tensor, scaling: float) -> Tensor:
        rows, heads, tokens, size = query.shape
        shared = keys.shape[1]
        grouped = query.reshape(rows, shared, heads // shared * tokens, size)
        if alone:
            # One token a row: as two products, which a CPU does faster than the fused kernel.
            weights = torch.add(shut, grouped @ keys.transpose(2, 3), alpha=scaling)
            made = torch.softmax(weights, dim=-1) @ values
        else:
            mask = seen.repeat(1, 1, heads // shared, 1)
            made = scaled_dot_product_attention(
                grouped, keys, values, attn_mask=mask, scale=scaling
            )
        joined: Tensor = made.view(rows, heads, tokens, -1)
        return joined.transpose(1, 2).flatten(2)

    return attend


def fits(model: Any) -> bool:  # noqa: ANN401
    """Whether a model is one that `Decoder` computes: plain layers of a known kind."""
    from torch.nn import Linear

    config = model.config
    rotation = getattr(config, "rope_parameters", None) or {}
    if config.model_type not in KINDS or rotation.get("rope_type") in _MOVING:
        return False
    if type(model).__name__ != f"{type(config).__name__.removesuffix('Config')}ForCausalLM":
        return False
    layers = [list(_linears(layer)) for layer in model.model.layers]
    return all(
        all(type(part) is Linear for part in parts)
        and len({part.bias is None for part in parts[:3]}) == 1
        for parts in layers
    )


def _linears(layer: Any) -> Iterator[Any]:  # noqa: ANN401
    attention, perceptron = layer.self_attn, layer.mlp
    yield from (attention.q_proj, attention.k_proj, attention.v_proj, attention.o_proj)
    yield from (perceptron.gate_proj, perceptron.up_proj, perceptron.down_proj)


def _layer(number: int, layer: Any) -> _Layer:  # noqa: ANN401
    query, key, value, out, gate, up, down = (_Map(one.weight, one.bias) for one in _linears(layer))
    attention = layer.self_attn
    size: int = attention.head_dim
    queries, keys = len(query.weight) // size, len(key.weight) // size
    return _Layer(
        number=number,
        before=_norm(layer.input_layernorm),
        heads=_joined(query, key, value),
        heads_norm=_heads_norm(attention, queries, keys),
        out=out,
        between=_norm(layer.post_attention_layernorm),
        gate=gate,
        up=up,
        down=down,
        bend=layer.mlp.act_fn,
        queries=queries,
        keys=keys,
        size=size,
        scaling=attention.scaling,
    )


def _joined(*maps: _Map) -> _Map:
    import torch

    biases = [one.bias for one in maps if one.bias is not None]
    with torch.no_grad():
        weight = torch.cat([one.weight for one in maps])
        return _Map(weight, torch.cat(biases) if biases else None)


def _heads_norm(attention: Any, queries: int, keys: int) -> _Norm | None:  # noqa: ANN401
    """Norms of queries and keys as one: [queries + keys, size] weights."""
    import torch

    if not hasattr(attention, "q_norm"):
        return None
    query, key = _norm(attention.q_norm), _norm(attention.k_norm)
    with torch.no_grad():
        weight = torch.cat((query.weight.expand(queries, -1), key.weight.expand(keys, -1)))
    return _Norm(weight, query.epsilon)


def _norm(module: Any) -> _Norm:  # noqa: ANN401
    return _Norm(module.weight, module.variance_epsilon)
