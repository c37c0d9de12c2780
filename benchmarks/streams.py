"""Streams between Chat completions and Anthropic, bytes to bytes, an event at a time.

The floor is what no translator can go below: parsing the payload of each event and writing it
again. What one event costs must not depend on how many came before it, nor on how long the
arguments of a call have grown.
"""

import itertools
import json
from functools import cache

import orjson

from canonicall import StreamDecoder, StreamEncoder
from measuring import Ratio, Side, compare

EVENTS = 2_000
PIECE = 4


def ratios() -> list[Ratio]:
    """Both directions against the floor, and long streams against short ones."""
    chat, claude = chat_stream(EVENTS), anthropic_stream(EVENTS)
    few, many = chat_stream(1_000), chat_stream(100_000)
    short, long = chat_arguments(100_000), chat_arguments(1_000_000)
    return [
        compare(
            "Chat to Anthropic, per event / floor",
            _translation(chat, "openai-chat", "anthropic", len(chat)),
            _floor(chat),
            goal=3,
        ),
        compare(
            "Anthropic to Chat, per event / floor",
            _translation(claude, "anthropic", "openai-chat", len(claude)),
            _floor(claude),
            goal=3,
        ),
        compare(
            "an event of 100,000 / one of 1,000",
            _translation(many, "openai-chat", "anthropic", len(many)),
            _translation(few, "openai-chat", "anthropic", len(few)),
            goal=1.2,
        ),
        compare(
            "a byte of 1 MB of arguments / one of 100 KB",
            _translation(long, "openai-chat", "anthropic", 1_000_000),
            _translation(short, "openai-chat", "anthropic", 100_000),
            goal=1.2,
        ),
    ]


def chat_stream(events: int, mark: str = "", words: str = "") -> list[bytes]:
    """Half text, half arguments, each chunk as it comes from the socket.

    Streams with different marks differ in every piece of text; those of `words` in the first.
    """
    half = events // 2
    pieces = _arguments(half * PIECE, mark, words)
    texts = _texts(half, mark, words)
    chunks = {text: _chunk({"content": text}) for text in dict.fromkeys(texts)}
    first = {"name": "write_file", "arguments": ""}
    call = {"index": 0, "id": "call_" + "0" * 24, "type": "function", "function": first}
    return [
        _chunk({"role": "assistant", "content": ""}),
        *[chunks[text] for text in texts],
        _chunk({"tool_calls": [call]}),
        *[_call_chunk(piece) for piece in pieces],
        _chunk({}, "tool_calls"),
        b"data: [DONE]\n\n",
    ]


def chat_arguments(size: int) -> list[bytes]:
    """One call whose arguments are a text of this size, a few characters at a time."""
    first = {"name": "write_file", "arguments": ""}
    call = {"index": 0, "id": "call_" + "0" * 24, "type": "function", "function": first}
    chunks = [_call_chunk(piece) for piece in _arguments(size)]
    return [_chunk({"tool_calls": [call]}), *chunks, _chunk({}, "tool_calls")]


def anthropic_stream(events: int, mark: str = "", words: str = "") -> list[bytes]:
    """The same in the events of Messages."""
    half = events // 2
    usage = {"input_tokens": 100, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5"}
    texts = [{"type": "text_delta", "text": text} for text in _texts(half, mark, words)]
    call = {"type": "tool_use", "id": "toolu_" + "0" * 24, "name": "write_file", "input": {}}
    ending = {"stop_reason": "tool_use", "stop_sequence": None}
    inputs = [
        {"type": "input_json_delta", "partial_json": piece}
        for piece in _arguments(half * PIECE, mark, words)
    ]
    return [
        _event("message_start", message=message | {"content": [], "usage": usage}),
        _event("content_block_start", index=0, content_block={"type": "text", "text": ""}),
        *[_event("content_block_delta", index=0, delta=text) for text in texts],
        _event("content_block_stop", index=0),
        _event("content_block_start", index=1, content_block=call),
        *[_event("content_block_delta", index=1, delta=piece) for piece in inputs],
        _event("content_block_stop", index=1),
        _event("message_delta", delta=ending, usage={"output_tokens": 900}),
        _event("message_stop"),
    ]


def translate_stream(chunks: list[bytes], source: str, target: str) -> None:
    """Read a stream and write it in another format, a chunk at a time."""
    decoder, encoder = StreamDecoder(source), StreamEncoder(target)
    for chunk in chunks:
        encoder.feed_all(decoder.feed(chunk))
    encoder.feed_all(decoder.close())


def _translation(chunks: list[bytes], source: str, target: str, units: int) -> Side:
    return Side(lambda: translate_stream(chunks, source, target), units)


def _floor(chunks: list[bytes]) -> Side:
    payloads = [chunk[chunk.index(b"{") :].rstrip() for chunk in chunks if b"{" in chunk]

    def read_and_write() -> None:
        for payload in payloads:
            orjson.dumps(orjson.loads(payload))

    return Side(read_and_write, len(payloads))


def _texts(count: int, mark: str, words: str) -> list[str]:
    if words:
        pieces = [f" {word}" for word in words.split(" ")]
        return [mark, *itertools.islice(itertools.cycle(pieces), count - 1)]
    return [f"{mark}{number} " for number in range(count)] if mark else ["word "] * count


def _arguments(size: int, mark: str = "", words: str = "") -> list[str]:
    line = words or "a line of code, "
    text = json.dumps({"path": f"src/main{mark}.py", "text": line * (size // len(line))})
    return [text[at : at + PIECE] for at in range(0, len(text), PIECE)]


@cache
def _call_chunk(piece: str) -> bytes:
    """Equal ones are one object: bytes from a socket are warm, those of a long list are not."""
    return _chunk({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})


def _chunk(delta: dict[str, object], reason: str | None = None) -> bytes:
    chunk = {
        "id": "chatcmpl-" + "0" * 29,
        "object": "chat.completion.chunk",
        "created": 1_780_000_000,
        "model": "gpt-4.1-2025-04-14",
        "service_tier": "default",
        "system_fingerprint": "fp_0123456789",
        "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}],
        "usage": None,
    }
    return b"data: " + orjson.dumps(chunk) + b"\n\n"


def _event(name: str, **fields: object) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (name.encode(), orjson.dumps({"type": name, **fields}))
