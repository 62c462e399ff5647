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
    from torch.nn import Linear

KINDS = ("llama", "qwen2", "qwen3")
_MOVING = ("dynamic", "longrope")
"""Rotations that depend on how long the sequence is."""


class _Norm(NamedTuple):
    weight: Tensor
    epsilon: float

    def __call__(self, x: Tensor) -> Tensor:
        from torch.nn.functional import rms_norm

        return rms_norm(x, self.weight.shape, self.weight, self.epsilon)


class _Rotation(NamedTuple):
    """Rotary positions, arXiv 2104.09864, in halves: [b, 1, q, size] each."""

    cos: Tensor
    sin: Tensor

    def __call__(self, x: Tensor) -> Tensor:
        # The second half's sign is in `sin`, so that turning the halves about is a roll.
        return (x * self.cos).addcmul_(x.roll(x.shape[-1] // 2, -1), self.sin)


class _Layer(NamedTuple):
    number: int
    before: _Norm
    query: Linear
    key: Linear
    value: Linear
    query_norm: _Norm | None
    key_norm: _Norm | None
    out: Linear
    between: _Norm
    gate: Linear
    up: Linear
    down: Linear
    bend: Callable[[Tensor], Tensor]
    size: int
    scaling: float


class Decoder:
    """A model's layers, from token ids to the last hidden state."""

    def __init__(self, model: Any, context: int) -> None:  # noqa: ANN401
        """Take a model for which `fits`.

        Args:
            model: a causal language model of transformers; its weights are not copied.
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
    shape = (*x.shape[:2], -1, layer.size)
    query, key = layer.query(x).view(shape), layer.key(x).view(shape)
    if layer.query_norm is not None and layer.key_norm is not None:
        query, key = layer.query_norm(query), layer.key_norm(key)
    value = layer.value(x).view(shape).transpose(1, 2)
    query, key = rotate(query.transpose(1, 2)), rotate(key.transpose(1, 2))
    keys, values = cache.update(key, value, layer.number)
    made: Tensor = layer.out(attend(query, keys, values, layer.scaling))
    return made


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
    return all(type(part) is Linear for layer in model.model.layers for part in _linears(layer))


def _linears(layer: Any) -> Iterator[Any]:  # noqa: ANN401
    attention, perceptron = layer.self_attn, layer.mlp
    yield from (attention.q_proj, attention.k_proj, attention.v_proj, attention.o_proj)
    yield from (perceptron.gate_proj, perceptron.up_proj, perceptron.down_proj)


def _layer(number: int, layer: Any) -> _Layer:  # noqa: ANN401
    query, key, value, out, gate, up, down = _linears(layer)
    attention = layer.self_attn
    return _Layer(
        number=number,
        before=_norm(layer.input_layernorm),
        query=query,
        key=key,
        value=value,
        query_norm=_norm(attention.q_norm) if hasattr(attention, "q_norm") else None,
        key_norm=_norm(attention.k_norm) if hasattr(attention, "k_norm") else None,
        out=out,
        between=_norm(layer.post_attention_layernorm),
        gate=gate,
        up=up,
        down=down,
        bend=layer.mlp.act_fn,
        size=attention.head_dim,
        scaling=attention.scaling,
    )


def _norm(module: Any) -> _Norm:  # noqa: ANN401
    return _Norm(module.weight, module.variance_epsilon)
