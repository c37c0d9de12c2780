"""Request bodies as a coding agent sends them, in three formats.

Bodies with different marks share no message, so that nothing remembered of one helps with another.
The library takes no part in writing them: two revisions of it are given the same bytes.
"""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import orjson

_SYSTEM = "You are a careful assistant. " * 20
_TASK = "Find the fault and mend it. " * 10
_SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}
_TOOL = {"name": "read_file", "description": "Read a file."}


class Step(NamedTuple):
    """A reply with one call, and the result of that call."""

    text: str
    id: str
    arguments: dict[str, object]
    output: str


def steps_of(count: int, mark: str) -> Iterator[Step]:
    """About 5.2 KB each."""
    for number in range(count):
        arguments = {"path": f"src/part_{mark}_{number}.py", "start": number, "note": "y" * 300}
        output = f"a line of code {mark}\n" * (4500 // (16 + len(mark)))
        id = mark + str(number).zfill(24 - len(mark))
        yield Step(f"Step {number} of {mark}.", id, arguments, output)


def chat_request(steps: int, mark: str = "") -> bytes:
    """A request of Chat Completions: two messages and `steps` steps."""
    return _chat([one for step in steps_of(steps, mark) for one in _chat_step(step)], mark)


def damaged_chat_request(steps: int, mark: str = "") -> bytes:
    """The same, with damage in three of ten steps.

    A result is missing, a result is there twice, and an id is used again in the next step.
    """
    messages: list[dict[str, Any]] = []
    for number, step in enumerate(steps_of(steps, mark)):
        reply, result = _chat_step(step)
        match number % 10:
            case 3:
                messages.append(reply)
            case 5:
                messages += (reply, result, result)
            case 8:
                messages += (reply, result, reply, result)
            case _:
                messages += (reply, result)
    return _chat(messages, mark)


def anthropic_request(steps: int, mark: str = "") -> bytes:
    """The same conversation as a request of Messages."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": f"{_TASK}{mark}"}]
    for step in steps_of(steps, mark):
        call = {"id": f"toolu_{step.id}", "name": "read_file", "input": step.arguments}
        text = {"type": "text", "text": step.text}
        result = {"type": "tool_result", "tool_use_id": call["id"], "content": step.output}
        messages += (
            {"role": "assistant", "content": [text, {"type": "tool_use", **call}]},
            {"role": "user", "content": [result]},
        )
    tools = [{**_TOOL, "input_schema": _SCHEMA}]
    body = {"model": "claude-sonnet-4-5", "max_tokens": 4096, "system": _SYSTEM}
    return orjson.dumps({**body, "messages": messages, "tools": tools})


def responses_request(steps: int, mark: str = "") -> bytes:
    """The same conversation as a request of Responses."""
    items: list[dict[str, Any]] = [
        {"type": "message", "role": "user", "content": [_part("input", f"{_TASK}{mark}")]}
    ]
    for step in steps_of(steps, mark):
        call_id = f"call_{step.id}"
        arguments = json.dumps(step.arguments)
        call = {"type": "function_call", "name": "read_file", "arguments": arguments}
        items += (
            {"type": "message", "role": "assistant", "content": [_part("output", step.text)]},
            {**call, "call_id": call_id},
            {"type": "function_call_output", "call_id": call_id, "output": step.output},
        )
    tools = [{"type": "function", **_TOOL, "parameters": _SCHEMA, "strict": False}]
    body = {"model": "gpt-4.1", "instructions": _SYSTEM, "input": items, "tools": tools}
    return orjson.dumps(body)


def _chat(steps: list[dict[str, Any]], mark: str) -> bytes:
    messages = [
        {"role": "system", "content": _SYSTEM},
        {"role": "user", "content": f"{_TASK}{mark}"},
        *steps,
    ]
    tools = [{"type": "function", "function": {**_TOOL, "parameters": _SCHEMA}}]
    return orjson.dumps({"model": "gpt-4.1", "messages": messages, "tools": tools})


def _chat_step(step: Step) -> tuple[dict[str, Any], dict[str, Any]]:
    id = f"call_{step.id}"
    function = {"name": "read_file", "arguments": json.dumps(step.arguments)}
    call = {"id": id, "type": "function", "function": function}
    return (
        {"role": "assistant", "content": step.text, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": id, "content": step.output},
    )


def _part(kind: str, text: str) -> dict[str, str]:
    return {"type": f"{kind}_text", "text": text}
