"""The growth law, as must-rows: four times as much costs at most five times as much.

Requests with many messages of each role, calls, results, parts, images and tools, valid and
damaged, are judged as they came and read in every format, then written and judged for targets that
differ in what they merge, bridge, split, move and number. Streams of many pieces and calls are
written, judged, read and accumulated in every format. A row is the format or the target that grew
the most.

CPU time of 8,000 is compared with that of 2,000. What seems to grow too much is measured up to
three times, and the best counts: noise only adds. The garbage collector is off meanwhile: how often
it looks through all objects of a process depends on the process. No list of tools is used twice, so
that nothing remembered of one helps with the next.
"""

import gc
from collections.abc import Callable, Iterable
from functools import cache, partial
from itertools import count
from time import process_time
from typing import Any, TypeAlias

from canonicall import (
    Conversation,
    Reply,
    StreamDecoder,
    StreamEncoder,
    Tool,
    ToolCallAccumulator,
    decode_request,
    encode_request,
    verify,
    verify_stream,
)
from canonicall.guard.replies import checked_reply
from measuring import Ratio
from sized_bodies import CASES, FORMATS, JUDGED_FOR, TOOLS, sized_body
from sized_streams import STREAMS, reply_with_calls

SHORT = 2_000
LONG = 8_000
GOAL = 5.0
ATTEMPTS = 3
SHORT_RUNS = 2
"""The short side is the mean of these: the best of short runs is a lucky one."""
SOURCE = "openai-chat"
TARGETS = (
    "anthropic",
    "anthropic:claude-opus-5",
    "openai",
    "openai/openai-responses",
    "gemini",
    "mistral",
    "mistral:open-mixtral-8x7b",
    "bedrock",
    "bedrock:meta.llama3-70b-instruct-v1:0",
    "cohere",
    "ollama",
    "deepseek",
    "kimi",
)

Work: TypeAlias = Callable[[Any], Any]
Stages: TypeAlias = dict[str, Work]
"""Pieces of work by their names; each is given what the one before it returned."""
_marks = count()


def ratios() -> list[Ratio]:
    """One unit is all of it: 8,000 pieces beside 2,000."""
    rows = [row for what in CASES for row in _of_requests(what)]
    rows += (row for what in STREAMS for row in _of_streams(what))
    calls = _grown("", _reply_and_tools, {"checked": _checked})
    return [*rows, *_worst("calls and tools", [calls])]


def _of_requests(what: str) -> list[Ratio]:
    def body(size: int, format: str = SOURCE) -> dict[str, Any]:
        return sized_body(what, size, format, next(_marks))

    def request(size: int) -> Any:
        return decode_request(body(size), SOURCE)

    def entries(size: int) -> list[Any]:
        return list(request(size).conversation.entries)

    # Only tools are remembered: without many of them a request can be written for all targets.
    made = request if what == TOOLS else cache(request)
    reading = [
        _grown(format, partial(body, format=format), _as_it_came(format)) for format in FORMATS
    ]
    writing = [_grown(target, made, _to(target)) for target in TARGETS]
    appending = [_grown("", entries, {"appended one by one": _appended})]
    return [*_worst(what, reading), *_worst(what, appending), *_worst(what, writing)]


def _of_streams(what: str) -> list[Ratio]:
    grown = [_grown(format, STREAMS[what], _streamed(format)) for format in FORMATS]
    return _worst(f"stream of {what}", grown)


def _grown(name: str, make: Callable[[int], Any], stages: Stages) -> dict[str, Ratio]:
    """How much each stage grows; measured again if one grows too much."""
    best: dict[str, Ratio] = {}
    for _ in range(ATTEMPTS):
        long = _seconds(make(LONG), stages)
        short = [_seconds(make(SHORT), stages) for _ in range(SHORT_RUNS)]
        for stage, seconds in long.items():
            mean = sum(one[stage] for one in short) / SHORT_RUNS
            row = Ratio(f"{stage}, {name}".rstrip(", "), seconds, mean, GOAL, must=True)
            best[stage] = min(best.get(stage, row), row, key=lambda one: one.ratio)
        if all(row.met for row in best.values()):
            break
    return best


def _seconds(value: Any, stages: Stages) -> dict[str, float]:
    found: dict[str, float] = {}
    for stage, work in stages.items():
        gc.disable()
        begin = process_time()
        value = work(value)
        found[stage] = process_time() - begin
        gc.enable()
    return found


def _worst(what: str, grown: list[dict[str, Ratio]]) -> list[Ratio]:
    """Of each stage the row that grew the most."""
    rows = [max((one[stage] for one in grown), key=lambda row: row.ratio) for stage in grown[0]]
    return [row._replace(what=f"{what}: {row.what}") for row in rows]


def _as_it_came(format: str) -> Stages:
    def judge(body: dict[str, Any]) -> dict[str, Any]:
        verify(body, JUDGED_FOR[format])
        return body

    return {"judged as it came": judge, "read": lambda body: decode_request(body, format)}


def _to(target: str) -> Stages:
    return {
        "written": lambda request: encode_request(request, target).body,
        "judged": lambda body: verify(body, target),
    }


def _streamed(format: str) -> Stages:
    def write(events: list[Any]) -> list[bytes]:
        encoder = StreamEncoder(format)
        chunks = [encoder.feed(event) for event in events]
        return [chunk for chunk in (*chunks, encoder.close()) if chunk]

    def judge(chunks: list[bytes]) -> list[bytes]:
        verify_stream(b"".join(chunks), format)
        return chunks

    def read(chunks: list[bytes]) -> list[Any]:
        decoder = StreamDecoder(format)
        events = [event for chunk in chunks for event in decoder.feed(chunk)]
        return [*events, *decoder.close()]

    return {"written": write, "judged": judge, "read": read, "accumulated": _accumulated}


def _accumulated(events: Iterable[Any]) -> None:
    accumulator = ToolCallAccumulator()
    for event in events:
        accumulator.add([event])


def _checked(given: tuple[Reply, list[Tool]]) -> None:
    checked_reply(*given, mode="repair")


def _appended(entries: list[Any]) -> None:
    conversation = Conversation()
    for entry in entries:
        conversation.append(entry)


def _reply_and_tools(size: int) -> tuple[Reply, list[Tool]]:
    names = [f"read_{next(_marks)}" for _ in range(size)]
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    return reply_with_calls(names), [Tool(name, parameters=schema) for name in names]
