"""The inputs of the net: recorded traffic, vectors, refusals and error texts, as plain values.

In: the folders that `CANONICALL_CORPUS` and `CANONICALL_VECTORS` name, and the tables under
`tests/` of the working tree. Out: values of JSON. Nothing of canonicall is imported here: every
revision gets the same inputs.
"""

import json
import os
import re
import struct
import sys
from collections.abc import Iterator
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from zlib import crc32

_T = TypeVar("_T")

ROOT = Path(__file__).resolve().parents[2]
_TESTS = ROOT / "tests"
FORMATS = {
    "openai-chat": "openai-chat",
    "openai-responses": "openai-responses",
    "anthropic-messages": "anthropic",
    "gemini-generate": "gemini",
    "bedrock-converse": "bedrock",
    "cohere-v2": "cohere",
    "ollama-chat": "ollama",
}
"""The wire format of a recorded protocol. The other protocols are read for their errors only."""
_STREAM_PATHS = {
    "gemini": "/v1beta/models/{model}:streamGenerateContent?alt=sse",
    "bedrock": "/model/{model}/converse-stream",
}


class InputsMissing(Exception):
    """A folder of inputs is not there."""


class Recording(NamedTuple):
    """One recorded exchange."""

    id: str
    provider: str
    format: str
    """Empty for a protocol that canonicall does not read."""
    model: str
    request: dict[str, Any] | None
    response: Any
    framing: str
    is_stream: bool
    is_error: bool
    has_results: bool

    @property
    def path(self) -> str:
        """Where a client sends the request."""
        paths = _table("refusals.rows").PATHS
        path = (_STREAM_PATHS if self.is_stream else paths).get(self.format, paths[self.format])
        return str(path.format(model=self.model or "any-model"))

    @property
    def stream(self) -> bytes | None:
        """The recorded stream in its framing; None if the reply came whole."""
        return _stream_bytes(self) if isinstance(self.response, list) else None


class Vector(NamedTuple):
    """One text that a model wrote, and how to read it."""

    id: str
    engine: str
    syntax: str
    text: str
    tools: list[dict[str, Any]] | None
    starts_in_thinking: bool


class Row(NamedTuple):
    """One body of the tables of refusals, refused or accepted."""

    id: str
    provider: str
    format: str
    path: str
    body: Any
    words: str


class ErrorText(NamedTuple):
    """One text of a provider's error."""

    id: str
    origin: str
    text: str


def recordings(limit: int = 0) -> Iterator[Recording]:
    """All recordings, in the order of their files; about `limit` of them, evenly spread."""
    lines = _lines(folder("CANONICALL_CORPUS"), "*.jsonl")
    for record in map(json.loads, thinned(lines, limit)):
        yield Recording(
            id=record["id"],
            provider=record["provider"],
            format=FORMATS.get(record["protocol"], ""),
            model=record["model"] or "",
            request=record["request"],
            response=record["response"],
            framing=record["framing"],
            is_stream=bool(record["stream"]),
            is_error=bool(record.get("is_error")) or (record["status"] or 200) >= 400,
            has_results=bool(record["has_tool_results"]),
        )


def vectors(limit: int = 0) -> Iterator[Vector]:
    """All texts of models, in the order of their files."""
    for line in thinned(_lines(folder("CANONICALL_VECTORS"), "*.jsonl"), limit):
        record = json.loads(line)
        yield _typed_value(record) if "text" not in record else _text(record)


def rows(limit: int = 0) -> list[Row]:
    """The bodies of `tests/refusals`."""
    names = sorted(path.stem for path in (_TESTS / "refusals").glob("*.py"))
    tables = [
        (f"{name} {table}", getattr(_table(f"refusals.{name}"), table, {}))
        for name in names
        if not name.startswith("test_")
        for table in ("ROWS", "ACCEPTED")
    ]
    found = [
        Row(f"{table}: {name}", row.provider, row.format, row.path, row.body, row.words)
        for table, named in tables
        for name, row in named.items()
    ]
    return thinned(found, limit)


def error_texts(limit: int = 0) -> list[ErrorText]:
    """The texts of `tests/verify/error_words.py` and those of the refusals."""
    words = [
        ErrorText(f"{number:03} {code}", "error_words", text)
        for number, (code, text) in enumerate(_table("verify.error_words").WORDS)
    ]
    # The text of a row is a pattern; without backslashes it is close to what a provider sends.
    refused = [
        ErrorText(row.id, "refusals", re.sub(r"\\(.)", r"\1", row.words))
        for row in rows()
        if row.words
    ]
    return thinned([*words, *refused], limit)


def fingerprint() -> str:
    """A hash of the folders that are not part of the repository."""
    digest = sha256()
    for variable in ("CANONICALL_CORPUS", "CANONICALL_VECTORS"):
        for path in sorted(folder(variable).glob("*.jsonl")):
            digest.update(path.name.encode() + sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def folder(variable: str) -> Path:
    """The folder that an environment variable names."""
    named = os.environ.get(variable, "")
    if not named or not Path(named).is_dir():
        raise InputsMissing(f"{variable} does not name a folder: {named or 'it is not set'}")
    return Path(named)


def thinned(values: list[_T], limit: int) -> list[_T]:
    """About `limit` of the values, evenly spread; all of them where it is 0."""
    return values[:: -(-len(values) // limit)] if limit and values else values


def _table(module: str) -> Any:
    """A module of the tests that holds nothing but data."""
    if str(_TESTS) not in sys.path:
        sys.path.append(str(_TESTS))
    return import_module(module)


def _lines(where: Path, pattern: str) -> list[str]:
    paths = sorted(where.glob(pattern))
    return [line for path in paths for line in path.read_text("utf-8").split("\n") if line]


def _text(record: dict[str, Any]) -> Vector:
    tools = record.get("tools")
    offered = tools and [one if isinstance(one, dict) else {"name": one} for one in tools]
    thinks = bool(record.get("starts_in_reasoning"))
    engine, syntax = record["engine"], record["format"]
    return Vector(record["id"], engine, syntax, record["text"], offered, thinks)


def _typed_value(record: dict[str, Any]) -> Vector:
    """A raw value and the type of its parameter, in a call that has it as its only argument."""
    raw, id = record["raw"], f"{record['desc']}: {record['raw']}"
    if record["schema_type"] == "gemma4-args":
        text = f"<|tool_call>call:f{raw}<tool_call|>"
        return Vector(id, "typed values", "gemma4", text, None, starts_in_thinking=False)
    schema = {"type": record["schema_type"]["_pos"]} if record["schema_type"] else {}
    parameters = {"type": "object", "properties": {"value": schema}}
    tools = [{"type": "function", "function": {"name": "f", "parameters": parameters}}]
    text = (
        f"<tool_call>\n<function=f>\n<parameter=value>{raw}</parameter>\n</function>\n</tool_call>"
    )
    return Vector(id, "typed values", "qwen3_coder_xml", text, tools, starts_in_thinking=False)


def _stream_bytes(recording: Recording) -> bytes:
    frames = recording.response
    match recording.framing:
        case "eventstream":
            return b"".join(map(_event_stream_frame, frames))
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


def _event_stream_frame(frame: dict[str, Any]) -> bytes:
    """A frame of an AWS event stream: lengths, checksum, headers, payload, checksum."""
    named = {
        ":event-type": frame["event"],
        ":content-type": "application/json",
        ":message-type": "event",
    }
    headers = b"".join(
        struct.pack(">B", len(name)) + name.encode() + struct.pack(">BH", 7, len(value)) + value
        for name, value in ((name, value.encode()) for name, value in named.items())
    )
    payload: bytes = frame["data"].encode()
    lengths = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    whole = lengths + struct.pack(">I", crc32(lengths)) + headers + payload
    return whole + struct.pack(">I", crc32(whole))
