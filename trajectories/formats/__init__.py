"""Every format that can be read, by name."""

from __future__ import annotations

from trajectories.formats import episode_logs, openai_pairs, sharegpt_pairs, trl_pairs
from trajectories.formats.record_format import RecordFormat

FORMATS: dict[str, RecordFormat] = {
    form.name: form
    for form in (
        openai_pairs.FORMAT,
        sharegpt_pairs.FORMAT,
        trl_pairs.FORMAT,
        episode_logs.FORMAT,
    )
}
