"""Schemas as compiled validators. Each is compiled once, however often its tool is called.

References that lead out of the schema are refused: checking a call never opens a file or a socket.
A schema is taken for a frozen value, like the tool that holds it: changing it in place has no
effect on calls any more.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import jsonschema_rs
import msgspec
from jsonschema_rs import ValidationError, Validator

_KEPT = 512
"""How many schemas are kept compiled."""
_BACKTRACKS = jsonschema_rs.FancyRegexOptions(backtrack_limit=100_000)
"""A pattern that takes more steps than this counts as not matched."""
_ALL_ERRORS_UP_TO = 16_384
"""Bytes of arguments in which all faults are looked for; in larger ones it is the first: each
fault costs a copy of what is wrong."""


class Known(msgspec.Struct, gc=False):
    """A schema that was compiled."""

    schema: dict[str, Any]
    """Held, so that its identity stays its own."""
    validator: Validator


known_validators: dict[int, Known] = {}
"""By the identity of the schema."""


class UnusableSchema(Exception):
    """No call can be checked against the schema; the text says why."""


def validator_of(schema: dict[str, Any]) -> Validator:
    """The validator of a schema. Equal schemas share one."""
    known = known_validators.get(id(schema))
    if known is not None:
        return known.validator
    try:
        validator = _compiled(msgspec.json.encode(schema))
    except (ValueError, TypeError, RecursionError, jsonschema_rs.ReferencingError) as error:
        raise UnusableSchema(str(error).partition("\n")[0]) from None
    if len(known_validators) >= _KEPT:
        known_validators.clear()
    known_validators[id(schema)] = Known(schema, validator)
    return validator


def errors_in(args: dict[str, Any], validator: Validator) -> list[ValidationError]:
    """What is wrong with the arguments; of large ones the first thing that is."""
    if len(msgspec.json.encode(args)) <= _ALL_ERRORS_UP_TO:
        return list(validator.iter_errors(args))
    try:
        validator.validate(args)
    except ValidationError as error:
        return [error]
    return []


def branches_of(error: ValidationError) -> list[list[ValidationError]]:
    """What is wrong by each of the alternatives that a schema gives; empty where it gives none."""
    found: list[list[ValidationError]] = getattr(error.kind, "context", [])
    return found


def likely_errors(errors: list[ValidationError]) -> Iterator[ValidationError]:
    """Each error, or what is wrong by the alternative that the value comes closest to."""
    for error in errors:
        branches = [branch for branch in branches_of(error) if branch]
        inner = [one for one in branches if _is_inside(one, len(error.instance_path))]
        if inner:
            yield from min(inner, key=len)
        else:
            yield error


def _is_inside(branch: list[ValidationError], depth: int) -> bool:
    """Whether the value is of the kind that an alternative wants, and only its parts are wrong."""
    return all(len(one.instance_path) > depth or one.kind.name == "required" for one in branch)


@lru_cache(_KEPT)
def _compiled(schema: bytes) -> Validator:
    return jsonschema_rs.validator_for(schema.decode(), offline=True, pattern_options=_BACKTRACKS)
