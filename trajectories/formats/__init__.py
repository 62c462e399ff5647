"""Every format that can be read, by name."""

from __future__ import annotations

from trajectories.formats import (
    completions,
    episode_logs,
    hh_transcripts,
    message_pairs,
    nova,
    openai_chat,
    openai_pairs,
    prompts,
    sharegpt,
    sharegpt_pairs,
    trl_pairs,
)
from trajectories.formats.record_format import RecordFormat

FORMATS: dict[str, RecordFormat] = {
    form.name: form
    for form in (
        openai_pairs.FORMAT,
        sharegpt_pairs.FORMAT,
        trl_pairs.FORMAT,
        hh_transcripts.FORMAT,
        message_pairs.FORMAT,
        nova.DPO,
        episode_logs.FORMAT,
        completions.VERIFIERS,
        completions.TRL,
        openai_chat.FORMAT,
        sharegpt.FORMAT,
        nova.SFT,
        prompts.NOVA,
        prompts.VERL,
        prompts.SKYRL,
        prompts.TRL,
    )
}
