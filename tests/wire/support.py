"""What the tests of several formats share: turns under the ids of the wire, and spoiled bodies."""

from msgspec.structs import replace

from canonicall.blocks import ToolCall, ToolResult
from canonicall.findings import Report
from canonicall.transcript.turns import Transcript, Turn


def with_raw_id(block):
    if isinstance(block, ToolCall):
        return replace(block, id=block.raw_id)
    return replace(block, call_id=block.raw_id) if isinstance(block, ToolResult) else block


def as_turn(message):
    """A canonical message as a turn with the ids of the wire."""
    return Turn(message.role, tuple(map(with_raw_id, message.blocks)), native=message.native)


def transcript(request, names=None):
    """The conversation of a request as it came, without anything a renderer would do to it."""
    turns = tuple(map(as_turn, request.conversation.messages))
    return Transcript(turns, {}, names or {}, Report())


def places(value, path=()):
    """The path of every value inside a JSON value."""
    yield path
    if isinstance(value, (dict, list)):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def put(value, path, new):
    """`value` with `new` in one place."""
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = put(value[path[0]], path[1:], new)
    return copy
