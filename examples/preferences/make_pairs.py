"""Write pairs.jsonl: what a support desk's reviewers preferred, made from phrases.json.

An answer is preferred when it names the next step and when it is done, for what was asked. The
other answer lacks the step, or the time, or both, or belongs to another question. Openers and
closers are shared and the sides' lengths are balanced, so neither a single word nor the length
gives the preferred one away. The same phrases give the same bytes on every machine.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PAIRS = 640
FAULTS = ("vague", "vague", "vague", "no_time", "no_time", "no_step", "no_step", "elsewhere")
HERE = Path(__file__).parent


class Picker:
    """Picks from lists by digest: unlike `random`, alike in every version of Python."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._picks = 0

    def number(self, below: int) -> int:
        """The next number within 0..below-1."""
        self._picks += 1
        text = f"{self._seed}/{self._picks}".encode()
        return int.from_bytes(hashlib.sha256(text).digest()[:8], "big") % below

    def one(self, items: Sequence[Any]) -> Any:  # noqa: ANN401 - phrases are texts or topics
        """The next item."""
        return items[self.number(len(items))]


def question(pick: Picker, phrases: dict[str, Any], topic: dict[str, Any]) -> str:
    """What the customer writes."""
    text: str = pick.one(phrases["greetings"]) + pick.one(topic["questions"])
    context: str = pick.one(phrases["contexts"])
    return text[0].upper() + text[1:] + context


def answer(pick: Picker, phrases: dict[str, Any], topic: dict[str, Any], fault: str) -> str:
    """What the desk replies; with an empty fault, the step and the time."""
    step = pick.one(topic["steps"])
    if fault in {"vague", "no_step"}:
        step = pick.one(topic["vague"] if pick.number(2) else phrases["stalls"])
    outcome = pick.one(topic["outcomes"])
    slot = "quick" if "{quick}" in outcome else "slow"
    times = phrases["hazy" if fault in {"vague", "no_time"} else slot]
    outcome = outcome.replace(f"{{{slot}}}", pick.one(times))
    return f"{pick.one(phrases['openers'])}{step} {outcome}{pick.one(phrases['closers'])}"


def balanced(pick: Picker, phrases: dict[str, Any], topic: dict[str, Any], fault: str) -> list[str]:
    """A preferred and another answer; a throw decides beforehand which is the longer one."""
    other_topics = [other for other in phrases["topics"] if other is not topic]
    chosen_longer = pick.number(2) == 0
    while True:
        chosen = answer(pick, phrases, topic, "")
        about = pick.one(other_topics) if fault == "elsewhere" else topic
        rejected = answer(pick, phrases, about, fault)
        if len(chosen) != len(rejected) and (len(chosen) > len(rejected)) == chosen_longer:
            return [chosen, rejected]


def make_pairs(phrases: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Make pairs in TRL's explicit conversational form, each prompt once."""
    pick = Picker("support desk")
    made: dict[str, dict[str, Any]] = {}
    while len(made) < count:
        topic = phrases["topics"][len(made) % len(phrases["topics"])]
        prompt = question(pick, phrases, topic)
        if prompt in made:
            continue
        chosen, rejected = balanced(pick, phrases, topic, pick.one(FAULTS))
        made[prompt] = {
            "prompt": [{"role": "user", "content": prompt}],
            "chosen": [{"role": "assistant", "content": chosen}],
            "rejected": [{"role": "assistant", "content": rejected}],
        }
    return list(made.values())


def main() -> None:
    """Write pairs.jsonl beside this script."""
    phrases = json.loads((HERE / "phrases.json").read_text(encoding="utf-8"))
    lines = [json.dumps(pair, ensure_ascii=False) for pair in make_pairs(phrases, PAIRS)]
    (HERE / "pairs.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
