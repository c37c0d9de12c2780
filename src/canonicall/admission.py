"""Admission: every value that enters a conversation is checked here, and only here.

In: an entry as a caller or a decoder built it. Out: the same entry with plain JSON inside, text
that UTF-8 can carry and arguments in both forms, and findings for what had to change. A value of
the wrong type is refused with its path before anything is written.

Nearly every message holds bare text, calls and results: right types, text that UTF-8 can carry,
nothing beside. Those are known at a glance and need no check field by field. What is not recognised
so is not wrong; it is looked at properly in `conform`.
"""

from collections.abc import Callable
from operator import is_
from typing import Any, get_args

from msgspec.structs import replace

from canonicall.arguments import inside, parse_arguments, with_arguments
from canonicall.blocks import (
    Block,
    CallClosed,
    Entry,
    Media,
    Message,
    Opaque,
    Origin,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from canonicall.conform import conform
from canonicall.decisions import RECORDS
from canonicall.errors import InvalidValue
from canonicall.findings import Action, Fault, Finding, Place, in_words
from canonicall.ids import is_canonical_tool_id
from canonicall.outcome import Outcome
from canonicall.plain import plain_json

_BLOCKS = frozenset(get_args(Block))


def admit(entry: Entry, at: int, findings: list[Finding]) -> Entry:
    """`entry`, fit to be stored as entry number `at`."""
    if not isinstance(entry, Message):
        if isinstance(entry, (CallClosed, *RECORDS)):
            return conform(entry, f"entries[{at}]", findings)
        raise InvalidValue(
            f"expected a Message or another entry, got {type(entry).__name__}.",
            where=f"entries[{at}]",
        )
    if not is_plain_message(entry, args_apart=True):
        entry = _conformed(entry, at, findings)
        blocks = [_admit_block(block, (at, n), findings) for n, block in enumerate(entry.blocks)]
        return _with_blocks(entry, blocks)
    # Plain words, thoughts and results: only calls are left to be completed.
    completed: list[Block] = []
    for n, block in enumerate(entry.blocks):
        if type(block) is ToolCall:
            completed = completed or list(entry.blocks)
            completed[n] = _with_arguments(block, (at, n), findings)
    return replace(entry, blocks=tuple(completed)) if completed else entry


def _conformed(message: Message, at: int, findings: list[Finding]) -> Message:
    """`message` as its annotations say; beside unusual blocks the plain ones need no look."""
    if not (is_plain_frame(message) and _BLOCKS.issuperset(map(type, message.blocks))):
        return conform(message, f"entries[{at}]", findings)
    blocks = [
        block if is_plain_block(block) else conform(block, in_words((at, index)), findings)
        for index, block in enumerate(message.blocks)
    ]
    return _with_blocks(message, blocks)


def _with_blocks(message: Message, blocks: list[Block]) -> Message:
    """`message` with these blocks: the very same, if they are its own."""
    same = all(map(is_, message.blocks, blocks))
    return message if same else replace(message, blocks=tuple(blocks))


def _admit_block(block: Block, place: Place, findings: list[Finding]) -> Block:
    if type(block) is ToolCall:
        return _with_arguments(block, place, findings, copied=True)
    contents = block.content or () if type(block) is ToolResult else (block,)
    for part in contents:
        if type(part) is Media:
            _check_source(part, in_words(place))
    return block


def _check_source(media: Media, where: str) -> None:
    if media.data is None and media.url is None and not media.opaque and media.native is None:
        raise InvalidValue(
            "media needs a source.", where=where, help="Give data, url or an opaque file id."
        )


def _with_arguments(
    call: ToolCall, place: Place, findings: list[Finding], *, copied: bool = False
) -> ToolCall:
    """`call` with its arguments in both forms, and with an object that no caller can change.

    `copied`: its object is a copy already.
    """
    if call.args is None:
        reported: list[Finding] = []
        call = with_arguments(call, reported)
        if reported:
            findings += inside(in_words(place), reported)
        return call
    is_read = call.raw is not None and call.kind != "custom" and not is_canonical_tool_id(call.id)
    read = parse_arguments(call.raw) if is_read else None
    if is_read and read == call.args:
        # Reading the text once more is the quickest copy.
        return replace(call, args=read)
    if not copied:
        args, changed = plain_json(call.args, f"{in_words(place)}.args")
        findings += changed
        call = replace(call, args=args)
    if is_read and read != call.args:
        why = "The parsed arguments and their text say different things; the parsed ones count."
        where = f"{in_words(place)}.raw"
        findings.append(Finding("arguments_disagree", where, Action.DROPPED, why, Fault.INPUT))
        call = replace(call, raw=None)
    return call


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
