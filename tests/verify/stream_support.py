"""Streams of our own making: how frames are written, and what every broken one has to show."""

import ast
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from canonicall.framing.eventstream import write_frame
from canonicall.verify import StreamChecker, Violation, verify_stream
from canonicall.verify.codes import CODES
from canonicall.verify.streams.codes import STREAM_CODES

SOURCE = Path(__file__).parents[2] / "src" / "canonicall" / "verify" / "streams"
DONE = "[DONE]"

Event = dict[str, Any] | str


def named(events: Iterable[Event]) -> bytes:
    """Server-sent events named after their type."""
    return b"".join(
        f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
        if isinstance(event, dict)
        else f"data: {event}\n\n".encode()
        for event in events
    )


def unnamed(events: Iterable[Event]) -> bytes:
    """Server-sent events without names."""
    return b"".join(
        f"data: {event if isinstance(event, str) else json.dumps(event)}\n\n".encode()
        for event in events
    )


def lines(events: Iterable[Event]) -> bytes:
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


def aws(events: Iterable[Event]) -> bytes:
    """Frames of AWS: each event is `{type: payload}`; exceptions are told by their name."""
    return b"".join(
        write_frame(name, json.dumps(payload).encode(), exception=name.endswith("Exception"))
        for event in events
        if isinstance(event, dict)
        for name, payload in event.items()
    )


def codes_in(*modules: str) -> set[str]:
    """The codes that stand as literals in the source of a grammar."""
    return {
        node.value
        for module in modules
        for node in ast.walk(ast.parse((SOURCE / f"{module}.py").read_text("utf-8")))
        if isinstance(node, ast.Constant) and node.value in CODES | STREAM_CODES
    }


def found(data: bytes, format: str) -> set[str]:
    """The codes of a stream; each violation says what it has to say, however the bytes come."""
    report = verify_stream(data, format)
    for violation in report:
        assert isinstance(violation, Violation)
        assert violation.where.startswith("frames[")
        assert violation.why
        assert violation.repair
        assert violation.source
        assert violation.action == "refused"
    assert in_single_bytes(data, format) == list(report)
    return set(report.counts)


def in_single_bytes(data: bytes, format: str) -> list[Violation]:
    checker = StreamChecker(format)
    one_by_one = [one for at in range(len(data)) for one in checker.feed(data[at : at + 1])]
    return one_by_one + checker.close()


def is_complete(data: bytes, format: str) -> bool:
    checker = StreamChecker(format)
    assert not checker.feed(data)
    assert not checker.close()
    return checker.complete
