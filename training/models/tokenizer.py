"""A byte-level BPE tokenizer trained on the pairs at hand: every text encodes, and comes back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from training.models.protocols import Tokenizer
from training.models.template import CHAT_TEMPLATE, END, PAD, SPECIAL_TOKENS
from trajectories.message import Message
from trajectories.pair import Pair
from trajectories.trajectory import Trajectory


def texts_of_episodes(trajectories: Iterable[Trajectory]) -> Iterator[str]:
    """Every text of every episode."""
    for one in trajectories:
        yield from _texts(one.messages, one.tools)


def texts_of(pairs: Iterable[Pair]) -> Iterator[str]:
    """Every text of every pair, a prompt once for each pair that has it."""
    for pair in pairs:
        yield from _texts((*pair.prompt, *pair.chosen, *pair.rejected), pair.tools)


def _texts(messages: Iterable[Message], tools: str) -> Iterator[str]:
    if tools:
        yield tools
    for message in messages:
        if message.reasoning:
            yield f"<think>{message.reasoning}</think>"
        if message.content or not message.tool_calls:
            yield message.content
        for call in message.tool_calls:
            yield (
                f'<tool_call>{{"name": "{call.name}", "arguments": {call.arguments}}}</tool_call>'
            )


def train_tokenizer(texts: Iterable[str], *, vocab_size: int, context: int) -> Tokenizer:
    """Train a `PreTrainedTokenizerFast`.

    All 256 bytes are in the alphabet, so there is no unknown token; nothing is normalised, so
    decoding gives the very text back. Equal texts in equal order give an equal tokenizer.

    Args:
        texts: what to train on.
        vocab_size: most tokens, specials and bytes included; fewer where the texts are few.
        context: longest sequence in tokens, noted as the tokenizer's limit.
    """
    import tokenizers
    from tokenizers import decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    bpe = tokenizers.Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        min_frequency=2,
        special_tokens=list(SPECIAL_TOKENS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bpe.train_from_iterator(texts, trainer)
    fast: Any = PreTrainedTokenizerFast
    tokenizer: Tokenizer = fast(
        tokenizer_object=bpe,
        eos_token=END,
        pad_token=PAD,
        additional_special_tokens=list(SPECIAL_TOKENS[2:]),
        model_max_length=context,
        clean_up_tokenization_spaces=False,
    )
    tokenizer.chat_template = CHAT_TEMPLATE
    return tokenizer
