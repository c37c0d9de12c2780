"""Arguments of the wrong type that can be only one thing, made into it.

Only what the schema refuses is looked at, so a valid call is never changed. A text becomes what it
says ("3" is 3, "true" is true, JSON text is its object), as `syntax/typed_values.py` decides; an
integer becomes its digits where text is wanted; a lone value becomes a list of one; null is left
out where the argument may be absent. All of it is reported, and none of it counts unless the schema
accepts the whole afterwards.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import msgspec
from jsonschema_rs import ValidationError, Validator

from canonicall.errors import InvalidValue
from canonicall.findings import Action, Fault, Finding
from canonicall.guard.sanitising import sanitised
from canonicall.guard.validators import branches_of, errors_in
from canonicall.syntax.typed_values import json_of

_ROUNDS = 16
"""Values inside of values that had to be made first are seen one round later."""
_MOST_FIXES = 1_000
_UNCHANGED: Any = object()


def coerced(
    args: dict[str, Any], errors: list[ValidationError], validator: Validator
) -> tuple[dict[str, Any], list[Finding], list[ValidationError]]:
    """The arguments as far as they can be mended, what was changed, and what is still wrong."""
    findings: list[Finding] = []
    seen: set[tuple[str | int, ...]] = set()
    for _ in range(_ROUNDS):
        changes = list(islice(_changes(errors, args, seen), _MOST_FIXES))
        if not changes:
            break
        args = _copied(args)
        changed: set[tuple[str | int, ...]] = set()
        for path, value in changes:
            if any(tuple(path[:length]) in changed for length in range(len(path) + 1)):
                continue
            findings.append(_coerced_finding(path, _at(args, path), value))
            _put(args, path, value)
            changed.add(tuple(path))
            seen.add((*path, type(value).__name__))
        errors = errors_in(args, validator)
    if errors and all(error.instance is None for error in errors):
        return _without_nulls(args, errors, findings, validator)
    return args, findings, errors


def _changes(
    errors: list[ValidationError], args: dict[str, Any], seen: set[tuple[str | int, ...]]
) -> Iterator[tuple[list[str | int], Any]]:
    """Places and the values that belong there. `seen` are those that were made already."""
    for error in errors:
        for one in _fixable(error):
            path = one.instance_path
            if not path:
                continue
            value = _fitting(_at(args, path), one)
            if value is not _UNCHANGED and (*path, type(value).__name__) not in seen:
                yield path, value


def _fixable(error: ValidationError) -> list[ValidationError]:
    """The errors to mend: this one, or all of the first alternative that can be met by mending."""
    branches = branches_of(error)
    for branch in branches:
        if branch and all(
            one.instance_path and _fitting(one.instance, one) is not _UNCHANGED for one in branch
        ):
            return branch
    return [] if branches else [error]


def _fitting(value: Any, error: ValidationError) -> Any:
    """What `value` was meant to be, if there is no doubt."""
    if error.kind.name == "type":
        return _of_types(value, tuple(error.kind.as_dict()["types"]))
    if error.kind.name in ("enum", "const") and isinstance(value, str):
        said = error.kind.as_dict()
        options = said.get("options") or [said.get("expected_value")]
        meant = [one for one in options if not isinstance(one, str) and _said(one) == value.strip()]
        return meant[0] if meant else _UNCHANGED
    return _UNCHANGED


def _of_types(value: Any, types: tuple[str, ...]) -> Any:
    if isinstance(value, str):
        made = _read(value, types)
        if made is not _UNCHANGED:
            return made
        if value.lstrip()[:1] in ("[", "{"):
            # It was to be JSON, and is not: a list around it would only hide that.
            return _UNCHANGED
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    if is_integer and "string" in types:
        return str(value)
    if value is not None and not isinstance(value, list) and "array" in types:
        return [value]
    return _UNCHANGED


def _read(text: str, types: tuple[str, ...]) -> Any:
    written, _ = json_of(text, tuple(one for one in types if one != "string"))
    try:
        value = msgspec.json.decode(written)
        if isinstance(value, (dict, list)):
            value = sanitised({"_": value})[0]["_"]
    except (msgspec.DecodeError, UnicodeEncodeError, InvalidValue, RecursionError):
        return _UNCHANGED
    return _UNCHANGED if isinstance(value, str) else value


def _without_nulls(
    args: dict[str, Any],
    errors: list[ValidationError],
    findings: list[Finding],
    validator: Validator,
) -> tuple[dict[str, Any], list[Finding], list[ValidationError]]:
    """Null stands for nothing said, if the schema accepts that nothing is said."""
    paths = [error.instance_path for error in errors]
    if not all(path and isinstance(path[-1], str) for path in paths):
        return args, findings, errors
    shorter = _copied(args)
    for path in paths:
        holder = _at(shorter, path[:-1])
        holder.pop(path[-1], None)
    if not validator.is_valid(shorter):
        return args, findings, errors
    return shorter, [*findings, *map(_dropped_finding, paths)], []


def _dropped_finding(path: list[str | int]) -> Finding:
    why = "null is not allowed here, and the argument may be left out; it was."
    return Finding("null_left_out", in_words(path), Action.DROPPED, why, Fault.INPUT)


def _coerced_finding(path: list[str | int], old: Any, new: Any) -> Finding:
    kinds = f"{type(old).__name__} was read as {type(new).__name__}"
    why = f"The schema wants another type here: {kinds}."
    return Finding("argument_coerced", in_words(path), Action.CHANGED, why, Fault.INPUT)


def in_words(path: list[str | int]) -> str:
    """The path of a value in the arguments."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "args" + "".join(steps)


def _said(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _at(value: Any, path: list[str | int]) -> Any:
    for step in path:
        value = value[step]
    return value


def _put(args: dict[str, Any], path: list[str | int], value: Any) -> None:
    _at(args, path[:-1])[path[-1]] = value


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_copied(one) for one in value]
    return value
