"""A Chat request of 200 messages and 500 KB to Anthropic, bytes to bytes, with every check on.

The floor is what no translator can go below: parsing the same bytes and writing them again.
"""

import json

import orjson

from canonicall import decode_request, encode_request, translate
from measuring import Ratio, Side, compare

STEPS = 100


def ratios() -> list[Ratio]:
    """The whole way, and its two halves."""
    data = chat_request()
    floor = Side(lambda: orjson.dumps(orjson.loads(data)), 1)
    request = decode_request(data, "openai-chat")
    return [
        compare(
            "Chat to Anthropic, bytes to bytes / floor",
            Side(lambda: translate(data, "openai-chat", "anthropic").data, 1),
            floor,
            goal=1.8,
        ),
        compare("decoding alone", Side(lambda: decode_request(data, "openai-chat"), 1), floor),
        compare(
            "rendering and encoding", Side(lambda: encode_request(request, "anthropic"), 1), floor
        ),
    ]


def chat_request() -> bytes:
    """A tool-heavy request as a coding agent sends it."""
    messages: list[dict[str, object]] = [
        {"role": "system", "content": "You are a careful assistant. " * 20},
        {"role": "user", "content": "Find the fault and mend it. " * 10},
    ]
    for step in range(STEPS):
        arguments = json.dumps({"path": f"src/part_{step}.py", "start": step, "note": "y" * 300})
        call = {
            "id": f"call_{step:024d}",
            "type": "function",
            "function": {"name": "read_file", "arguments": arguments},
        }
        messages += (
            {"role": "assistant", "content": f"Step {step}.", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call["id"], "content": "a line of code\n" * 300},
        )
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    function = {"name": "read_file", "description": "Read a file.", "parameters": schema}
    body = {
        "model": "gpt-4.1",
        "messages": messages,
        "tools": [{"type": "function", "function": function}],
    }
    return orjson.dumps(body)
