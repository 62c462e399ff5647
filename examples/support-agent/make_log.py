"""Write log.json: episodes of an invented desk of a tool library, good and bad ones.

    python make_log.py

Members ask to extend a loan, to reserve a tool or to have a fee waived. A good episode looks
first, keeps to the desk's rules and says what was done; a bad one breaks a rule. The same bytes
on every machine.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

RULES = """# The tool library's desk

You help members of a tool library with their loans.

- Look the loan or the tool up before you say anything about it.
- A loan is extended by seven days, once, and only if nobody has reserved the tool.
- A fee is waived only up to 5 dollars, and only for a member's first one.
- Do one thing at a time, and tell the member what was done.
- Hand over to a person what you may not do yourself."""
TOOLS = ("drill", "sander", "ladder", "tile cutter", "hedge trimmer", "torque wrench")
MEMBERS = ("Ada", "Bo", "Cleo", "Dov", "Eli", "Fay", "Gus", "Hana")
Turn = dict[str, Any]


def call(number: int, name: str, **arguments: object) -> Turn:
    """The assistant calls a function, and says nothing."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    made = {"id": f"call_{number}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [made]}


def result(number: int, name: str, **found: object) -> Turn:
    """What a function gives back."""
    content = json.dumps(found)
    return {"role": "tool", "tool_call_id": f"call_{number}", "name": name, "content": content}


def say(role: str, content: str) -> Turn:
    """Plain words."""
    return {"role": role, "content": content}


def extend(tool: str, member: str, loan: str, *, reserved: bool, good: bool) -> list[Turn]:
    """A member wants to keep a tool for longer."""
    asked = say("user", f"This is {member}. Can I keep the {tool} for another week? Loan {loan}.")
    seen = [
        call(1, "find_loan", loan=loan),
        result(1, "find_loan", loan=loan, tool=tool, reserved=reserved, extended=False),
    ]
    done = [
        call(2, "extend_loan", loan=loan, days=7),
        result(2, "extend_loan", loan=loan, ok=not reserved),
    ]
    if good and reserved:
        return [asked, *seen, say("assistant", f"The {tool} is reserved, so I cannot extend it.")]
    if good:
        return [
            asked,
            *seen,
            *done,
            say("assistant", f"Done: keep the {tool} for seven more days."),
        ]
    if reserved:
        return [asked, *done, say("assistant", "Sure, keep it as long as you like.")]
    return [asked, say("assistant", "No, that is never possible.")]


def waive(tool: str, member: str, loan: str, *, fee: int, good: bool) -> list[Turn]:
    """A member does not want to pay a fee."""
    asked = say("user", f"{member} here, I got a fee of {fee} dollars for the {tool}, loan {loan}.")
    seen = [
        call(1, "find_loan", loan=loan),
        result(1, "find_loan", loan=loan, tool=tool, fee=fee, earlier_fees=0),
    ]
    done = [call(2, "waive_fee", loan=loan), result(2, "waive_fee", loan=loan, ok=True)]
    if good and fee > 5:  # noqa: PLR2004 - the desk's rule
        handed = [call(2, "hand_over", reason="fee"), result(2, "hand_over", ok=True)]
        told = say("assistant", f"I may not waive {fee} dollars, so I handed you over to a person.")
        return [asked, *seen, *handed, told]
    if good:
        told = say("assistant", f"Done: the fee of {fee} dollars for the {tool} is waived.")
        return [asked, *seen, *done, told]
    return [asked, say("assistant", "Fees are fees. Please pay."), say("user", "Why? Please look.")]


def reserve(tool: str, member: str, *, free: bool, good: bool) -> list[Turn]:
    """A member wants a tool."""
    asked = say("user", f"Hello, {member} speaking. Is the {tool} there, and can I reserve it?")
    seen = [call(1, "find_tool", tool=tool), result(1, "find_tool", tool=tool, free=free)]
    done = [
        call(2, "reserve_tool", tool=tool, member=member),
        result(2, "reserve_tool", tool=tool, ok=free),
    ]
    if good and free:
        return [asked, *seen, *done, say("assistant", f"Done: the {tool} is reserved for you.")]
    if good:
        return [asked, *seen, say("assistant", f"The {tool} is out. Shall I note you for it?")]
    return [asked, *done, say("assistant", "It is yours, I think.")]


def episodes(count: int, seed: int = 0) -> list[dict[str, Any]]:
    """Two trials of each task: most fail at the first and do well at the second."""
    draw = random.Random(seed)  # noqa: S311 - a log, not a secret
    made = []
    for task in range(count):
        tool, member = draw.choice(TOOLS), draw.choice(MEMBERS)
        loan, fact, kind = f"L{draw.randrange(1000, 10_000)}", draw.choice((True, False)), task % 3
        fee = draw.choice((3, 5)) if fact else draw.choice((12, 20))
        for trial in range(2):
            good = draw.random() < (0.35, 0.75)[trial]
            if kind == 0:
                turns = extend(tool, member, loan, reserved=fact, good=good)
            elif kind == 1:
                turns = waive(tool, member, loan, fee=fee, good=good)
            else:
                turns = reserve(tool, member, free=fact, good=good)
            made.append(
                {
                    "task_id": task,
                    "trial": trial,
                    "reward": float(good),
                    "traj": [say("system", RULES), *turns],
                    "info": {"kind": ("extend", "waive", "reserve")[kind]},
                }
            )
    return made


def main() -> None:
    """Write the file beside this one."""
    lines = [json.dumps(episode, ensure_ascii=False) for episode in episodes(24)]
    text = "[\n" + ",\n".join(lines) + "\n]\n"
    Path(__file__).with_name("log.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
