"""Whether damaged input stays linear: ids left out, results sent again and again."""

from collections.abc import Callable

from canonicall import Conversation, Message, Text, ToolCall, ToolResult
from canonicall.blocks import Entry
from measuring import Ratio, Side, compare

SHORT = 1_000
LONG = 10_000
LINEAR = 2.0


def ratios() -> list[Ratio]:
    """Ten times the damage: what one result of it costs then."""
    return [
        _growth("calls without id, answered by name in reverse: 10,000 / 1,000", _without_ids),
        _growth("results for the same call: 10,000 / 1,000", _sent_again),
    ]


def _growth(what: str, entries: Callable[[int], list[Entry]]) -> Ratio:
    long, short = entries(LONG), entries(SHORT)
    return compare(
        what,
        Side(lambda: Conversation.of(long), LONG),
        Side(lambda: Conversation.of(short), SHORT),
        goal=LINEAR,
    )


def _without_ids(count: int) -> list[Entry]:
    """One reply with `count` calls of tools of their own; the last one is answered first."""
    names = [f"tool_{number}" for number in range(count)]
    calls = tuple(ToolCall(name=name, args={}) for name in names)
    done = (Text(text="done"),)
    answers = (ToolResult(name=name, content=done) for name in reversed(names))
    return [Message("assistant", calls), *(Message("tool", (one,)) for one in answers)]


def _sent_again(count: int) -> list[Entry]:
    """One call and `count` results for it."""
    result = ToolResult(call_id="call_0", content=(Text(text="done"),))
    call = ToolCall(id="call_0", name="read_file", args={})
    return [Message("assistant", (call,)), *([Message("tool", (result,))] * count)]
