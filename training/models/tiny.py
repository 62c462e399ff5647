"""Version 0 of a pipeline without a model of its own: small, random, and the same every time."""

from __future__ import annotations

import math
from typing import cast

from contracts.pipeline import TinyModel
from training.models.protocols import CausalModel, Tokenizer

_SPREAD = 0.4
"""Deviation of the first weights times the root of the width: 0.05 at 64, 0.0125 at 1024.

The usual 0.02 suits models of a thousand and more; a narrow one would start almost linear."""


def make_tiny(shape: TinyModel, tokenizer: Tokenizer) -> CausalModel:
    """A Qwen3 model with tied embeddings, in float32.

    Its weights come from torch's generator: seed it first. The embedding has a row for each
    token that the tokenizer really has.

    Args:
        shape: widths, depth and context.
        tokenizer: as `train_tokenizer` makes it.
    """
    from transformers.models.qwen3.configuration_qwen3 import Qwen3Config
    from transformers.models.qwen3.modeling_qwen3 import Qwen3ForCausalLM

    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=shape.hidden_size,
        intermediate_size=3 * shape.hidden_size,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.heads,
        head_dim=shape.hidden_size // shape.heads,
        max_position_embeddings=shape.context,
        tie_word_embeddings=True,
        initializer_range=_SPREAD / math.sqrt(shape.hidden_size),
        use_cache=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    return cast(CausalModel, Qwen3ForCausalLM(config))
