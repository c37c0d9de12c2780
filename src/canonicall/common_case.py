"""The common case: messages that are known at a glance to need no repair.

Nearly every message holds bare text, calls and results: right types, text that UTF-8 can carry,
nothing beside. Those need no check field by field. What is not recognised here is not wrong; it is
looked at properly in `conform`.
"""

from collections.abc import Callable
from typing import Any

from canonicall.blocks import Opaque, Origin, Text, Thinking, ToolCall, ToolResult
from canonicall.outcome import Outcome

_ROLES = ("assistant", "tool", "user", "system", "developer")
_KINDS = ("function", "custom", "server")
_NOTHING: tuple[Any, ...] = ()


def is_plain_message(message: Any, *, args_apart: bool = False) -> bool:
    """Whether every field of a Message is plainly what its annotation says.

    Parsed arguments are somebody's own object, which has to be copied. With `args_apart` they are
    not looked at: whoever asks will do that.
    """
    if not is_plain_frame(message):
        return False
    checks = _PLAIN_BUT_ARGS if args_apart else _PLAIN
    for block in message.blocks:
        is_plain = checks.get(type(block))
        if is_plain is None or not is_plain(block):
            return False
    return True


def is_plain_frame(message: Any) -> bool:
    """The same of the fields around the blocks: what stands in those is not looked at."""
    return (
        message.native is None
        and message.partial is False
        and message.edited is False
        and type(message.blocks) is tuple
        and type(message.role) is str
        and message.role in _ROLES
        and type(message.turn_key) is type(message.finish) is str
        and message.turn_key.isascii()
        and message.finish.isascii()
        and (message.origin is None or _is_plain_origin(message.origin))
    )


def is_plain_block(block: Any) -> bool:
    """The same of one block."""
    is_plain = _PLAIN.get(type(block))
    return is_plain is not None and is_plain(block)


def _is_utf8(text: str) -> bool:
    """Whether UTF-8 can carry text. Past ASCII only the encoder can tell."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_plain_origin(one: Any) -> bool:
    return (
        type(one) is Origin
        and type(one.provider) is type(one.format) is type(one.endpoint) is str
        and type(one.model) is type(one.response_id) is str
        and f"{one.provider}{one.format}{one.endpoint}{one.model}{one.response_id}".isascii()
    )


def _is_plain_text(block: Any) -> bool:
    return (
        type(block) is Text
        and type(block.text) is str
        and block.opaque is _NOTHING
        and block.cache is None
        and block.native is None
        and (block.text.isascii() or _is_utf8(block.text))
    )


def _is_plain_thought(block: Any) -> bool:
    """A thought nearly always has state of its issuer's: a signature, which is text."""
    return (
        type(block.text) is str
        and type(block.opaque) is tuple
        and all(map(_is_plain_seal, block.opaque))
        and block.cache is None
        and block.native is None
        and (block.text.isascii() or _is_utf8(block.text))
    )


def _is_plain_seal(one: Any) -> bool:
    return (
        type(one) is Opaque
        and type(one.domain) is type(one.kind) is type(one.value) is str
        and f"{one.domain}{one.kind}".isascii()
        and one.value.isascii()
    )


def _is_plain_call(call: Any) -> bool:
    return call.args is None and _is_plain_but_args(call)


def _is_plain_but_args(call: Any) -> bool:
    return (
        call.opaque is _NOTHING
        and call.cache is None
        and call.native is None
        and (call.args is None or type(call.args) is dict)
        and call.kind in _KINDS
        and (call.raw is None or type(call.raw) is str)
        and (call.raw is None or call.raw.isascii() or _is_utf8(call.raw))
        and type(call.id) is type(call.name) is type(call.raw_id) is str
        and f"{call.id}{call.name}{call.raw_id}".isascii()
        and type(call.index) is type(call.number) is int
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
        and type(result.call_id) is type(result.name) is type(result.raw_id) is str
        and f"{result.call_id}{result.name}{result.raw_id}".isascii()
        and type(result.error) is type(result.synthetic) is type(result.bound) is bool
        and type(result.placed) is bool
    ):
        return False
    content = result.content
    return content is None or (type(content) is tuple and all(map(_is_plain_text, content)))


_PLAIN: dict[type, Callable[[Any], bool]] = {
    Text: _is_plain_text,
    ToolCall: _is_plain_call,
    ToolResult: _is_plain_result,
    Thinking: _is_plain_thought,
}
_PLAIN_BUT_ARGS = _PLAIN | {ToolCall: _is_plain_but_args}
