"""Admission: every value that enters a conversation is checked here, and only here.

In: an entry as a caller or a decoder built it. Out: the same entry with plain JSON inside, text
that UTF-8 can carry and arguments in both forms, and findings for what had to change. A value of
the wrong type is refused with its path before anything is written.
"""

from operator import is_
from typing import get_args

from msgspec.structs import replace

from canonicall.arguments import inside, parse_arguments, with_arguments
from canonicall.blocks import Block, CallClosed, Entry, Media, Message, ToolCall, ToolResult
from canonicall.common_case import is_plain_block, is_plain_frame, is_plain_message
from canonicall.conform import conform
from canonicall.decisions import RECORDS
from canonicall.errors import InvalidValue
from canonicall.findings import Action, Fault, Finding, Place, in_words
from canonicall.ids import is_canonical_tool_id
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
