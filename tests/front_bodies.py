"""Requests of each front as plain JSON, where a test looks at bytes and no SDK is of use."""

from typing import Any

from sdk_fronts import SCHEMA, TOOLS

FORMATS = ("openai-chat", "openai-responses", "anthropic", "gemini")


def request_of(
    format: str, model: str, text: str, *, streamed: bool = False, tools: bool = True, **more: Any
) -> tuple[str, dict[str, Any]]:
    """The path and the body of a question."""
    path, body = _BODIES[format](model, text)
    if tools:
        body["tools"] = _TOOLS[format]
    if format == "gemini":
        path += ":streamGenerateContent?alt=sse" if streamed else ":generateContent"
    elif streamed:
        body["stream"] = True
    return path, {**body, **more}


def _chat(model: str, text: str) -> tuple[str, dict[str, Any]]:
    return "/v1/chat/completions", {
        "model": model,
        "messages": [{"role": "user", "content": text}],
    }


def _responses(model: str, text: str) -> tuple[str, dict[str, Any]]:
    return "/v1/responses", {"model": model, "input": text}


def _messages(model: str, text: str) -> tuple[str, dict[str, Any]]:
    said = [{"role": "user", "content": text}]
    return "/v1/messages", {"model": model, "messages": said, "max_tokens": 4000}


def _gemini(model: str, text: str) -> tuple[str, dict[str, Any]]:
    return f"/v1beta/models/{model}", {"contents": [{"role": "user", "parts": [{"text": text}]}]}


_BODIES = {
    "openai-chat": _chat,
    "openai-responses": _responses,
    "anthropic": _messages,
    "gemini": _gemini,
}
_FUNCTIONS = [
    {"name": name, "description": what, "parameters": SCHEMA} for name, what in TOOLS.items()
]
_TOOLS: dict[str, list[Any]] = {
    "openai-chat": [{"type": "function", "function": one} for one in _FUNCTIONS],
    "openai-responses": [{"type": "function", "strict": False, **one} for one in _FUNCTIONS],
    "anthropic": [
        {"name": one["name"], "description": one["description"], "input_schema": SCHEMA}
        for one in _FUNCTIONS
    ],
    "gemini": [{"functionDeclarations": _FUNCTIONS}],
}
