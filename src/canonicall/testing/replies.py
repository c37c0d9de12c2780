"""From what a model said to what its provider sends: ids, figures, faults of whole replies.

A reply is cut where the request limits its tokens. A token is four characters of text, of a
thought, or of the name and the arguments of a call.
"""

from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from canonicall.blocks import Block, Message, Origin, Text, Thinking, ToolCall
from canonicall.facts.habits import format_habits
from canonicall.facts.target import Target
from canonicall.folding import raw_arguments
from canonicall.reply import LENGTH, STOP, Reply, Usage
from canonicall.request import Request
from canonicall.syntax.detection import first_printed_by
from canonicall.syntax.registry import get_syntax
from canonicall.testing.faults import Fault
from canonicall.testing.issued_ids import call_id, response_id
from canonicall.transcript.thinking import as_asked

_PER_TOKEN = 4
_LEAK = "hermes"
"""The syntax that calls leak in if the host is known to print any, or none: the most common one."""


def issued(
    reply: Reply, request: Request, target: Target, number: int, faults: frozenset[Fault]
) -> Reply:
    """`reply` as answer `number` of a simulator, with ids and figures."""
    reply = faulty(reply, faults, target)
    made = response_id(target.format, number)
    origin = Origin(target.provider, target.format, model=target.model, response_id=made)
    reused = Fault.REUSED_IDS in faults
    before = 0 if reused else sum(len(one.calls) for one in request.conversation.messages)
    seed = "again" if reused else str(number)
    thought = _demanded_thought(reply.message, as_asked(target, request.params))
    blocks = tuple(_with_ids((*thought, *reply.message.blocks), target, before, seed))
    message = replace(reply.message, blocks=blocks, origin=origin)
    limit = request.params.max_tokens
    # Ollama: a negative number is no limit.
    if limit is not None and 0 <= limit < _tokens(message.blocks):
        message = _limited(message, limit, target)
        usage = replace(reply.usage or _figures(request, message), output_tokens=limit)
        return replace(reply, message=message, usage=usage)
    return replace(reply, message=message, usage=reply.usage or _figures(request, message))


def _demanded_thought(message: Message, target: Target) -> tuple[Block, ...]:
    """The thought that a model has before its calls where the provider wants it passed back."""
    is_thoughtless = not any(isinstance(block, Thinking) for block in message.blocks)
    is_wanted = target.reasoning_placeholder is not None and target.thinks
    if not is_wanted or not message.calls or not is_thoughtless:
        return ()
    return (Thinking(text="Tools will tell."),)


def faulty(reply: Reply, faults: frozenset[Fault], target: Target) -> Reply:
    """`reply` with the faults that are in what the model said."""
    message = reply.message
    if Fault.EMPTY_REPLY in faults:
        message = Message("assistant", finish=STOP)
    if Fault.LEAKED_CALLS in faults and message.calls:
        message = _leaked(message, target)
    if Fault.BAD_ARGUMENTS in faults:
        message = _with_first_call(message)
    if Fault.CUT_ARGUMENTS in faults and message.calls:
        message = _cut(message)
    return replace(reply, message=message)


def _leaked(message: Message, target: Target) -> Message:
    """`message` with its calls as text, as the host is known to print them."""
    printer = (first_printed_by(target) or get_syntax(_LEAK)).print_calls
    if printer is None:
        return message
    rest = tuple(block for block in message.blocks if not isinstance(block, ToolCall))
    printed = Text(text=printer(message.calls))
    return replace(message, blocks=(*rest, printed), finish=STOP)


def _with_first_call(message: Message) -> Message:
    """`message` whose first call has arguments that no parser takes."""
    blocks = list(message.blocks)
    for at, block in enumerate(blocks):
        if isinstance(block, ToolCall):
            blocks[at] = replace(block, args=None, raw=raw_arguments(block)[:-1] + ", }")
            break
    return replace(message, blocks=tuple(blocks))


def _cut(message: Message) -> Message:
    """`message` up to the midst of the arguments of its last call."""
    at = max(n for n, block in enumerate(message.blocks) if isinstance(block, ToolCall))
    call = message.blocks[at]
    raw = raw_arguments(call) if isinstance(call, ToolCall) else ""
    broken = replace(call, args=None, raw=raw[: max(len(raw) // 2, 1)], truncated=True)
    return replace(message, blocks=(*message.blocks[:at], broken), finish=LENGTH)


def _with_ids(blocks: Iterable[Block], target: Target, before: int, seed: str) -> Iterable[Block]:
    number = before
    for block in blocks:
        if isinstance(block, ToolCall) and not block.id:
            # Gemini gives ids from 3.5 on; calls without one are the common case before.
            id = "" if target.ids.style == "echoed" else call_id(target, block.name, number, seed)
            yield replace(block, id=id, index=number - before)
            number += 1
        else:
            yield block


def _limited(message: Message, limit: int, target: Target) -> Message:
    """`message` up to so many tokens; the call that the limit is reached in is cut."""
    left = max(limit * _PER_TOKEN - 1, 0)
    kept: list[Block] = []
    for block in message.blocks:
        size = _size(block)
        part = block if size <= left else _part(block, left, target)
        if part is not None:
            kept.append(part)
        if size > left:
            break
        left -= size
    return replace(message, blocks=tuple(kept), finish=LENGTH)


def without_cut_arguments(reply: Reply) -> Reply:
    """`reply` for a whole body with arguments as objects: those of a cut call are lost."""
    blocks = tuple(
        replace(block, args={}, raw="", truncated=False)
        if isinstance(block, ToolCall) and block.truncated
        else block
        for block in reply.message.blocks
    )
    return replace(reply, message=replace(reply.message, blocks=blocks))


def _part(block: Block, left: int, target: Target) -> Block | None:
    """The first `left` characters of a block; None where nothing of it is sent."""
    if isinstance(block, Text | Thinking):
        return replace(block, text=block.text[:left]) if left else None
    if not isinstance(block, ToolCall) or left <= len(block.name):
        return None
    if not format_habits(target.format).cuts_calls:
        return None
    raw = raw_arguments(block)[: left - len(block.name)]
    return replace(block, args=None, raw=raw, truncated=True)


def _size(block: Block) -> int:
    """The characters of a block that count as tokens."""
    if isinstance(block, ToolCall):
        return len(block.name) + len(raw_arguments(block))
    return len(block.text) if isinstance(block, Text | Thinking) else 0


def _tokens(blocks: Iterable[Block]) -> int:
    return sum(map(_size, blocks)) // _PER_TOKEN + 1


def _figures(request: Request, message: Message) -> Usage:
    """Tokens by the rule of thumb of four characters each."""
    asked = sum(len(msgspec.json.encode(one)) for one in request.conversation.messages)
    return Usage(asked // _PER_TOKEN + 1, _tokens(message.blocks))
