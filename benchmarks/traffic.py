"""Conversations for the benchmarks: the same bytes in every run."""

import itertools
from collections.abc import Iterator

from canonicall import Message, Origin, Text, ToolCall, ToolResult

_ORIGIN = Origin("kimi", format="openai-chat", model="some-model")


def mixed_messages(count: int, *, reuse_ids: bool = False, mark: str = "") -> list[Message]:
    """`count` messages: a question, a reply with two calls, their results, and so on again.

    Those with different marks share no message.
    """
    return list(itertools.islice(_endless(reuse_ids, mark), count))


def _endless(reuse_ids: bool, mark: str) -> Iterator[Message]:
    for turn in (f"{mark}{number}" for number in itertools.count()):
        number = 0 if reuse_ids else turn
        raw_ids = (f"functions.read_file:{number}", f"functions.search:{number}")
        yield Message("user", (Text(text=f"Please look at part {turn} of the project."),))
        yield Message("assistant", _reply(turn, raw_ids), origin=_ORIGIN, finish="tool_calls")
        for raw_id in raw_ids:
            content = (Text(text=f"Line {turn} of the file, and what follows it."),)
            yield Message("tool", (ToolResult(call_id=raw_id, content=content),))


def _reply(turn: str, raw_ids: tuple[str, str]) -> tuple[Text | ToolCall, ...]:
    first, second = raw_ids
    path = {"path": f"src/part_{turn}.py", "lines": [1, 80]}
    return (
        Text(text=f"I will read file {turn} and search for its uses."),
        ToolCall(id=first, name="read_file", args=path),
        ToolCall(id=second, name="search", args={"text": f"part_{turn}", "case": False}),
    )
