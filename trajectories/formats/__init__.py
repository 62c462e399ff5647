"""Every preference format that can be read, by name."""

from __future__ import annotations

from trajectories.formats import openai_pairs, sharegpt_pairs, trl_pairs
from trajectories.formats.pair_format import PairFormat

FORMATS: dict[str, PairFormat] = {
    form.name: form for form in (openai_pairs.FORMAT, sharegpt_pairs.FORMAT, trl_pairs.FORMAT)
}
