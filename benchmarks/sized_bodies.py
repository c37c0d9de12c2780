"""Request bodies with any number of equal pieces, in every format: messages, calls, results, parts.

A conversation is a list of messages in no format. One writer for each format makes a body of it.
Neither takes anything from the library. Some conversations are damaged: ids are missing, spelled
otherwise, used twice or never answered.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

Json = dict[str, Any]
_IMAGE = "iVBORw0KGgo="
_SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}


class Said(NamedTuple):
    """A piece of text."""

    text: str


class Called(NamedTuple):
    """A call of a tool."""

    id: str
    name: str = "read"


class Returned(NamedTuple):
    """The result of a call."""

    id: str
    name: str = "read"
    text: str = "done"


class Pictured(NamedTuple):
    """An image."""


Part = Said | Called | Returned | Pictured


class Spoken(NamedTuple):
    """A message."""

    role: str
    parts: list[Part]


Case = Callable[[int], list[Spoken]]
"""A conversation with so many pieces of one kind."""
TOOLS = "tools"


def sized_body(case: str, size: int, format: str, mark: int = 0) -> Json:
    """A request body with so many pieces. No tool in it is in a body with another mark."""
    about = {"description": f"Read a file ({mark})."}
    names = ["read", *(f"read_{at}" for at in range(1, size if case == TOOLS else 1))]
    return _WRITERS[format](CASES[case](size), [{"name": name, **about} for name in names])


def _chat(messages: list[Spoken], tools: list[Json]) -> Json:
    listed = [{"type": "function", "function": {**one, "parameters": _SCHEMA}} for one in tools]
    found = [one for message in messages for one in _chat_messages(message)]
    return {"model": "gpt-4.1", "messages": found, "tools": listed}


def _chat_messages(message: Spoken) -> Iterator[Json]:
    content: list[Json] = []
    calls: list[Json] = []
    for part in message.parts:
        match part:
            case Said(text):
                content.append({"type": "text", "text": text})
            case Pictured():
                url = f"data:image/png;base64,{_IMAGE}"
                content.append({"type": "image_url", "image_url": {"url": url}})
            case Called(id, name):
                function = {"name": name, "arguments": '{"path":"a"}'}
                calls.append({**_id("id", id), "type": "function", "function": function})
            case Returned(id, name, text):
                result = {"role": "tool", **_id("tool_call_id", id), "content": text}
                yield {**result, "name": name} if not id else result
    if content or calls:
        spoken: Json = {"role": message.role, "content": content or None}
        yield {**spoken, "tool_calls": calls} if calls else spoken


def _cohere(messages: list[Spoken], tools: list[Json]) -> Json:
    return {**_chat(_without_developers(messages), tools), "model": "command-a-03-2025"}


def _ollama(messages: list[Spoken], tools: list[Json]) -> Json:
    body = _chat(_without_developers(messages), tools)
    for message in body["messages"]:
        content = message["content"]
        if isinstance(content, list):
            message["content"] = " ".join(part.get("text", "") for part in content)
            images = [_IMAGE for part in content if part["type"] == "image_url"]
            if images:
                message["images"] = images
        for call in message.get("tool_calls", ()):
            call["function"]["arguments"] = {"path": "a"}
    return {**body, "model": "qwen3"}


def _responses(messages: list[Spoken], tools: list[Json]) -> Json:
    listed = [{"type": "function", **one, "parameters": _SCHEMA} for one in tools]
    items = [item for message in messages for item in _items(message)]
    return {"model": "gpt-4.1", "input": items, "tools": listed}


def _items(message: Spoken) -> Iterator[Json]:
    kind = "output_text" if message.role == "assistant" else "input_text"
    content: list[Json] = []
    for part in message.parts:
        match part:
            case Said(text):
                content.append({"type": kind, "text": text})
            case Pictured():
                url = f"data:image/png;base64,{_IMAGE}"
                content.append({"type": "input_image", "image_url": url})
            case Called(id, name):
                call = {"type": "function_call", "name": name, "arguments": '{"path":"a"}'}
                yield {**call, **_id("call_id", id)}
            case Returned(id, _, text):
                yield {"type": "function_call_output", **_id("call_id", id), "output": text}
    if content:
        yield {"type": "message", "role": message.role, "content": content}


def _anthropic(messages: list[Spoken], tools: list[Json]) -> Json:
    found: list[Json] = []
    system: list[Json] = []
    for role, parts in _without_developers(messages):
        content: list[Json] = []
        for part in parts:
            match part:
                case Said(text):
                    content.append({"type": "text", "text": text})
                case Pictured():
                    data = {"type": "base64", "media_type": "image/png", "data": _IMAGE}
                    content.append({"type": "image", "source": data})
                case Called(id, name):
                    call = {"type": "tool_use", **_id("id", id), "name": name}
                    content.append({**call, "input": {"path": "a"}})
                case Returned(id, _, text):
                    result = {"type": "tool_result", **_id("tool_use_id", id), "content": text}
                    content.append(result)
        if role == "system" and not found:
            system += content
        else:
            found.append({"role": "user" if role == "tool" else role, "content": content})
    listed = [{**one, "input_schema": _SCHEMA} for one in tools]
    body = {"model": "claude-sonnet-4-5", "max_tokens": 4096, "system": system}
    return {**body, "messages": found, "tools": listed}


def _gemini(messages: list[Spoken], tools: list[Json]) -> Json:
    contents: list[Json] = []
    system: list[Json] = []
    for role, parts in messages:
        found: list[Json] = []
        for part in parts:
            match part:
                case Said(text):
                    found.append({"text": text})
                case Pictured():
                    found.append({"inlineData": {"mimeType": "image/png", "data": _IMAGE}})
                case Called(id, name):
                    call = {**_id("id", id), "name": name, "args": {"path": "a"}}
                    found.append({"functionCall": call})
                case Returned(id, name, text):
                    result = {**_id("id", id), "name": name, "response": {"result": text}}
                    found.append({"functionResponse": result})
        if role in ("system", "developer"):
            system += found
        else:
            contents.append({"role": "model" if role == "assistant" else "user", "parts": found})
    listed = [{"functionDeclarations": [{**one, "parameters": _SCHEMA} for one in tools]}]
    return {"contents": contents, "systemInstruction": {"parts": system}, "tools": listed}


def _bedrock(messages: list[Spoken], tools: list[Json]) -> Json:
    found: list[Json] = []
    system: list[Json] = []
    for role, parts in messages:
        content: list[Json] = []
        for part in parts:
            match part:
                case Said(text):
                    content.append({"text": text})
                case Pictured():
                    content.append({"image": {"format": "png", "source": {"bytes": _IMAGE}}})
                case Called(id, name):
                    call = {**_id("toolUseId", id), "name": name, "input": {"path": "a"}}
                    content.append({"toolUse": call})
                case Returned(id, _, text):
                    result = {**_id("toolUseId", id), "content": [{"text": text}]}
                    content.append({"toolResult": result})
        if role in ("system", "developer"):
            system += content
        else:
            found.append({"role": "user" if role == "tool" else role, "content": content})
    listed = [{"toolSpec": {**one, "inputSchema": {"json": _SCHEMA}}} for one in tools]
    return {"messages": found, "system": system, "toolConfig": {"tools": listed}}


def _without_developers(messages: list[Spoken]) -> list[Spoken]:
    """For formats that do not have this role."""
    return [one._replace(role="system") if one.role == "developer" else one for one in messages]


def _id(field: str, id: str) -> Json:
    return {field: id} if id else {}


_WRITERS: dict[str, Callable[[list[Spoken], list[Json]], Json]] = {
    "openai-chat": _chat,
    "openai-responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "bedrock": _bedrock,
    "cohere": _cohere,
    "ollama": _ollama,
}
FORMATS = tuple(_WRITERS)
JUDGED_FOR = {format: format for format in FORMATS} | {
    "gemini": "gemini:gemini-2.5-flash",
    "bedrock": "bedrock:anthropic.claude-sonnet-4-5-20250929-v1:0",
}
"""The name to judge a body of each format by: of these two the body itself names no model."""


# The conversations.


_HELLO = Spoken("user", [Said("Hello.")])


def _ids(size: int, prefix: str = "call_") -> list[str]:
    return [f"{prefix}{number:024d}" for number in range(size)]


def _all(role: str) -> Case:
    """As many messages of one role, between words of the user."""
    return lambda size: [_HELLO, *_of(role, size), _HELLO]


def _of(role: str, size: int) -> list[Spoken]:
    return [Spoken(role, [Said(f"Message {number}.")]) for number in range(size)]


def _in_turn(*roles: str) -> Case:
    return lambda size: [
        Spoken(role, [Said(f"Message {number}.")])
        for number in range(size // len(roles))
        for role in roles
    ]


def _steps(call: Callable[[str], Called], result: Callable[[str], Returned]) -> Case:
    """Replies with one call, each with its result."""
    return lambda size: [
        _HELLO,
        *(
            message
            for id in _ids(size // 2, "")
            for message in (Spoken("assistant", [call(id)]), Spoken("tool", [result(id)]))
        ),
    ]


def _batch(
    call: Callable[[int], Called], result: Callable[[int], Returned], *, early: bool = False
) -> Case:
    """One reply with all calls, and all results after it, or before it."""

    def case(size: int) -> list[Spoken]:
        calls = Spoken("assistant", [call(number) for number in range(size)])
        results = Spoken("tool", [result(number) for number in range(size)])
        return [_HELLO, results, calls, _HELLO] if early else [_HELLO, calls, results]

    return case


def _numbered(size: int) -> list[Spoken]:
    """Calls whose ids are the numbers that later calls would get, then as many others."""
    kept = [f"functions.read:{size // 2 + number}" for number in range(size // 2)]
    rest = _ids(size // 2)
    return [
        _HELLO,
        *(Spoken("assistant", [Called(id) for id in ids]) for ids in (kept, rest)),
        *(Spoken("tool", [Returned(id) for id in ids]) for ids in (kept, rest)),
    ]


CASES: dict[str, Case] = {
    "system messages": lambda size: [*_of("system", size), _HELLO],
    "developer messages": lambda size: [*_of("developer", size), _HELLO],
    "system messages after a user's": _all("system"),
    "user messages": _all("user"),
    "assistant messages": _all("assistant"),
    "messages in turn": _in_turn("user", "assistant"),
    "messages of all roles in turn": _in_turn("assistant", "system", "user", "developer"),
    "equal messages": lambda size: [_HELLO] * size,
    "steps": _steps(lambda id: Called(f"call_{id}"), lambda id: Returned(f"call_{id}")),
    "steps that share an id": _steps(lambda _: Called("call_0"), lambda _: Returned("call_0")),
    "calls": _batch(lambda at: Called(f"call_{at}"), lambda at: Returned(f"call_{at}")),
    "calls without a result": lambda size: [
        _HELLO,
        *(Spoken("assistant", [Called(id)]) for id in _ids(size)),
    ],
    "calls without ids": _batch(lambda _: Called(""), lambda _: Returned("")),
    "calls that share an id": _batch(lambda _: Called("call_0"), lambda _: Returned("call_0")),
    "some results without ids": _batch(
        lambda at: Called(f"call_{at}"), lambda at: Returned(f"call_{at}" if at % 2 else "")
    ),
    "ids spelled otherwise": _batch(
        lambda at: Called(f"call_{at}"), lambda at: Returned(f"toolu_{at}")
    ),
    "results in reverse": lambda size: [
        _HELLO,
        Spoken("assistant", [Called(id) for id in _ids(size)]),
        Spoken("tool", [Returned(id) for id in reversed(_ids(size))]),
    ],
    "ids that may mean many": _batch(
        lambda at: Called(f"call_x|fc_{at}"), lambda _: Returned("toolu_x")
    ),
    "numbered ids that are taken": _numbered,
    "results before their calls": _batch(
        lambda at: Called(f"call_{at}"), lambda at: Returned(f"call_{at}"), early=True
    ),
    "results before calls that share an id": lambda size: [
        *(Spoken("tool", [Returned("call_0")]) for _ in range(size)),
        Spoken("assistant", [Called("call_0") for _ in range(size)]),
        *(Spoken("tool", [Returned("call_0")]) for _ in range(size)),
    ],
    "results of one call": lambda size: [
        _HELLO,
        Spoken("assistant", [Called("call_0")]),
        *(Spoken("tool", [Returned("call_0", text=f"{at}")]) for at in range(size)),
    ],
    "results without a call": lambda size: [
        _HELLO,
        *(Spoken("tool", [Returned(id)]) for id in _ids(size)),
        _HELLO,
    ],
    "parts": lambda size: [Spoken("user", [Said(f"Part {at}.") for at in range(size)])],
    "images": lambda size: [Spoken("user", [Said("See."), *[Pictured()] * size])],
    TOOLS: lambda _: [_HELLO],
}
