"""Judge a published policy without Relay: plain transformers, nothing else of this project.

    python judge.py FOLDER LOG [--held-out-share 0.3] [--good-reward 0.5]

FOLDER is what `from_pretrained` loads, LOG a JSON array of {task_id, reward, traj}. Prints, as
one JSON object, how likely what the good and the bad episodes of held-out tasks say is to the
policy: the mean log-probability a token that the assistant says, in nats, averaged over episodes.
Episodes that are longer than the policy's context are left out, and counted.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


def is_held_out(task: object, share: float) -> bool:
    """The split that training used: by the digest of the task's name."""
    return int(hashlib.sha256(str(task).encode()).hexdigest()[:16], 16) < share * 2**64


@torch.inference_mode()
def likelihood(model: Any, tokenizer: Any, turns: list[dict[str, Any]]) -> float | None:  # noqa: ANN401
    """Mean log-probability of what the assistant says, in nats a token; None if too long."""
    made = tokenizer.apply_chat_template(
        turns, return_dict=True, return_assistant_tokens_mask=True, return_tensors="pt"
    )
    ids, said = made["input_ids"], torch.as_tensor(made["assistant_masks"]).bool().reshape(1, -1)
    if ids.shape[1] > model.config.max_position_embeddings:
        return None
    logits = model(input_ids=ids).logits[0, :-1].float()
    scores = logits.log_softmax(-1).gather(1, ids[0, 1:, None])[:, 0]
    return float(scores[said[0, 1:]].mean())


def judge(folder: Path, log: Path, share: float, good_reward: float) -> dict[str, float]:
    """Likelihoods of the held-out episodes of a file, good and bad."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    episodes = [
        one for one in json.loads(log.read_text("utf-8")) if is_held_out(one["task_id"], share)
    ]
    found: dict[bool, list[float]] = {True: [], False: []}
    for one in episodes:
        value = likelihood(model, tokenizer, one["traj"])
        if value is not None:
            found[one["reward"] >= good_reward].append(value)
    if not found[True]:
        raise SystemExit(f"{log} has no good held-out episode that fits the policy's context")
    verdict = {
        "likelihood": sum(found[True]) / len(found[True]),
        "good": len(found[True]),
        "bad": len(found[False]),
        "too_long": len(episodes) - len(found[True]) - len(found[False]),
    }
    if found[False]:
        verdict["likelihood_of_bad"] = sum(found[False]) / len(found[False])
    return verdict


def main() -> None:
    """Read the command line and print the verdict."""
    parser = argparse.ArgumentParser(description="Likelihood of held-out episodes to a policy.")
    parser.add_argument("folder", type=Path, help="the policy: a folder for from_pretrained")
    parser.add_argument("log", type=Path, help="log.json")
    parser.add_argument("--held-out-share", type=float, default=0.3, help="as in pipeline.yaml")
    parser.add_argument("--good-reward", type=float, default=0.5, help="as in pipeline.yaml")
    chosen = parser.parse_args()
    verdict = judge(chosen.folder, chosen.log, chosen.held_out_share, chosen.good_reward)
    print(json.dumps(verdict))


if __name__ == "__main__":
    main()
