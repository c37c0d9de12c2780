"""What stays in this format's own words: fields without a canonical meaning, and cache marks.

A mark is `cache_control` (OpenRouter, Qwen, LiteLLM) or OpenAI's `prompt_cache_breakpoint`. Both
become `cache`, and the target says which of them is written. The second stands on parts only.
The only note in native fields that is not of the wire is `field`: see HINT.
"""

from collections.abc import Container
from functools import partial
from typing import Any

from canonicall.blocks import Block, Native
from canonicall.facts.target import Target
from canonicall.request import Tool
from canonicall.wire import carried
from canonicall.wire.openai_chat import FORMAT

HINT = "field"
"""The native field that is no wire field: it says in which field of the message a block came."""

_BREAKPOINT = "prompt_cache_breakpoint"
_MARKS = ("cache_control", _BREAKPOINT)
# SDK chat_completion_content_part_text_param.py: other lifetimes are refused, so they become the
# default.
_LIFETIMES = ("30m", "12h")
own_fields = partial(carried.fields_of, FORMAT)
"""The native fields of this format, nothing for those of another one."""
native_of = partial(carried.native_of, FORMAT)
"""Some fields as native fields of this format, None if there are none."""


def native_rest(value: dict[str, Any], known: Container[str]) -> Native | None:
    """The fields of `value` that are not `known`; a null is as good as absent here."""
    return native_of(rest_of(value, known))


def rest_of(value: dict[str, Any], known: Container[str]) -> dict[str, Any]:
    """The same, as they are."""
    rest = carried.set_fields(value, known)
    for mark in _MARKS if rest else ():
        rest.pop(mark, None)
    return rest


def field_of(block: Block) -> str:
    """The field of the message that a block came in, where that is not the usual one."""
    return str(own_fields(block.native).get(HINT, ""))


def with_rest(wire: dict[str, Any], block: Block | Tool) -> dict[str, Any]:
    """`wire` with the native fields of its block. Known fields win."""
    if block.native is None:
        return wire
    for name, field in own_fields(block.native).items():
        if isinstance(wire.get(name), dict) and isinstance(field, dict):
            wire[name] |= {key: item for key, item in field.items() if key not in wire[name]}
        elif name != HINT:
            wire.setdefault(name, field)
    return wire


def decode_mark(value: dict[str, Any], where: str) -> str | None:
    """The cache mark on a part, a message, a call or a tool: its time to live, or "default"."""
    for name in _MARKS:
        if value.get(name) is not None:
            return carried.mark_at(value, name, where)
    return None


def part_mark(cache: str | None, target: Target) -> dict[str, Any]:
    """The mark on a part, as the target writes it."""
    if cache is None or target.cache_field != _BREAKPOINT:
        return whole_mark(cache, target)
    lifetime = {"ttl": cache} if cache in _LIFETIMES else {}
    return {_BREAKPOINT: {"mode": "explicit", **lifetime}}


def whole_mark(cache: str | None, target: Target) -> dict[str, Any]:
    """The mark on a call, a result or a tool: only one of the two kinds can stand there."""
    if cache is None or target.cache_field == _BREAKPOINT:
        return {}
    lifetime = {} if cache == "default" else {"ttl": cache}
    return {"cache_control": {"type": "ephemeral", **lifetime}}
