"""The common case: messages that are known at a glance to need no repair.

Nearly every message holds bare text, calls and results: right types, text that UTF-8 can carry,
nothing beside. Those need no check field by field. What is not recognised here is not wrong; it is
looked at properly in `conform`.
"""

from collections.abc import Callable
from typing import Any

from canonicall.blocks import Origin, Text, ToolCall, ToolResult
from canonicall.outcome import Outcome

_ROLES = ("system", "developer", "user", "assistant", "tool")
_KINDS = ("function", "custom", "server")
_NOTHING: tuple[Any, ...] = ()


def is_plain_message(message: Any) -> bool:
    """Whether every field of a Message is plainly what its annotation says."""
    if not (
        message.native is None
        and message.partial is False
        and message.edited is False
        and type(message.blocks) is tuple
        and type(message.role) is str
        and message.role in _ROLES
        and _are_texts(message.turn_key, message.finish)
        and (message.origin is None or _is_plain_origin(message.origin))
    ):
        return False
    for block in message.blocks:
        is_plain = _PLAIN_BLOCKS.get(type(block))
        if is_plain is None or not is_plain(block):
            return False
    return True


def _are_texts(*values: Any) -> bool:
    """Whether all are text that UTF-8 can carry. Past ASCII only the encoder can tell."""
    try:
        joined = "".join(values)
        if not joined.isascii():
            joined.encode()
    except (TypeError, UnicodeEncodeError):
        return False
    return True


def _is_plain_origin(origin: Any) -> bool:
    return (
        type(origin) is Origin
        and _are_texts(origin.provider, origin.format, origin.endpoint)
        and _are_texts(origin.model, origin.response_id)
    )


def _is_plain_text(block: Any) -> bool:
    return (
        block.opaque is _NOTHING
        and block.cache is None
        and block.native is None
        and _are_texts(block.text)
    )


def _is_plain_call(call: Any) -> bool:
    """Parsed arguments are somebody's own object: they have to be copied."""
    return (
        call.opaque is _NOTHING
        and call.cache is None
        and call.native is None
        and call.args is None
        and call.kind in _KINDS
        and (call.raw is None or _are_texts(call.raw))
        and _are_texts(call.id, call.name, call.raw_id)
        and type(call.index) is int
        and type(call.number) is int
        and type(call.truncated) is bool
    )


def _is_plain_result(result: Any) -> bool:
    if not (
        result.opaque is _NOTHING
        and result.cache is None
        and result.native is None
        and (result.outcome is None or type(result.outcome) is Outcome)
        and (result.is_complete is None or type(result.is_complete) is bool)
        and result.kind in _KINDS
        and _are_texts(result.call_id, result.name, result.raw_id)
        and type(result.error) is bool
        and type(result.synthetic) is bool
        and type(result.bound) is bool
    ):
        return False
    content = result.content
    if content is None or content is _NOTHING:
        return True
    return type(content) is tuple and all(
        type(part) is Text and _is_plain_text(part) for part in content
    )


_PLAIN_BLOCKS: dict[type, Callable[[Any], bool]] = {
    Text: _is_plain_text,
    ToolCall: _is_plain_call,
    ToolResult: _is_plain_result,
}
