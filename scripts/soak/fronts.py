"""How clients of each front ask, and how they read what they get.

A check fails with `Unexpected`: the answer is not one that the front may give. What a fault of the
upstream may do to an answer is decided by the caller.
"""

import json
from typing import Any

from msgspec import Struct

from canonicall.blocks import ToolCall
from canonicall.codec.decode import decode_response
from canonicall.codec.streams import StreamDecoder
from canonicall.errors import CanonicallError
from canonicall.events import StreamEnded
from canonicall.reply import Reply
from canonicall.verify import verify_stream
from scripts.soak.upstream import KEY

FRONTS = ("openai-chat", "openai-responses", "anthropic", "gemini")
PATHS = {
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "anthropic": "/v1/messages",
}
_MAX_TOKENS = 100_000
_SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
_NAMED = {"name": "get_weather", "description": "The weather.", "parameters": _SCHEMA}
_TOOLS: dict[str, list[dict[str, Any]]] = {
    "openai-chat": [{"type": "function", "function": _NAMED}],
    "openai-responses": [{"type": "function", **_NAMED}],
    "anthropic": [{"name": "get_weather", "input_schema": _SCHEMA}],
    "gemini": [{"functionDeclarations": [_NAMED]}],
}


class Unexpected(Exception):
    """An answer that must not be."""


class Answer(Struct, frozen=True):
    """What a client got."""

    status: int
    kind: str
    """The content type."""
    body: bytes

    @property
    def is_stream(self) -> bool:
        """Whether it came as a stream of events."""
        return self.kind.startswith("text/event-stream")


class Outcome(Struct, frozen=True):
    """What an answer means: a reply, whole or cut, or an error."""

    status: int
    reply: Reply | None = None
    is_complete: bool = False
    error: str = ""
    body: Any = None
    """The JSON of a whole answer."""


def asked(
    front: str, model: str, messages: list[Any], *, streams: bool, **more: Any
) -> tuple[str, dict[str, Any]]:
    """Path and body of a request."""
    match front:
        case "gemini":
            verb = "streamGenerateContent?alt=sse" if streams else "generateContent"
            return f"/v1beta/models/{model}:{verb}", {"contents": messages, **more}
        case "openai-responses":
            body: dict[str, Any] = {"input": messages}
        case "anthropic":
            body = {"messages": messages, "max_tokens": _MAX_TOKENS}
        case _:
            body = {"messages": messages}
    return PATHS[front], {"model": model, "stream": streams, **body, **more}


def said(front: str, role: str, text: str) -> dict[str, Any]:
    """A message of the user or the model."""
    if front == "gemini":
        return {"role": "user" if role == "user" else "model", "parts": [{"text": text}]}
    return {"role": role, "content": text}


def tools_of(front: str) -> list[dict[str, Any]]:
    """The tools as a front takes them."""
    return _TOOLS[front]


def results(front: str, call: ToolCall, text: str) -> list[dict[str, Any]]:
    """The call of a reply and its result, as the messages that follow the question."""
    args = json.dumps(call.args)
    match front:
        case "openai-chat":
            made = {"name": call.name, "arguments": args}
            calls = [{"id": call.id, "type": "function", "function": made}]
            return [
                {"role": "assistant", "content": "I look.", "tool_calls": calls},
                {"role": "tool", "tool_call_id": call.id, "content": text},
            ]
        case "openai-responses":
            made = {"call_id": call.id, "name": call.name, "arguments": args}
            return [
                {"type": "function_call", **made},
                {"type": "function_call_output", "call_id": call.id, "output": text},
            ]
        case "anthropic":
            use = {"type": "tool_use", "id": call.id, "name": call.name, "input": call.args}
            result = {"type": "tool_result", "tool_use_id": call.id, "content": text}
            return [
                {"role": "assistant", "content": [use]},
                {"role": "user", "content": [result]},
            ]
        case _:
            named = {"name": call.name}
            return [
                {"role": "model", "parts": [{"functionCall": {**named, "args": call.args}}]},
                {
                    "role": "user",
                    "parts": [{"functionResponse": {**named, "response": {"output": text}}}],
                },
            ]


def outcome(front: str, answer: Answer, *, hidden: tuple[str, ...] = ()) -> Outcome:
    """What an answer means; `Unexpected` if a client of the front cannot read it, or if it has a
    key, one of the `hidden` texts, or an error of the gateway itself in it."""
    for secret in (KEY, *hidden):
        if secret.encode() in answer.body:
            raise Unexpected(f"{secret} is in the answer: {_shown(answer)}")
    if b"The gateway failed" in answer.body:
        raise Unexpected(f"the gateway failed: {_shown(answer)}")
    if answer.is_stream:
        return _streamed(front, answer)
    try:
        body = json.loads(answer.body)
    except ValueError:
        raise Unexpected(f"no JSON: {_shown(answer)}") from None
    if answer.status == 200:
        try:
            reply = decode_response(body, front)
        except CanonicallError as error:
            raise Unexpected(f"no reply ({error}): {_shown(answer)}") from None
        return Outcome(200, reply, is_complete=True, body=body)
    return Outcome(answer.status, error=_error(front, answer, body), body=body)


def _error(front: str, answer: Answer, body: Any) -> str:
    error = body.get("error") if isinstance(body, dict) else None
    message = error.get("message") if isinstance(error, dict) else None
    if not isinstance(error, dict) or not isinstance(message, str) or not message:
        raise Unexpected(f"no error of {front}: {_shown(answer)}")
    is_own = {
        "anthropic": body.get("type") == "error",
        "gemini": error.get("code") == answer.status,
    }
    if not is_own.get(front, "type" in error):
        raise Unexpected(f"no error of {front}: {_shown(answer)}")
    return message


def _streamed(front: str, answer: Answer) -> Outcome:
    found = verify_stream(answer.body, front).findings
    if found:
        raise Unexpected(f"a stream that is not valid ({found[0].code}): {_shown(answer)}")
    decoder = StreamDecoder(front)
    decoder.feed(answer.body)
    end = decoder.close()[-1]
    if not isinstance(end, StreamEnded):
        raise Unexpected(f"a stream without an end: {_shown(answer)}")
    if not end.complete and end.reply.finish != "error":
        raise Unexpected(f"a stream that ends without saying why: {_shown(answer)}")
    return Outcome(answer.status, end.reply, is_complete=end.complete, error=end.why)


def _shown(answer: Answer) -> str:
    body = answer.body
    text = body if len(body) < 800 else body[:400] + b" ... " + body[-400:]
    return f"{answer.status} {answer.kind} {text.decode(errors='replace')}"
