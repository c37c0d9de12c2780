"""Admission: every value that enters a conversation is checked here, and only here.

In: an entry as a caller or a decoder built it. Out: the same entry with plain JSON inside, text
that UTF-8 can carry and arguments in both forms, and findings for what had to change. A value of
the wrong type is refused with its path before anything is written.
"""

import json
from operator import is_
from typing import Any, get_args

import msgspec
from msgspec.structs import replace

from canonicall.blocks import Block, CallClosed, Entry, Media, Message, ToolCall, ToolResult
from canonicall.common_case import is_plain_block, is_plain_frame, is_plain_message
from canonicall.conform import conform
from canonicall.decisions import RECORDS
from canonicall.errors import InvalidValue
from canonicall.findings import Action, Fault, Finding, Place, in_words
from canonicall.ids import is_canonical_tool_id
from canonicall.plain import MAX_DEPTH, plain_json

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
    if ToolCall not in map(type, entry.blocks):
        # Plain words, thoughts and results: only calls are left to be completed.
        return entry
    blocks = _with_own_arguments(entry.blocks, at, findings)
    for index, block in enumerate(blocks):
        if type(block) is ToolCall:
            blocks[index] = _with_arguments(block, (at, index), findings)
    return replace(entry, blocks=tuple(blocks))


def parse_arguments(raw: str | None) -> dict[str, Any] | None:
    """The JSON object in `raw`, None if there is none. Nothing, blank and null mean `{}`."""
    if not raw or raw.isspace():
        return {}
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeEncodeError):
        # The strict parser refuses escaped lone surrogates, which models do write.
        value = _lenient(raw) if "\\u" in raw or not raw.isascii() else None
    except RecursionError:
        value = None
    if isinstance(value, str) and value != raw:
        # Encoded twice: the text of an object, or an empty text, inside a JSON text.
        return parse_arguments(value)
    if not isinstance(value, dict):
        return {} if raw.strip() == "null" else None
    # What the strict parser gives is plain already, unless it is nested too deeply to be kept:
    # every level has an opening bracket and a closing one.
    if len(raw) < 2 * MAX_DEPTH or raw.count("{") + raw.count("[") < MAX_DEPTH:
        return value
    return _plain_object(value)


def _lenient(raw: str) -> dict[str, Any] | None:
    try:
        return _plain_object(json.loads(raw))
    except (ValueError, RecursionError):
        return None


def _plain_object(value: Any) -> dict[str, Any] | None:
    try:
        plain, _ = plain_json(value, "$")
    except InvalidValue:
        return None
    return plain if isinstance(plain, dict) else None


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


def _with_own_arguments(blocks: tuple[Block, ...], at: int, findings: list[Finding]) -> list[Block]:
    """`blocks` with copies of the arguments that came parsed."""
    copied = list(blocks)
    for index, block in enumerate(blocks):
        if type(block) is ToolCall and block.args is not None:
            args, told = plain_json(block.args, f"{in_words((at, index))}.args")
            findings += told
            copied[index] = replace(block, args=args)
    return copied


def _admit_block(block: Block, place: Place, findings: list[Finding]) -> Block:
    if type(block) is ToolCall:
        return _with_arguments(block, place, findings)
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


def _with_arguments(call: ToolCall, place: Place, findings: list[Finding]) -> ToolCall:
    """`call` with its arguments in both forms, the parsed one where there is one."""
    if call.kind == "custom":
        return call
    if call.args is None:
        args = parse_arguments(call.raw)
        if args is None:
            why = (
                f"The arguments of {call.name or 'the call'} are not a JSON object;"
                " only their text is kept."
            )
            findings.append(
                Finding(
                    "arguments_unreadable",
                    f"{in_words(place)}.raw",
                    Action.KEPT,
                    why,
                    Fault.INPUT,
                )
            )
        elif call.raw is not None and call.raw.lstrip().startswith('"'):
            why = "The arguments came as a JSON text that holds their JSON; it was read as meant."
            findings.append(
                Finding(
                    "arguments_unwrapped",
                    f"{in_words(place)}.raw",
                    Action.CHANGED,
                    why,
                    Fault.INPUT,
                )
            )
        return replace(call, args=args)
    if call.raw is None or is_canonical_tool_id(call.id):
        return call
    if parse_arguments(call.raw) != call.args:
        why = "The parsed arguments and their text say different things; the parsed ones count."
        findings.append(
            Finding(
                "arguments_disagree",
                f"{in_words(place)}.raw",
                Action.DROPPED,
                why,
                Fault.INPUT,
            )
        )
        return replace(call, raw=None)
    return call
