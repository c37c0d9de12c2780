"""A provider that answers at once: fixed bytes, in two formats, whole or streamed."""

import asyncio
import json
import sys

EVENTS = 200
_WORDS = "some words of a reply "


def _anthropic_stream() -> bytes:
    def event(name: str, value: dict[str, object]) -> bytes:
        return f"event: {name}\ndata: {json.dumps({'type': name, **value})}\n\n".encode()

    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 9, "output_tokens": 1},
    }
    delta = {"type": "text_delta", "text": _WORDS}
    parts = [event("message_start", {"message": message})]
    block = {"index": 0, "content_block": {"type": "text", "text": ""}}
    parts.append(event("content_block_start", block))
    parts += [event("content_block_delta", {"index": 0, "delta": delta})] * EVENTS
    parts.append(event("content_block_stop", {"index": 0}))
    ended = {"stop_reason": "end_turn", "stop_sequence": None}
    parts.append(event("message_delta", {"delta": ended, "usage": {"output_tokens": 99}}))
    parts.append(event("message_stop", {}))
    return b"".join(parts)


ANTHROPIC = json.dumps(
    {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [
            {"type": "text", "text": _WORDS * 4},
            {
                "type": "tool_use",
                "id": "toolu_1",
                "name": "get_weather",
                "input": {"city": "Paris"},
            },
        ],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 9, "output_tokens": 30},
    }
).encode()
CHAT = json.dumps(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": _WORDS * 4},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 9, "completion_tokens": 30, "total_tokens": 39},
    }
).encode()
_STREAM = _anthropic_stream()


def _whole(body: bytes) -> bytes:
    head = (
        f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def _chunks(pieces: list[bytes]) -> list[bytes]:
    return [f"{len(piece):x}\r\n".encode() + piece + b"\r\n" for piece in pieces]


_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
_PIECES = _chunks([one + b"\n\n" for one in _STREAM.split(b"\n\n") if one])


class Upstream(asyncio.Protocol):
    """One connection."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._data = b""

    def data_received(self, data: bytes) -> None:
        self._data += data
        while True:
            head, end, rest = self._data.partition(b"\r\n\r\n")
            if not end:
                return
            at = head.lower().find(b"content-length:")
            size = int(head[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
            if len(rest) < size:
                return
            body, self._data = rest[:size], rest[size:]
            self._answer(head, body)

    def _answer(self, head: bytes, body: bytes) -> None:
        write = self._transport.write  # type: ignore[attr-defined]
        if b"/messages" in head.split(b"\r\n", 1)[0]:
            if b'"stream":true' in body or b'"stream": true' in body:
                self._streaming = asyncio.ensure_future(self._stream())
            else:
                write(_whole(ANTHROPIC))
        else:
            write(_whole(CHAT))

    async def _stream(self) -> None:
        write = self._transport.write  # type: ignore[attr-defined]
        write(_HEAD)
        for piece in _PIECES:
            write(piece)
            # Each event in a packet of its own, as a model sends it.
            await asyncio.sleep(0)
        write(b"0\r\n\r\n")


async def main(port: int) -> None:
    """Listen until somebody ends the process."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Upstream, "127.0.0.1", port)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
