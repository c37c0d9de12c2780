"""What is wrong with arguments, told for a model: missing, wrong and unknown arguments.

In: the errors of a validator. Out: short lists with paths, bounded however many errors there are.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

import msgspec
from jsonschema_rs import ValidationError
from msgspec import Struct

from canonicall.guard.validators import branches_of, likely_errors
from canonicall.syntax.typed_values import member_names, member_schema, types_of

_MOST = 10
"""How many problems of a kind are told; a model corrects few at a time."""
_LONGEST = 160
_LIMITS = {
    "minimum": "a number of at least {limit}",
    "maximum": "a number of at most {limit}",
    "exclusiveMinimum": "a number greater than {limit}",
    "exclusiveMaximum": "a number less than {limit}",
    "multipleOf": "a multiple of {multiple_of}",
    "minLength": "text of at least {limit} characters",
    "maxLength": "text of at most {limit} characters",
    "minItems": "a list of at least {limit} items",
    "maxItems": "a list of at most {limit} items",
    "minProperties": "an object with at least {limit} members",
    "maxProperties": "an object with at most {limit} members",
    "pattern": "text that matches {pattern}",
    "format": "text in the format {format}",
    "uniqueItems": "a list in which no item is repeated",
    "falseSchema": "nothing: it must be left out",
}


class WrongValue(Struct, frozen=True):
    """A value that is not accepted where it stands."""

    path: str
    expected: str
    got: str


class UnknownField(Struct, frozen=True, omit_defaults=True):
    """An argument that the tool does not have."""

    path: str
    did_you_mean: str = ""


class Problems(Struct, frozen=True):
    """All that is wrong with the arguments of one call."""

    missing: tuple[str, ...] = ()
    wrong: tuple[WrongValue, ...] = ()
    unknown: tuple[UnknownField, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The arguments of the tool that are concerned."""
        paths = [
            *self.missing,
            *(one.path for one in self.wrong),
            *(one.path if "." in one.path else one.did_you_mean for one in self.unknown),
        ]
        return tuple(dict.fromkeys(path.split(".")[0].split("[")[0] for path in paths if path))


def problems_in(
    args: dict[str, Any], errors: Iterable[ValidationError], schema: dict[str, Any]
) -> Problems:
    """What the errors of a validator mean."""
    missing: dict[str, None] = {}
    wrong: dict[str, WrongValue] = {}
    unknown: dict[str, UnknownField] = {}
    for error in likely_errors(list(errors)):
        path = error.instance_path
        said = error.kind.as_dict()
        if error.kind.name == "required":
            missing[_joined(path, said["property"])] = None
        elif "unexpected" in said and error.kind.name.endswith("Properties"):
            for name in said["unexpected"][:_MOST]:
                unknown[_joined(path, name)] = _unknown(path, name, schema)
        else:
            told = _joined(path)
            wrong.setdefault(told, WrongValue(told, _expected(error, schema), _got(error)))
    if missing:
        # The schema may allow any name, but one that was misspelt explains what is missing.
        unknown |= _misspelt(args, schema, unknown)
    return Problems(_first(missing), _first(wrong.values()), _first(unknown.values()))


def missing_required(args: dict[str, Any], schema: dict[str, Any]) -> Problems:
    """The required arguments that are missing, for schemas that nothing else can be read from."""
    required = schema.get("required")
    names = required if isinstance(required, list) else []
    return Problems(_first(name for name in names if isinstance(name, str) and name not in args))


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name that looks most like `name`; empty where none does."""
    by_form = {_form(one): one for one in known}
    found = get_close_matches(_form(name), by_form, n=1, cutoff=0.6)
    return by_form[found[0]] if found else ""


def _form(name: str) -> str:
    """A name without what models mix up: case, underscores, hyphens."""
    return "".join(char for char in name[:64].lower() if char not in "_-. ")


def _first(items: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(items)[:_MOST]


def _unknown(path: list[str | int], name: str, schema: dict[str, Any]) -> UnknownField:
    holder: Any = schema
    for step in path:
        holder = member_schema(holder, step if isinstance(step, str) else None, schema)
    return UnknownField(_joined(path, name), nearest(name, member_names(holder, schema)[:1000]))


def _misspelt(
    args: dict[str, Any], schema: dict[str, Any], found: dict[str, UnknownField]
) -> dict[str, UnknownField]:
    known = member_names(schema, schema)
    others = [name for name in args if name not in known and name not in found][:_MOST]
    return {name: _unknown([], name, schema) for name in others} if known else {}


def _joined(path: list[str | int], *more: str) -> str:
    told = ""
    for step in (*path, *more):
        told += f"[{step}]" if isinstance(step, int) else f".{step}" if told else step
    return told


def _expected(error: ValidationError, schema: dict[str, Any]) -> str:
    said = error.kind.as_dict()
    kind = error.kind.name
    if kind == "type":
        return " or ".join(said["types"])
    if kind == "enum":
        return _short(f"one of {', '.join(map(_json, said['options'][:20]))}")
    if kind == "const":
        return _short(_json(said["expected_value"]))
    if kind in _LIMITS and "error" not in said and "message" not in said:
        # With an error, the pattern could not be tried: it took too many steps.
        return _short(_LIMITS[kind].format(**said))
    if branches_of(error):
        holder: Any = schema
        for step in error.instance_path:
            holder = member_schema(holder, step if isinstance(step, str) else None, schema)
        types = types_of(holder, schema)
        return " or ".join(types) if types else "one of the forms that the schema gives"
    return _short(error.message)


def _got(error: ValidationError) -> str:
    value: Any = error.instance
    if isinstance(value, str):
        return _short(f"text {_json(value[:_LONGEST])}")
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return _short(f"an object with {', '.join(list(value)[:_MOST]) or 'nothing in it'}")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _short(f"number {value}" if abs(value) < 1e300 else "a huge number")
    return _json(value)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
