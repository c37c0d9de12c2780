"""Recorded streams as the bytes they were, and ways to cut them, for the tests of every format."""

import json
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import pytest

from canonicall.codec.streams import StreamDecoder
from canonicall.events import Event
from canonicall.framing.eventstream import write_frame
from corpus.support import every_record


def recorded_streams(*protocols: str) -> Iterator[tuple[str, str, bytes]]:
    """The id, the provider and the bytes of every stream of these protocols."""
    for record in every_record():
        if record["protocol"] in protocols and isinstance(record["response"], list):
            yield record["id"], record["provider"], stream_bytes(record)


def named_streams(protocol: str, step: int = 1) -> list[Any]:
    """The recorded streams of a protocol, or every n-th of them, as cases of a test."""
    found = list(recorded_streams(protocol))[::step]
    return [pytest.param(data, id=id) for id, _, data in found]


def pieces_of(whole: Any, cuts: Iterable[int]) -> list[Any]:
    """Text or bytes, cut at some places; numbers beyond the end count on from the start."""
    edges = [0, *sorted(cut % (len(whole) + 1) for cut in cuts), len(whole)]
    return [whole[start:end] for start, end in pairwise(edges)]


class Counted(str):
    """Text that counts how many of its characters are taken out of it."""

    __slots__ = ()
    taken = 0

    def __getitem__(self, key: Any) -> str:
        part = str.__getitem__(self, key)
        Counted.taken += len(part)
        return part


def sized(whole: bytes, size: int) -> list[bytes]:
    """Bytes in pieces of one size, the last of which may be shorter."""
    return [whole[start : start + size] for start in range(0, len(whole), size)]


def events_in(format: str, *pieces: bytes, provider: str = "") -> list[Event]:
    """The events of a whole stream that comes in these pieces."""
    decoder = StreamDecoder(format, provider=provider)
    return [event for piece in pieces for event in decoder.feed(piece)] + decoder.close()


def stream_bytes(record: dict[str, Any]) -> bytes:
    """The stream of a record in the framing it had."""
    frames = record["response"]
    match record["framing"]:
        case "eventstream":
            return b"".join(write_frame(one["event"], one["data"].encode()) for one in frames)
        case "ndjson":
            return b"".join(one["data"].encode() + b"\n" for one in frames)
        case "json-array":
            return json.dumps(frames, indent=2).encode()
        case _:
            return b"".join(map(_server_sent, frames))


def _server_sent(frame: dict[str, Any]) -> bytes:
    if "comment" in frame:
        return f": {frame['comment']}\n\n".encode()
    name = f"event: {frame['event']}\n" if frame["event"] else ""
    data = "".join(f"data: {line}\n" for line in frame["data"].split("\n"))
    return f"{name}{data}\n".encode()
