"""A pipeline's YAML file: read strictly, every problem with its line. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from typing import Any

import yaml
from pydantic import ValidationError

from contracts.misfit import Misfit
from contracts.model import Contract
from contracts.pipeline import Pipeline

FILE_BYTES_MAX = 256 * 1024
_SHOULD_BE = "input should be "
_KEPT_TO_PLAIN = {
    yaml.TagToken: "tags are not allowed: write the plain value",
    yaml.AnchorToken: "anchors are not allowed: write the value out",
    yaml.AliasToken: "aliases are not allowed: write the value out",
}


class FileProblem(Contract):
    """One thing that is wrong with a file; line and column count from 1."""

    line: int
    column: int
    field: str
    problem: str

    def __str__(self) -> str:
        """`line:column: field: problem`."""
        field = f"{self.field}: " if self.field else ""
        return f"{self.line}:{self.column}: {field}{self.problem}"


def read_pipeline(text: str) -> Pipeline | list[FileProblem]:
    """The pipeline that a file describes, or all that is wrong with it."""
    if len(text.encode()) > FILE_BYTES_MAX:
        return [FileProblem(line=1, column=1, field="", problem="the file is over 256 KiB")]
    try:
        return _read(text)
    except RecursionError:
        return [FileProblem(line=1, column=1, field="", problem="it is nested too deeply")]


def _read(text: str) -> Pipeline | list[FileProblem]:
    try:
        problems = list(_fancy(text))
        root = None if problems else yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        return [_syntax(error)]
    if problems:
        return problems
    if not isinstance(root, yaml.MappingNode):
        return [_at(root, "", "the file must be a mapping of fields, as in `name: my-pipeline`")]
    problems = list(_duplicates(root, ""))
    if problems:
        return problems
    return _validated(root)


def problem_of(text: str, field: str, problem: str) -> FileProblem:
    """A problem that was found later, with the place of its field.

    Args:
        text: of a file that could be read as a pipeline.
        field: its path, with dots; the nearest part of it that the file has gives the place.
        problem: what is wrong with it.
    """
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    node = root and _find(root, field.split("."), "")[0]
    return _at(node, field, problem)


def _validated(root: yaml.MappingNode) -> Pipeline | list[FileProblem]:
    loader = yaml.SafeLoader("")
    try:
        value = loader.construct_document(root)
        return Pipeline.model_validate(value)
    except ValidationError as error:
        items = error.errors(include_url=False)
        found = [_of_field(root, item) for item in items if not _follows_from_others(item, items)]
        return sorted(_merged(found), key=lambda problem: (problem.line, problem.column))
    except (yaml.YAMLError, ValueError) as error:
        return [_at(root, "", str(error))]
    finally:
        loader.dispose()


def _follows_from_others(item: Any, items: Sequence[Any]) -> bool:  # noqa: ANN401
    """A list is also called too short when its elements are faulty."""
    loc = item["loc"]
    return item["type"] == "too_short" and any(
        other["loc"][: len(loc)] == loc and len(other["loc"]) > len(loc) for other in items
    )


def _fancy(text: str) -> Iterator[FileProblem]:
    for token in yaml.scan(text, Loader=yaml.SafeLoader):
        if words := _KEPT_TO_PLAIN.get(type(token)):
            mark = token.start_mark
            yield FileProblem(line=mark.line + 1, column=mark.column + 1, field="", problem=words)


def _duplicates(node: yaml.Node, path: str) -> Iterator[FileProblem]:
    if isinstance(node, yaml.SequenceNode):
        for index, child in enumerate(node.value):
            yield from _duplicates(child, _joined(path, index))
    if not isinstance(node, yaml.MappingNode):
        return
    seen: dict[str, int] = {}
    for key, child in node.value:
        field = _joined(path, key.value)
        if not isinstance(key, yaml.ScalarNode):
            yield _at(key, path, "a field's name must be plain text")
            continue
        if key.value in seen:
            yield _at(key, field, f"given a second time; first on line {seen[key.value]}")
        seen.setdefault(key.value, key.start_mark.line + 1)
        yield from _duplicates(child, field)


def _merged(found: Sequence[FileProblem]) -> Iterator[FileProblem]:
    """What a field of several kinds is told for each kind that it is not, told once."""
    told: dict[FileProblem, list[str]] = {}
    for one in found:
        words = told.setdefault(one.model_copy(update={"problem": ""}), [])
        words += [] if one.problem in words else [one.problem]
    for place, words in told.items():
        wanted = [one.removeprefix(_SHOULD_BE).partition(", not ") for one in words]
        parts = ", ".join(one for one, _, _ in wanted[:-1]) + f" or {wanted[-1][0]}"
        several = f"{_SHOULD_BE}{parts}{''.join(wanted[0][1:])}"
        yield place.model_copy(update={"problem": several if len(words) > 1 else words[0]})


def _of_misfit(root: yaml.MappingNode, loc: Sequence[int | str], misfit: Misfit) -> FileProblem:
    """The field that a check across fields names; where it is left out, what should hold it."""
    within = [int(step) if step.isdigit() else step for step in misfit.field.split(".")]
    path = [*loc, *within]
    node, steps = _find(root, path, "")
    if not steps or steps[-1] != path[-1]:
        steps = [*_find(root, loc, "")[1], *within]
    field = ".".join(str(step) for step in steps)
    return _at(node, field, str(misfit).removeprefix(f"{field} "))


def _of_field(root: yaml.MappingNode, item: Any) -> FileProblem:  # noqa: ANN401 - pydantic's item
    misfit = item.get("ctx", {}).get("error")
    if isinstance(misfit, Misfit):
        return _of_misfit(root, item["loc"], misfit)
    node, steps = _find(root, item["loc"], item["type"])
    field = ".".join(str(step) for step in steps)
    return _at(node, field, _words(item, str(item["loc"][-1]) if item["loc"] else ""))


def _words(item: Any, name: str) -> str:  # noqa: ANN401 - pydantic's item
    if item["type"] == "missing":
        return "is missing"
    if item["type"] == "union_tag_not_found":
        return f"{item['ctx']['discriminator'].strip(chr(39))} is missing"
    if item["type"] == "extra_forbidden":
        close = difflib.get_close_matches(name, _known_fields(), n=1)
        return "is not a field" + (f"; did you mean {close[0]}?" if close else "")
    said: str = item["msg"].removeprefix("Value error, ")
    given = item["input"]
    shown = f", not {given!r}" if isinstance(given, str | int | float) else ""
    return f"{said[:1].lower()}{said[1:]}{shown}"


def _known_fields() -> list[str]:
    schema = Pipeline.model_json_schema()
    parts = [schema, *schema.get("$defs", {}).values()]
    return sorted({name for part in parts for name in part.get("properties", {})})


def _find(
    root: yaml.Node, loc: Sequence[int | str], kind: str
) -> tuple[yaml.Node, list[int | str]]:
    """The node of a field, or of what should hold it; steps that name a union's branch are none."""
    node, steps = root, []
    for number, step in enumerate(loc):
        last = number == len(loc) - 1
        child = _child(node, step, key=last and kind == "extra_forbidden")
        if child is not None:
            node = child
        if child is not None or (last and kind == "missing"):
            steps.append(step)
    return node, steps


def _child(node: yaml.Node, step: int | str, *, key: bool) -> yaml.Node | None:
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int):
        items: list[yaml.Node] = node.value
        return items[step] if step < len(items) else None
    if isinstance(node, yaml.MappingNode):
        pairs: list[tuple[yaml.Node, yaml.Node]] = node.value
        for name, value in pairs:
            if name.value == step:
                return name if key else value
    return None


def _at(node: yaml.Node | None, field: str, problem: str) -> FileProblem:
    line = node.start_mark.line + 1 if node else 1
    column = node.start_mark.column + 1 if node else 1
    return FileProblem(line=line, column=column, field=field, problem=problem)


def _syntax(error: yaml.YAMLError) -> FileProblem:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error)
    return FileProblem(
        line=mark.line + 1 if mark else 1,
        column=mark.column + 1 if mark else 1,
        field="",
        problem=f"not YAML: {problem}",
    )


def _joined(path: str, step: object) -> str:
    return f"{path}.{step}" if path else str(step)
