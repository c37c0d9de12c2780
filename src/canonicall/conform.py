"""Values conform to their own annotations, or are refused with the path to what does not.

msgspec checks types when it decodes, not when code builds a value. Here the same annotations are
checked on values that code built: text is made fit for UTF-8, JSON is copied and made plain, a list
is taken for a tuple. In: any of our structs. Out: the struct, changed only where it had to be.
"""

from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from msgspec import Struct
from msgspec.structs import fields as fields_of
from msgspec.structs import replace

from canonicall.errors import InvalidValue
from canonicall.findings import Finding
from canonicall.plain import clean_text, plain_json

_AnyStruct = TypeVar("_AnyStruct", bound=Struct)
_Check = Callable[[Any, str, list[Finding]], Any]


def conform(value: _AnyStruct, where: str, findings: list[Finding]) -> _AnyStruct:
    """`value` with every field as its annotation says."""
    changes = {}
    for name, default, check in _plan(type(value)):
        given = getattr(value, name)
        # Nearly every field is its default or ASCII text: those need neither check nor path.
        if given is default or (type(given) is str and check is _text and given.isascii()):
            continue
        checked = check(given, f"{where}.{name}", findings)
        if checked is not given:
            changes[name] = checked
    return replace(value, **changes) if changes else value


@cache
def _plan(struct: type[Struct]) -> tuple[tuple[str, Any, _Check], ...]:
    """For each field its name, its default, and the check that its annotation means."""
    hints = get_type_hints(struct)
    return tuple(
        (field.name, field.default, _check_for(hints[field.name])) for field in fields_of(struct)
    )


def _check_for(annotation: Any) -> _Check:
    origin = get_origin(annotation)
    if origin in (Union, UnionType):
        return _check_for_union(get_args(annotation))
    if origin is tuple:
        return _items(_check_for(get_args(annotation)[0]))
    if origin is Literal:
        return _choice(get_args(annotation))
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return _enum(annotation)
    if isinstance(annotation, type) and issubclass(annotation, Struct):
        return _struct((annotation,))
    return {str: _text, bool: _flag, int: _number, Any: _json, dict: _object}[origin or annotation]


def _check_for_union(options: tuple[Any, ...]) -> _Check:
    inner = tuple(option for option in options if option is not NoneType)
    check = _check_for(inner[0]) if len(inner) == 1 else _struct(inner)
    return check if len(inner) == len(options) else _optional(check)


def _optional(check: _Check) -> _Check:
    def checked(value: Any, where: str, findings: list[Finding]) -> Any:
        return None if value is None else check(value, where, findings)

    return checked


def _items(check: _Check) -> _Check:
    def checked(value: Any, where: str, findings: list[Finding]) -> Any:
        if not isinstance(value, (tuple, list)):
            raise wrong_type("a tuple of blocks", value, where)
        new = tuple(check(item, f"{where}[{n}]", findings) for n, item in enumerate(value))
        return value if _same(value, new) else new

    return checked


def _same(old: Sequence[Any], new: tuple[Any, ...]) -> bool:
    return type(old) is tuple and all(a is b for a, b in zip(old, new, strict=True))


def _choice(options: tuple[str, ...]) -> _Check:
    def checked(value: Any, where: str, _: list[Finding]) -> Any:
        if not isinstance(value, str) or value not in options:
            field = where.rpartition(".")[2]
            raise InvalidValue(
                f"{value!r} is not a {field}.", where=where, help=f"Use {_either(options)}."
            )
        return value

    return checked


def _enum(kind: type[StrEnum]) -> _Check:
    def checked(value: Any, where: str, _: list[Finding]) -> Any:
        if isinstance(value, kind):
            return value
        if isinstance(value, str) and value in list(kind):
            return kind(value)
        name = kind.__name__.lower()
        raise InvalidValue(
            f"{value!r} is not an {name}.", where=where, help=f"Use {_either(tuple(kind))}."
        )

    return checked


def _struct(kinds: tuple[type[Struct], ...]) -> _Check:
    wanted = f"a {kinds[0].__name__}" if len(kinds) == 1 else "a block"
    if len(kinds) in range(2, 5):
        wanted = _either(tuple(kind.__name__ for kind in kinds))

    def checked(value: Any, where: str, findings: list[Finding]) -> Any:
        if type(value) not in kinds:
            raise wrong_type(wanted, value, where)
        return conform(value, where, findings)

    return checked


def _text(value: Any, where: str, findings: list[Finding]) -> str:
    if not isinstance(value, str):
        raise wrong_type("text", value, where)
    if value.isascii():
        return value
    text, changes = clean_text(value, where)
    findings += changes
    return text


def _flag(value: Any, where: str, _: list[Finding]) -> bool:
    if not isinstance(value, bool):
        raise wrong_type("True or False", value, where)
    return value


def _number(value: Any, where: str, _: list[Finding]) -> int:
    if type(value) is not int:
        raise wrong_type("a whole number", value, where)
    return value


def _json(value: Any, where: str, findings: list[Finding]) -> Any:
    plain, changes = plain_json(value, where)
    findings += changes
    return plain


def _object(value: Any, where: str, findings: list[Finding]) -> Any:
    if not isinstance(value, dict):
        raise wrong_type("an object with named values", value, where)
    return _json(value, where, findings)


def _either(options: Sequence[str]) -> str:
    return ", ".join(options[:-1]) + f" or {options[-1]}"


def wrong_type(wanted: str, value: Any, where: str) -> InvalidValue:
    """The error for a value of another type than `wanted`."""
    help = ""
    if isinstance(value, str) and wanted.startswith("a tuple"):
        help = "For plain text write (Text('...'),)."
    if value is None and wanted == "text":
        help = "Use '' where there is none."
    if isinstance(value, bytes):
        help = "Use base64.b64encode(data).decode() for inline data, .decode() for text."
    return InvalidValue(f"expected {wanted}, got {_named(value)}.", where=where, help=help)


def _named(value: Any) -> str:
    return "None" if value is None else type(value).__name__
