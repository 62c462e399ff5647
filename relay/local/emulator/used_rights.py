"""Which rights were used: every action that a role was allowed, written down when first seen.

What is granted and never in this list is either not needed or needed by a part of AWS that the
embedded one does not play; `docs/operate/rights.md` says which.
"""

import json
from pathlib import Path
from typing import Any

from ministack.core import iam_evaluator


def watch(file: Path) -> None:
    """Append a line `{"role": …, "action": …}` for each pair that is new to this process."""
    evaluate = iam_evaluator.evaluate
    seen: set[tuple[str, str]] = set()

    def watched(context: Any, *policies: Any) -> Any:  # noqa: ANN401 - MiniStack's own types
        result = evaluate(context, *policies)
        if result.decision == "Allow" and context.principal_type == "AssumedRole":
            pair = (_role(context.principal_arn), context.action)
            if pair not in seen:
                seen.add(pair)
                _append(file, pair)
        return result

    iam_evaluator.evaluate = watched


def _role(arn: str) -> str:
    """`arn:aws:sts::<account>:assumed-role/<role>/<session>`."""
    return arn.split("/")[1]


def _append(file: Path, pair: tuple[str, str]) -> None:
    role, action = pair
    with file.open("a") as lines:
        lines.write(json.dumps({"role": role, "action": action}) + "\n")
