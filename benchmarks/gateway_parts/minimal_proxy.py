"""The floor: a translating proxy of one screen, on the same libraries, that checks nothing.

Chat Completions in, Anthropic's Messages behind, and the reply back; it knows only what the
benchmark sends.
"""

import sys
from typing import Any

import aiohttp
import msgspec
import uvicorn

_decode, _encode = msgspec.json.decode, msgspec.json.encode


class Proxy:
    """An ASGI application."""

    def __init__(self, upstream: str) -> None:
        self._url = f"{upstream}/v1/messages"
        self._session: aiohttp.ClientSession | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await receive()
            self._session = aiohttp.ClientSession()
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await self._session.close()
            await send({"type": "lifespan.shutdown.complete"})
            return
        pieces = []
        while True:
            message = await receive()
            pieces.append(message.get("body", b""))
            if not message.get("more_body"):
                break
        body = _decode(b"".join(pieces))
        headers = {"x-api-key": "k", "content-type": "application/json"}
        assert self._session is not None
        async with self._session.post(
            self._url, data=_encode(_request(body)), headers=headers
        ) as response:
            if body.get("stream"):
                await _stream(response, send)
            else:
                data = _encode(_reply(_decode(await response.read())))
                await _start(send, b"application/json")
                await send({"type": "http.response.body", "body": data})


async def _start(send: Any, kind: bytes) -> None:
    headers = [(b"content-type", kind)]
    await send({"type": "http.response.start", "status": 200, "headers": headers})


async def _stream(response: aiohttp.ClientResponse, send: Any) -> None:
    await _start(send, b"text/event-stream")
    rest = b""
    async for chunk in response.content.iter_any():
        *events, rest = (rest + chunk).split(b"\n\n")
        for event in events:
            value = _decode(event.partition(b"data: ")[2])
            delta: dict[str, Any] = {}
            finish = None
            if value["type"] == "content_block_delta":
                delta = {"content": value["delta"]["text"]}
            elif value["type"] == "message_delta":
                finish = "stop"
            else:
                continue
            choice = {"index": 0, "delta": delta, "finish_reason": finish}
            made = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
            data = b"data: " + _encode({**made, "choices": [choice]}) + b"\n\n"
            await send({"type": "http.response.body", "body": data, "more_body": True})
    await send({"type": "http.response.body", "body": b"data: [DONE]\n\n", "more_body": False})


def _request(body: dict[str, Any]) -> dict[str, Any]:
    messages: list[dict[str, Any]] = []
    system = ""
    for message in body["messages"]:
        role = message["role"]
        if role == "system":
            system = message["content"]
        elif role == "tool":
            result = {
                "type": "tool_result",
                "tool_use_id": message["tool_call_id"],
                "content": message["content"],
            }
            if messages and messages[-1]["role"] == "user":
                messages[-1]["content"].append(result)
            else:
                messages.append({"role": "user", "content": [result]})
        else:
            content: list[dict[str, Any]] = []
            if message.get("content"):
                content.append({"type": "text", "text": message["content"]})
            for call in message.get("tool_calls", ()):
                function = call["function"]
                used = {"type": "tool_use", "id": call["id"], "name": function["name"]}
                content.append({**used, "input": _decode(function["arguments"])})
            messages.append({"role": role, "content": content})
    tools = [
        {
            "name": tool["function"]["name"],
            "description": tool["function"].get("description", ""),
            "input_schema": tool["function"]["parameters"],
        }
        for tool in body.get("tools", ())
    ]
    made = {"model": "m", "max_tokens": 4096, "messages": messages, "tools": tools}
    return {**made, "system": system, "stream": bool(body.get("stream"))}


def _reply(body: dict[str, Any]) -> dict[str, Any]:
    words = "".join(one["text"] for one in body["content"] if one["type"] == "text")
    calls = [
        {
            "id": one["id"],
            "type": "function",
            "function": {"name": one["name"], "arguments": _encode(one["input"]).decode()},
        }
        for one in body["content"]
        if one["type"] == "tool_use"
    ]
    message = {"role": "assistant", "content": words or None, "tool_calls": calls}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    read, wrote = body["usage"]["input_tokens"], body["usage"]["output_tokens"]
    usage = {"prompt_tokens": read, "completion_tokens": wrote, "total_tokens": read + wrote}
    made = {"id": body["id"], "object": "chat.completion", "created": 1, "model": body["model"]}
    return {**made, "choices": [choice], "usage": usage}


if __name__ == "__main__":
    app = Proxy(f"http://127.0.0.1:{sys.argv[2]}")
    uvicorn.run(app, port=int(sys.argv[1]), log_level="error", access_log=False)
