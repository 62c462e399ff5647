"""Structural schemas of custom resources: what is wrong, what is unknown, what is filled in.

The part of OpenAPI v3 that Kubernetes' structural schemas use. `check` finds faults, `unknown`
finds fields that would be pruned (and prunes them), `fill` puts defaults in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from fakes.kube_api.refusals import Cause
from fakes.kube_api.schema_rules import broken_rules
from fakes.kube_api.trees import copied

Schema = dict[str, Any]
_RANGES = {"int32": 31, "int64": 63}
_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}


def unknown(value: Any, schema: Schema, path: str = "") -> list[str]:
    """Remove what the schema does not know, in place; the paths of what was removed."""
    found: list[str] = []
    if isinstance(value, list):
        for index, item in enumerate(value):
            found += unknown(item, schema.get("items", {}), f"{path}[{index}]")
    if not isinstance(value, dict) or schema.get("x-kubernetes-preserve-unknown-fields"):
        return found
    properties, other = schema.get("properties", {}), schema.get("additionalProperties")
    for name in list(value):
        at = f"{path}.{name}" if path else name
        if name in properties:
            found += unknown(value[name], properties[name], at)
        elif isinstance(other, dict):
            found += unknown(value[name], other, at)
        elif not other and not _is_open(schema):
            del value[name]
            found.append(at)
    return found


def _is_open(schema: Schema) -> bool:
    """Only a schema that says nothing at all of an object leaves it alone."""
    return not schema


def fill(value: Any, schema: Schema) -> None:
    """Put the schema's defaults where nothing is said, in place."""
    if isinstance(value, list):
        for item in value:
            fill(item, schema.get("items", {}))
    if not isinstance(value, dict):
        return
    properties, other = schema.get("properties", {}), schema.get("additionalProperties")
    for name, below in properties.items():
        if name not in value and "default" in below:
            value[name] = copied(below["default"])
    for name, item in value.items():
        below = properties.get(name, other)
        if isinstance(below, dict):
            fill(item, below)


def check(value: Any, schema: Schema, path: str = "", old: Any = None) -> list[Cause]:
    """Everything that is wrong with a value; `old` is what it was before an update."""
    return list(_faults(value, schema, path or "<root>", old))


def _faults(value: Any, schema: Schema, path: str, old: Any) -> Iterator[Cause]:
    if value is None:
        if not schema.get("nullable"):
            yield _invalid(path, "null", "must not be null")
        return
    if not _has_type(value, schema):
        wanted = "integer or string" if _int_or_string(schema) else schema.get("type")
        yield Cause(
            "FieldValueTypeInvalid",
            f'Invalid value: "{_kind_of(value)}": {path} in body must be of type {wanted}: '
            f'"{_kind_of(value)}"',
            path,
        )
        return
    yield from _scalar_faults(value, schema, path)
    yield from _choice_faults(value, schema, path, old)
    if isinstance(value, dict):
        yield from _object_faults(value, schema, path, old)
    if isinstance(value, list):
        yield from _list_faults(value, schema, path, old)
    for message in broken_rules(value, schema, old):
        yield _invalid(path, _kind_of(value), message)


def _object_faults(value: dict[str, Any], schema: Schema, path: str, old: Any) -> Iterator[Cause]:
    for name in schema.get("required", []):
        if name not in value:
            yield Cause("FieldValueRequired", "Required value", _below(path, name))
    properties, other = schema.get("properties", {}), schema.get("additionalProperties")
    before = old if isinstance(old, dict) else {}
    for name, item in value.items():
        below = properties.get(name, other)
        if isinstance(below, dict):
            yield from _faults(item, below, _below(path, name), before.get(name))


def _list_faults(value: list[Any], schema: Schema, path: str, old: Any) -> Iterator[Cause]:
    if len(value) < schema.get("minItems", 0):
        yield _invalid(path, len(value), f"should have at least {schema['minItems']} items")
    if len(value) > schema.get("maxItems", len(value)):
        yield Cause("FieldValueTooMany", f"Too many: {len(value)}", path)
    keys = schema.get("x-kubernetes-list-map-keys")
    seen: list[Any] = []
    before = old if isinstance(old, list) else []
    for index, item in enumerate(value):
        at = f"{path}[{index}]"
        if keys and isinstance(item, dict):
            identity: Any = [item.get(key, _default(schema, key)) for key in keys]
        else:
            identity = item if schema.get("x-kubernetes-list-type") == "set" else None
        if identity is not None and identity in seen:
            yield Cause("FieldValueDuplicate", f"Duplicate value: {identity}", at)
        seen.append(identity)
        twin = before[index] if index < len(before) else None
        yield from _faults(item, schema.get("items", {}), at, twin)


def _default(schema: Schema, key: str) -> Any:
    return schema.get("items", {}).get("properties", {}).get(key, {}).get("default")


def _scalar_faults(value: Any, schema: Schema, path: str) -> Iterator[Cause]:
    if "enum" in schema and value not in schema["enum"]:
        supported = ", ".join(f'"{one}"' for one in schema["enum"])
        yield Cause(
            "FieldValueNotSupported",
            f'Unsupported value: "{value}": supported values: {supported}',
            path,
        )
    if isinstance(value, str):
        yield from _text_faults(value, schema, path)
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield from _number_faults(value, schema, path)


def _text_faults(value: str, schema: Schema, path: str) -> Iterator[Cause]:
    if "pattern" in schema and not re.search(schema["pattern"], value):
        yield _invalid(path, value, f"{path} in body should match '{schema['pattern']}'")
    if len(value) < schema.get("minLength", 0):
        yield _invalid(
            path, value, f"{path} in body should be at least {schema['minLength']} chars long"
        )
    if len(value) > schema.get("maxLength", len(value)):
        yield Cause(
            "FieldValueTooLong", f"Too long: may not be more than {schema['maxLength']} bytes", path
        )
    if schema.get("format") == "date-time" and not _is_time(value):
        yield _invalid(path, value, f"{path} in body must be of type date-time")


def _number_faults(value: float, schema: Schema, path: str) -> Iterator[Cause]:
    if value < schema.get("minimum", value):
        yield _invalid(path, value, f"should be greater than or equal to {schema['minimum']}")
    if value > schema.get("maximum", value):
        yield _invalid(path, value, f"should be less than or equal to {schema['maximum']}")
    bits = _RANGES.get(schema.get("format", ""))
    if bits and not -(2**bits) <= value < 2**bits:
        yield _invalid(path, value, f"does not fit {schema['format']}")


def _choice_faults(value: Any, schema: Schema, path: str, old: Any) -> Iterator[Cause]:
    for part in schema.get("allOf", []):
        yield from _faults(value, part, path, old)
    for word, fits in (("anyOf", lambda n: n >= 1), ("oneOf", lambda n: n == 1)):
        parts = schema.get(word)
        if parts and not fits(sum(not check(value, part, path, old) for part in parts)):
            yield _invalid(path, value, f"must validate {word} of {len(parts)} schemas")
    if "not" in schema and not check(value, schema["not"], path, old):
        yield _invalid(path, value, "must not validate the schema (not)")


def _has_type(value: Any, schema: Schema) -> bool:
    if _int_or_string(schema):
        return isinstance(value, int | str) and not isinstance(value, bool)
    wanted = schema.get("type")
    if wanted is None:
        return True
    if isinstance(value, bool):
        return wanted == "boolean"
    if wanted == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[wanted])


def _int_or_string(schema: Schema) -> bool:
    return bool(schema.get("x-kubernetes-int-or-string"))


def _is_time(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def _kind_of(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    for name, types in _TYPES.items():
        if isinstance(value, types):
            return name
    return "null"


def _below(path: str, name: str) -> str:
    return name if path == "<root>" else f"{path}.{name}"


def _invalid(path: str, value: Any, message: str) -> Cause:
    return Cause("FieldValueInvalid", f'Invalid value: "{value}": {message}', path)
