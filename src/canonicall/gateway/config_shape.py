"""Plain values as settings: every name and every type is checked, and all faults are found at once.

Short forms are written out here, and only here: one text for a list of one, `key` for `keys`,
`"provider:model"` for a model with one choice, a list of targets for one choice and its fallbacks,
`messages` for a prompt with one version.
"""

import math
from collections.abc import Callable, Mapping
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct

from canonicall.client.secrets import Secret
from canonicall.errors import UnknownName
from canonicall.gateway.config_problems import Problems, inside, kind_of
from canonicall.gateway.settings import (
    Choice,
    ModelSettings,
    PromptMessage,
    PromptSettings,
    ProviderSettings,
    RepairSettings,
)

_Kind = TypeVar("_Kind", bound=Struct)
_WANTED = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}
_ELSEWHERE = {
    "api_base": "base_url",
    "api_key": "key",
    "api_keys": "keys",
    "model_list": "models",
    "url": "base_url",
}
"""What other gateways call a setting, and its name here."""


def read_section(kind: type[_Kind], value: Any, where: str, problems: Problems) -> _Kind:
    """The settings in a section. Where something is wrong, its default stands in for it."""
    if kind in _SHORT_FORMS:
        value = _SHORT_FORMS[kind](value, where, problems)
    if value is None:
        # `openai:` with nothing behind it is how YAML writes an empty section.
        value = {}
    is_section = isinstance(value, dict)
    if not is_section:
        problems.error(where, f"expected a section, got {kind_of(value)}.", _names(kind))
        value = {}
    types = get_type_hints(kind)
    _refuse_unknown(kind, value, where, problems)
    found: dict[str, Any] = {}
    for field in msgspec.structs.fields(kind):
        place = inside(where, field.name)
        if field.name in value:
            read = _read(types[field.name], value[field.name], place, problems)
            if read is not msgspec.UNSET:
                found[field.name] = read
        elif field.required and is_section:
            problems.error(place, "it is missing.")
        if field.required:
            found.setdefault(field.name, "")
    return kind(**found)


def _refuse_unknown(
    kind: type[Struct], value: Mapping[str, Any], where: str, problems: Problems
) -> None:
    known = kind.__struct_fields__
    for name in value:
        if name in known:
            continue
        meant = _ELSEWHERE.get(name, name)
        hint = f"It is called {meant!r} here." if meant != name else ""
        said = str(UnknownName("setting here", name, known))
        problems.error(
            inside(where, name), f"{said[: said.index('. ') + 1]} {hint}" if hint else said
        )


def _names(kind: type[Struct]) -> str:
    return f"Its settings are: {', '.join(kind.__struct_fields__)}."


def _read(kind: Any, value: Any, where: str, problems: Problems) -> Any:
    """A value of a type; UNSET where it is none."""
    if get_origin(kind) is dict:
        return _read_entries(get_args(kind)[1], value, where, problems)
    if get_origin(kind) is tuple:
        return _read_list(get_args(kind)[0], value, where, problems)
    if get_origin(kind) is UnionType:
        if value is None:
            return None
        kind = next(one for one in get_args(kind) if one is not NoneType)
    if isinstance(kind, type) and issubclass(kind, Struct):
        return read_section(kind, value, where, problems)
    if kind is Secret:
        return _read_secret(value, where, problems)
    return _read_plain(kind, value, where, problems)


def _read_entries(kind: Any, value: Any, where: str, problems: Problems) -> Any:
    if value is None:
        return {}
    if not isinstance(value, dict):
        problems.error(where, f"expected names with a value each, got {kind_of(value)}.")
        return msgspec.UNSET
    read = {name: _read(kind, one, inside(where, name), problems) for name, one in value.items()}
    return {name: one for name, one in read.items() if one is not msgspec.UNSET}


def _read_list(kind: Any, value: Any, where: str, problems: Problems) -> Any:
    if not isinstance(value, list):
        one = _read(kind, value, where, problems)
        return msgspec.UNSET if one is msgspec.UNSET else (one,)
    read = [_read(kind, one, inside(where, at), problems) for at, one in enumerate(value)]
    return tuple(one for one in read if one is not msgspec.UNSET)


def _read_secret(value: Any, where: str, problems: Problems) -> Any:
    if isinstance(value, Secret):
        return value
    if isinstance(value, str) and value.strip():
        return Secret(value.strip())
    what = (
        "the key is empty." if isinstance(value, str) else f"expected text, got {kind_of(value)}."
    )
    problems.error(where, what, "Refer to a variable that holds it: ${NAME}.")
    return msgspec.UNSET


def _read_plain(kind: Any, value: Any, where: str, problems: Problems) -> Any:
    try:
        # Not strict: a variable of the environment is text, whatever it is to be.
        read = msgspec.convert(value, kind, strict=False)
    except msgspec.ValidationError:
        if get_origin(kind) is Literal:
            choices = ", ".join(get_args(kind))
            problems.error(where, "this is none of the choices.", f"Choose from: {choices}.")
        else:
            quotes = "Put it in quotes." if kind is str and isinstance(value, int | float) else ""
            problems.error(where, f"expected {_WANTED[kind]}, got {kind_of(value)}.", quotes)
        return msgspec.UNSET
    if isinstance(read, float) and not math.isfinite(read):
        problems.error(where, "the number is not finite.")
        return msgspec.UNSET
    return read


def _provider(value: Any, where: str, problems: Problems) -> Any:
    value = _with_recover(value)
    if not isinstance(value, dict) or "key" not in value:
        return value
    place = inside(where, "key")
    if "keys" in value:
        problems.error(place, "`keys` stands beside it.", "Give one of the two.")
    key = _read_secret(value["key"], place, problems)
    rest = {name: one for name, one in value.items() if name != "key"}
    return {"keys": [] if key is msgspec.UNSET else [key], **rest}


def _repair(value: Any, where: str, problems: Problems) -> Any:
    """`leaks: true` and `leaks: false` are what `recover` was before."""
    if not isinstance(value, dict) or "leaks" not in value:
        return _with_recover(value)
    place = inside(where, "leaks")
    if "recover" in value:
        problems.error(place, "`recover` stands beside it.", "Give `recover` alone.")
    reads = _read_plain(bool, value["leaks"], place, problems)
    recover = "off" if reads is False else "known"
    problems.warn(place, "this setting has another name now.", f"Write recover: {recover!r}.")
    rest = {name: one for name, one in value.items() if name != "leaks"}
    return {"recover": recover, **rest}


def _with_recover(value: Any) -> Any:
    """A section in which `recover: off` is text again: YAML reads it as false."""
    is_off = isinstance(value, dict) and value.get("recover") is False
    return {**value, "recover": "off"} if is_off else value


def _model(value: Any, where: str, problems: Problems) -> Any:
    if isinstance(value, str):
        return {"choices": [value]}
    if isinstance(value, list):
        return {"choices": value[:1], "fallbacks": value[1:]}
    if not isinstance(value, dict) or "target" not in value:
        return value
    if "choices" in value:
        problems.error(
            inside(where, "target"), "`choices` stands beside it.", "Give one of the two."
        )
    rest = {name: one for name, one in value.items() if name != "target"}
    return {"choices": value["target"], **rest}


def _prompt(value: Any, where: str, problems: Problems) -> Any:
    del where, problems
    if isinstance(value, dict) and "messages" in value:
        return {"versions": {"1": value}}
    return value


def _prompt_message(value: Any, where: str, problems: Problems) -> Any:
    del where, problems
    return {"content": value} if isinstance(value, str) else value


def _choice(value: Any, where: str, problems: Problems) -> Any:
    del where, problems
    return {"target": value} if isinstance(value, str) else value


_SHORT_FORMS: dict[type[Struct], Callable[[Any, str, Problems], Any]] = {
    ProviderSettings: _provider,
    RepairSettings: _repair,
    ModelSettings: _model,
    Choice: _choice,
    PromptSettings: _prompt,
    PromptMessage: _prompt_message,
}
