"""Builders: one good record of every format."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from episode_files import logged, talk
from pair_files import openai, sharegpt, trl, turn

Record = dict[str, Any]
FUNCTION = {"type": "function", "function": {"name": "find", "parameters": {"type": "object"}}}


def call(id_: str = "c1", arguments: Any = '{"q": 1}') -> Record:
    function = {"name": "find", "arguments": arguments}
    return {"id": id_, "type": "function", "function": function}


def chat(number: int = 0, **changes: Any) -> Record:
    turns = [
        turn("system", "be kind"),
        turn("user", f"question {number}"),
        {"role": "assistant", "content": None, "tool_calls": [call()]},
        {"role": "tool", "content": "found", "tool_call_id": "c1"},
        turn("assistant", f"answer {number}"),
    ]
    return {"messages": turns, "tools": [FUNCTION], **changes}


def says(role: str, value: Any) -> Record:
    return {"from": role, "value": value}


def shared(number: int = 0, **changes: Any) -> Record:
    turns = [
        says("human", f"question {number}"),
        says("function_call", '{"name": "find", "arguments": {"q": 1}}'),
        says("observation", "found"),
        says("gpt", f"answer {number}"),
    ]
    return {"conversations": turns, "system": "be kind", "tools": '[{"name": "find"}]', **changes}


def completion(number: int = 0, **changes: Any) -> Record:
    return {"prompt": f"question {number}", "completion": f"answer {number}", **changes}


def rollout(number: int = 0, **changes: Any) -> Record:
    record = {
        "example_id": number,
        "task": "math",
        "prompt": [turn("user", f"question {number}")],
        "completion": [turn("assistant", f"answer {number}")],
        "reward": 0.5,
        "is_truncated": False,
        "metrics": {"format": 1.0},
    }
    return {**record, **changes}


def transcript(number: int = 0, **changes: Any) -> Record:
    said = f"\n\nHuman: question {number}\n\nAssistant: yes?\n\nHuman: really\n\nAssistant: "
    return {"chosen": f"{said}good {number}", "rejected": f"{said}bad {number}", **changes}


def typed(number: int = 0, **changes: Any) -> Record:
    def whole(answer: str) -> list[Record]:
        text = [{"type": "text", "value": f"question {number}"}]
        parts = [{"type": "reasoning", "value": "hm"}, {"type": "text", "value": answer}]
        return [
            {"role": "user", "content": text, "loss_weight": 0.0},
            {"role": "assistant", "content": parts, "loss_weight": 1.0},
        ]

    made = {"chosen_messages": whole(f"good {number}"), "rejected_messages": whole("bad")}
    return {**made, **changes}


def nova(number: int = 0, **changes: Any) -> Record:
    use = {"toolUse": {"toolUseId": "t1", "name": "find", "input": {"q": 1}}}
    thought = {"reasoningContent": {"reasoningText": {"text": "hm"}}}
    result = {"toolResult": {"toolUseId": "t1", "content": [{"text": "found"}, {"json": {"n": 1}}]}}
    turns = [
        turn("user", [{"text": f"question {number}"}]),
        turn("assistant", [thought, use]),
        turn("user", [result]),
        turn("assistant", [{"text": f"answer {number}"}]),
    ]
    version = "bedrock-conversation-2024"
    return {"schemaVersion": version, "system": [{"text": "be kind"}], "messages": turns, **changes}


def nova_pair(number: int = 0, **changes: Any) -> Record:
    sides = [
        {"content": [{"text": f"bad {number}"}], "preferenceLabel": "non-preferred"},
        {"content": [{"text": f"good {number}"}], "preferenceLabel": "preferred"},
    ]
    turns = [
        turn("user", [{"text": f"question {number}"}]),
        {"role": "assistant", "candidates": sides},
    ]
    return {"schemaVersion": "bedrock-conversation-2024", "messages": turns, **changes}


def nova_prompt(number: int = 0, **changes: Any) -> Record:
    turns = [turn("developer", "be kind"), turn("user", f"question {number}")]
    return {"id": f"n{number}", "messages": turns, "reference_answer": {"x": number}, **changes}


def verl(number: int = 0, **changes: Any) -> Record:
    truth = {"style": "rule", "ground_truth": str(number)}
    prompt = [turn("user", f"question {number}")]
    record = {"data_source": "gsm8k", "prompt": prompt, "ability": "math", "reward_model": truth}
    return {**record, "extra_info": {"split": "train", "index": number}, **changes}


def skyrl(number: int = 0, **changes: Any) -> Record:
    spec = {"method": "rule", "ground_truth": str(number)}
    prompt = [turn("user", f"question {number}")]
    record = {"data_source": "gsm8k", "prompt": prompt, "env_class": "gsm8k", "reward_spec": spec}
    return {**record, **changes}


def prompt_alone(number: int = 0, **changes: Any) -> Record:
    return {"prompt": f"question {number}", **changes}


BUILDERS: dict[str, Callable[..., Record]] = {
    "openai_pairs": openai,
    "sharegpt_pairs": sharegpt,
    "trl_pairs": trl,
    "hh_transcripts": transcript,
    "message_pairs": typed,
    "nova_dpo": nova_pair,
    "episode_logs": logged,
    "verifiers": rollout,
    "trl_completions": completion,
    "openai_chat": chat,
    "sharegpt": shared,
    "nova_sft": nova,
    "nova_rft": nova_prompt,
    "verl_prompts": verl,
    "skyrl_prompts": skyrl,
    "trl_prompts": prompt_alone,
}
__all__ = ["BUILDERS", "FUNCTION", "Record", "call", "says", "talk"]
