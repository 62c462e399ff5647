"""Every kind of model plays as transformers computes it, by our own pass or by theirs."""

from typing import Any

import pytest
import torch
from played import CONTEXT, plans, policy, tokenizer

from contracts.errors import JobFailed
from training.environments.guess_number import GuessNumber
from training.rollouts.decoder import Decoder, fits
from training.rollouts.playing import play
from training.rollouts.reading import Chunk, Reader

SHAPE = {
    "vocab_size": 300,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 128,
}
OURS = [
    ("Qwen3", {"head_dim": 16}),
    ("Qwen2", {}),
    ("Llama", {"num_key_value_heads": 1, "attention_bias": True, "mlp_bias": True}),
    ("Llama", {"rope_parameters": {"rope_type": "linear", "factor": 2.0, "rope_theta": 500.0}}),
]
THEIRS = [
    ("GPTNeoX", {}),
    ("Phi3", {"pad_token_id": 0}),
    ("Olmo2", {}),
    ("Llama", {"rope_parameters": {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 500.0}}),
]


def made(kind: str, **changes: Any) -> Any:
    """A random model whose weights are spread enough that tokens differ."""
    import transformers

    torch.manual_seed(0)
    config = getattr(transformers, f"{kind}Config")(**SHAPE | changes)
    model = getattr(transformers, f"{kind}ForCausalLM")(config).eval()
    for weight in model.parameters():
        torch.nn.init.normal_(weight, 1.0 if weight.ndim == 1 else 0.0, 0.15)
    return model


def off_by(model: Any, context: int = 100) -> float:
    """Largest difference of logits over ragged reading with carried caches, all rows and some."""
    reader = Reader(model, rows=4, context=context)
    draw = torch.Generator().manual_seed(1)
    texts = torch.randint(3, 300, (4, context), generator=draw).tolist()
    read = [0] * 4
    worst = 0.0
    with torch.inference_mode():
        for cut in ([7, 1, 12, 3], [1, 5, 0, 2], [0, 1, 60, 9], [1, 1, 1, 1], [3, 20, 2, 0]):
            chunks = [
                Chunk(row, read[row], tuple(texts[row][read[row] : read[row] + more]))
                for row, more in enumerate(cut)
                if more
            ]
            logits = reader.read(chunks)
            line = reader.line(chunks)
            rows = [chunk.row for chunk in chunks]
            read = [start + more for start, more in zip(read, cut, strict=True)]
            worst = max(worst, _gap(model, texts, read, rows, logits))
            logits, line = reader.go_on(line, torch.tensor([texts[row][read[row]] for row in rows]))
            for row in rows:
                read[row] += 1
            worst = max(worst, _gap(model, texts, read, rows, logits))
    return worst


def _gap(
    model: Any, texts: list[list[int]], read: list[int], rows: list[int], logits: torch.Tensor
) -> float:
    whole = [model(input_ids=torch.tensor([texts[row][: read[row]]])).logits[0, -1] for row in rows]
    expected = torch.log_softmax(torch.stack(whole), dim=-1)
    return float((torch.log_softmax(logits, dim=-1) - expected).abs().max())


@pytest.mark.parametrize(("kind", "changes"), OURS)
def test_our_pass_computes_what_theirs_does(kind: str, changes: dict[str, Any]) -> None:
    model = made(kind, **changes)
    assert fits(model)
    assert off_by(model) <= 1e-5


@pytest.mark.parametrize(("kind", "changes"), THEIRS)
def test_models_of_other_kinds_play_by_transformers_own_pass(
    kind: str, changes: dict[str, Any]
) -> None:
    model = made(kind, **changes)
    assert not fits(model)
    assert off_by(model) <= 1e-5


def test_a_model_whose_layers_were_replaced_is_not_taken_for_a_plain_one() -> None:
    class Adapted(torch.nn.Linear):
        """What an adapter library puts in a layer's place."""

    model = made("Llama")
    assert fits(model)
    model.model.layers[1].mlp.up_proj = Adapted(32, 48)
    assert not fits(model)


def test_both_passes_play_the_same_games(monkeypatch: pytest.MonkeyPatch) -> None:
    def games() -> list[tuple[list[int], float]]:
        episodes = play(
            policy(),
            tokenizer(),
            GuessNumber,
            plans(24),
            temperature=1.0,
            max_turns=5,
            max_new_tokens=4,
            context=CONTEXT,
        )
        return sorted((episode.ids, episode.reward) for episode in episodes)

    ours = games()
    monkeypatch.setattr("training.rollouts.reading.fits", lambda model: False)
    monkeypatch.setattr(Decoder, "__call__", lambda *_: pytest.fail("ours was used"))
    assert games() == ours


def test_weights_that_change_between_two_sets_of_games_are_seen() -> None:
    model = made("Qwen3")
    first = Reader(model, rows=1, context=32).read([Chunk(0, 0, (5, 6, 7))])
    with torch.no_grad():
        model.model.layers[0].mlp.up_proj.weight.mul_(2)
    second = Reader(model, rows=1, context=32).read([Chunk(0, 0, (5, 6, 7))])
    assert (first - second).abs().max() > 0.01
    assert off_by(model) <= 1e-5


def test_layers_that_look_back_less_far_than_a_game_are_refused() -> None:
    sliding = {"use_sliding_window": True, "max_window_layers": 1, "sliding_window": 16}
    model = made("Qwen2", **sliding)
    Reader(model, rows=1, context=16)
    with pytest.raises(JobFailed, match=r"lower model\.context"):
        Reader(model, rows=1, context=17)
