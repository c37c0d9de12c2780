"""Whether a body has only grown: what was sent before stands in it, unchanged, at the beginning."""

from itertools import takewhile
from typing import Any

import msgspec

from canonicall.codec.encode import Encoded

_SHOWN = 80
"""Characters that are shown on each side of a difference."""
_LISTS = ("messages", "contents", "input")


def messages_of(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The list that grows with the conversation."""
    (name,) = (name for name in _LISTS if name in body)
    messages: list[dict[str, Any]] = body[name]
    return messages


def history_of(made: Encoded) -> list[dict[str, Any]]:
    """The messages that stay: without what was put at the end to have something to answer."""
    messages = messages_of(made.body)
    return _without_last(messages) if "ending_added" in made.report else messages


def _without_last(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """`messages` up to the last one, and without instructions that follow it."""
    behind = next(at for at, one in enumerate(reversed(messages)) if one.get("role") != "system")
    return messages[: len(messages) - behind - 1]


def shared(before: Encoded, after: Encoded) -> int | None:
    """How many messages of `before` stand unchanged in `after`; None where one is another.

    Words of the same role may join the last message at its end, where the target wants one message
    in place of two: that one has grown, and is not counted. Nor is a last message whose white space
    was cut off: it has it again when something follows.
    """
    short, long = history_of(before), history_of(after)
    if "ending_trimmed" in before.report:
        short = _without_last(short)
    if long[: len(short)] == short:
        return len(short)
    head = len(short) - 1
    if long[:head] != short[:-1] or len(long) <= head or not _has_grown(short[-1], long[head]):
        return None
    return head


def bytes_up_to(made: Encoded, count: int) -> bytes:
    """The body as JSON to the end of its first `count` messages, which have to stand last in it."""
    (name,) = (name for name in _LISTS if name in made.body)
    cut = {**made.body, name: messages_of(made.body)[:count]}
    return msgspec.json.encode(cut).removesuffix(b"]}")


def is_prefix(before: Encoded, after: Encoded) -> bool:
    """Whether `after` begins with the bytes of `before`, as far as its messages stay.

    Tools declared because the history calls them stand before the messages: the finding says so.
    """
    count = shared(before, after)
    if not count or "tool_stubs_added" in after.report:
        return count is not None
    return after.data.startswith(bytes_up_to(before, count))


def parting(before: Encoded, after: Encoded) -> str:
    """Where two bodies begin to differ, with what stands there in each."""
    one, other = before.data.decode(), after.data.decode()
    same = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    at = sum(1 for _ in same)
    begin, end = max(0, at - _SHOWN), at + _SHOWN
    return f"from character {at} on: ...{one[begin:end]}... became ...{other[begin:end]}..."


def _has_grown(short: dict[str, Any], long: dict[str, Any]) -> bool:
    """Whether a message says what it said before, and then more at the end of its content."""
    return any(
        _parts_of(long[name])[: len(_parts_of(value))] == _parts_of(value)
        and {**long, name: value} == short
        for name, value in short.items()
        if name in long
    )


def _parts_of(content: Any) -> list[Any]:
    """The parts of a content. One text may stand for a list of that text (Messages API)."""
    if isinstance(content, list):
        return content
    return [{"type": "text", "text": content}]
