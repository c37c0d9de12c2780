"""What Cohere and Ollama refuse, each in a format of its own."""

from typing import Any

from refusals.openai import USER, function, said
from refusals.rows import OBJECT, Refusal


def cohere(words: str, *messages: dict[str, Any], **more: Any) -> Refusal:
    body = {"model": "command-a-03-2025", "messages": list(messages or (USER,)), **more}
    return Refusal("cohere", "cohere", "command-a-03-2025", body, words)


def done(id: str = "call_1") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": "ok"}


COHERE = {
    "cohere: an empty reply": cohere(r"", USER, {"role": "assistant"}, USER),
    "cohere: a strict tool that requires nothing": cohere(
        r"", strict_tools=True, tools=[function(parameters=OBJECT | {"properties": {"a": {"type": "string"}}})]
    ),
    "cohere: results are missing": cohere(r"", USER, said("call_1"), USER, tools=[function()]),
    "cohere: a result without its call": cohere(r"", USER, done(), tools=[function()]),
    "cohere: two results for one call": cohere(
        r"", USER, said("call_1"), done(), done(), tools=[function()]
    ),
    "cohere: the user before the results": cohere(
        r"", USER, said("call_1"), USER, done(), tools=[function()]
    ),
    "cohere: a call without an id": cohere(
        r"", USER, said(""), {"role": "tool", "tool_call_id": "", "content": "ok"}, tools=[function()]
    ),
    "cohere: a result without content": cohere(
        r"", USER, said("call_1"), {"role": "tool", "tool_call_id": "call_1"}, tools=[function()]
    ),
    "cohere: the model may choose": cohere(r"", tools=[function()], tool_choice="AUTO"),
    "cohere: a forced call in small letters": cohere(r"", tools=[function()], tool_choice="required"),
    "cohere: a forced call without tools": cohere(r"", tool_choice="REQUIRED"),
    "cohere: an image of the assistant": cohere(
        r"", USER,
        {"role": "assistant", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,eA=="}}]},
        USER,
    ),
    "cohere: many parameters of strict tools": cohere(
        r"", strict_tools=True,
        tools=[function(parameters={"type": "object", "required": ["a0"], "properties": {f"a{at}": {"type": "string"} for at in range(201)}})],
    ),
    "cohere: an image of a result": cohere(
        r"", USER, said("call_1"),
        {"role": "tool", "tool_call_id": "call_1", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,eA=="}}]},
        tools=[function()],
    ),
}  # fmt: skip


def ollama(words: str, *messages: dict[str, Any], model: str = "qwen3:8b", **more: Any) -> Refusal:
    body = {"model": model, "stream": False, "messages": list(messages or (USER,)), **more}
    return Refusal("ollama", "ollama", model, body, words)


OLLAMA = {
    "ollama: tools of a model that knows none": ollama(
        r"does not support tools", model="gemma3:4b", tools=[function()]
    ),
    "ollama: thinking of a model that does not": ollama(
        r'"gemma3:4b" does not support thinking', model="gemma3:4b", think=True
    ),
    "ollama: a format that there is not": ollama(r"invalid format: .xml.; expected", format="xml"),
    "ollama: arguments that are text": ollama(r"cannot unmarshal string into Go struct field", USER, said("call_1"), USER, tools=[function()]),
    "ollama: a list as content": ollama(r"", {"role": "user", "content": [{"type": "text", "text": "a"}]}),
}  # fmt: skip
ROWS = {**COHERE, **OLLAMA}
CALLED = {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "look", "arguments": {}}}]}  # fmt: skip
# What differs a little from a row above, and is answered.
ACCEPTED = {
    "a forced call at Cohere": cohere("", tools=[function()], tool_choice="REQUIRED"),
    "a call without its result, at Ollama": ollama("", USER, CALLED, USER, tools=[function()]),
}
