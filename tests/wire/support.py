"""What the tests of several formats share: turns under the ids of the wire, and spoiled bodies."""

from msgspec.structs import replace

from canonicall.blocks import ToolCall, ToolResult
from canonicall.codec.passes import FITTED
from canonicall.findings import Report
from canonicall.transcript.cache_marks import fitted_marks
from canonicall.transcript.offer import sayable_choice
from canonicall.transcript.policy import Goal
from canonicall.transcript.turns import Transcript, Turn
from canonicall.wire.formats import get_format


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


def written(request, transcript, target):
    """The body, and all that was said, after the passes on which an encoder counts: what is chosen,
    what has a cache mark, and what the format alone demands."""
    wire, goal = get_format(target.format), Goal(target)
    for one in FITTED:
        if one.run.__module__ == sayable_choice.__module__:
            request = one.run(request, goal)
    for run in (fitted_marks, *(step.run for step in wire.passes)):
        request, transcript = run(request, transcript, goal)
    body, findings = wire.encode_request(request, transcript, target)
    return body, [*goal.findings, *findings]


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
