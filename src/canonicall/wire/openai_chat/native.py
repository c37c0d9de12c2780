"""What stays in this format's own words: fields without a canonical meaning, and cache marks.

A mark is `cache_control` (OpenRouter, Qwen, LiteLLM) or OpenAI's `prompt_cache_breakpoint`. Both
become `cache`; the second also stays in the native fields, which is how it is known again.
The only note in native fields that is not of the wire is `field`: see HINT.
"""

from collections.abc import Container
from functools import partial
from typing import Any

from canonicall.blocks import Block, Native
from canonicall.request import Tool
from canonicall.wire import carried
from canonicall.wire.openai_chat.target import FORMAT

HINT = "field"
"""The native field that is no wire field: it says in which field of the message a block came."""

_BREAKPOINT = "prompt_cache_breakpoint"
_MARKS = ("cache_control", _BREAKPOINT)
own_fields = partial(carried.fields_of, FORMAT)
"""The native fields of this format, nothing for those of another one."""
native_of = partial(carried.native_of, FORMAT)
"""Some fields as native fields of this format, None if there are none."""


def native_rest(value: dict[str, Any], known: Container[str]) -> Native | None:
    """The fields of `value` that are not `known`; a null is as good as absent here."""
    rest = carried.set_fields(value, known)
    rest.pop("cache_control", None)
    return native_of(rest)


def field_of(block: Block) -> str:
    """The field of the message that a block came in, where that is not the usual one."""
    return str(own_fields(block.native).get(HINT, ""))


def with_rest(wire: dict[str, Any], block: Block | Tool) -> dict[str, Any]:
    """`wire` with the native fields of its block and with its mark. Known fields win."""
    native = own_fields(block.native)
    for name, field in native.items():
        if isinstance(wire.get(name), dict) and isinstance(field, dict):
            wire[name] |= {key: item for key, item in field.items() if key not in wire[name]}
        elif name != HINT and name not in _MARKS:
            wire.setdefault(name, field)
    if block.cache is not None and _BREAKPOINT in native:
        wire[_BREAKPOINT] = native[_BREAKPOINT]
    elif block.cache is not None:
        wire["cache_control"] = _encode_mark(block.cache)
    return wire


def decode_mark(value: dict[str, Any], where: str) -> str | None:
    """The cache mark on a part, a message, a call or a tool: its time to live, or "default"."""
    marks = (carried.mark_at(value, name, where) for name in _MARKS)
    return next((mark for mark in marks if mark is not None), None)


def _encode_mark(cache: str) -> dict[str, Any]:
    mark = {"type": "ephemeral"}
    return mark if cache == "default" else mark | {"ttl": cache}
