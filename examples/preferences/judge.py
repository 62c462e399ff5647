"""Judge a published policy without Relay: plain transformers, nothing else of this project.

    python judge.py FOLDER PAIRS [--held-out-share 0.25]

FOLDER is what `from_pretrained` loads, PAIRS a JSON Lines file of prompt, chosen and rejected
as lists of messages. Prints, as one JSON object, in how many of the held-out pairs the chosen
answer is the likelier one per token, with the 95 % Wilson interval of that share.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

SIDES = ("prompt", "chosen", "rejected")


def is_held_out(prompt: list[dict[str, str]], share: float) -> bool:
    """The split that training used: by the digest of the prompt's canonical JSON."""
    text = json.dumps(prompt, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return int(hashlib.sha256(text.encode()).hexdigest()[:16], 16) < share * 2**64


def encode(tokenizer: Any, messages: list[dict[str, str]], *, asks: bool) -> list[int]:  # noqa: ANN401
    """Token ids of a conversation; `asks` adds the beginning of the assistant's turn."""
    text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=asks)
    ids: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
    return ids


@torch.inference_mode()
def log_probability(
    model: Any,  # noqa: ANN401 - transformers does not type its classes
    tokenizer: Any,  # noqa: ANN401
    prompt: list[dict[str, str]],
    answer: list[dict[str, str]],
) -> float:
    """Mean log-probability of the answer's tokens given the prompt, in nats."""
    asked = encode(tokenizer, prompt, asks=True)
    whole = encode(tokenizer, prompt + answer, asks=False)
    if whole[: len(asked)] != asked:
        raise SystemExit("the chat template does not keep the prompt as the answer's beginning")
    logits = model(input_ids=torch.tensor([whole])).logits[0, :-1].float()
    scores = logits.log_softmax(-1)[range(len(whole) - 1), whole[1:]]
    return float(scores[len(asked) - 1 :].mean())


def judge(folder: Path, pairs: Path, share: float) -> dict[str, float]:
    """Accuracy over the held-out pairs of a file."""
    if not (folder / "config.json").is_file():
        raise SystemExit(f"{folder} holds no policy; `relay policies NAME --download 1 {folder}`")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    with pairs.open(encoding="utf-8") as lines:
        found = list(map(json.loads, lines))
    if not all(isinstance(pair[side], list) for pair in found for side in SIDES):
        raise SystemExit(f"{pairs} has text where this judge reads lists of messages")
    held_out = [pair for pair in found if is_held_out(pair["prompt"], share)]
    if not held_out:
        raise SystemExit(f"{pairs} has no held-out pair at a share of {share:g}")
    right = sum(
        log_probability(model, tokenizer, pair["prompt"], pair["chosen"])
        > log_probability(model, tokenizer, pair["prompt"], pair["rejected"])
        for pair in held_out
    )
    low, high = wilson(right, len(held_out))
    return {
        "accuracy": right / len(held_out),
        "low": low,
        "high": high,
        "right": right,
        "pairs": len(held_out),
    }


def wilson(right: int, of: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's 95 % interval of a share (E. B. Wilson, 1927)."""
    share, weight = right / of, z * z / of
    centre = (share + weight / 2) / (1 + weight)
    reach = z * math.sqrt(share * (1 - share) / of + weight / (4 * of)) / (1 + weight)
    return centre - reach, centre + reach


def main() -> None:
    """Read the command line and print the verdict."""
    parser = argparse.ArgumentParser(description="Held-out pair accuracy of a published policy.")
    parser.add_argument("folder", type=Path, help="the policy: a folder for from_pretrained")
    parser.add_argument("pairs", type=Path, help="pairs.jsonl")
    parser.add_argument("--held-out-share", type=float, default=0.25, help="as in pipeline.yaml")
    chosen = parser.parse_args()
    print(json.dumps(judge(chosen.folder, chosen.pairs, chosen.held_out_share)))


if __name__ == "__main__":
    main()
