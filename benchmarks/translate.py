"""A request of 200 messages and 500 KB to another format, bytes to bytes, with every check on.

The floor is what no translator can go below: parsing the same bytes and writing them again. Time is
the processor's own, so that other programs of the machine do not count.
"""

import json
from functools import partial
from time import process_time

import orjson

from canonicall import decode_request, encode_request, translate
from measuring import Ratio, Side
from measuring import compare as compare_by

STEPS = 100
FEW_STEPS = 10
compare = partial(compare_by, clock=process_time, repeats=20)
OTHER_WAYS = (
    ("openai-chat", "gemini"),
    ("openai-responses", "anthropic"),
    ("anthropic", "openai"),
    ("anthropic", "openai/openai-responses"),
)


def ratios() -> list[Ratio]:
    """From Chat to Anthropic whole, short and in halves, and the other ways."""
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
        _way(chat_request(FEW_STEPS), "openai-chat", "anthropic", f"{2 * FEW_STEPS} messages: "),
        *(_way(_in_format(data, source), source, target) for source, target in OTHER_WAYS),
    ]


def _way(data: bytes, source: str, target: str, what: str = "") -> Ratio:
    floor = Side(lambda: orjson.dumps(orjson.loads(data)), 1)
    ours = Side(lambda: translate(data, source, target).data, 1)
    return compare(f"{what}{source} to {target} / floor", ours, floor)


def _in_format(data: bytes, format: str) -> bytes:
    """The same request as clients of a format send it."""
    providers = {"anthropic": "anthropic", "openai-responses": "openai/openai-responses"}
    return translate(data, "openai-chat", providers[format]).data if format in providers else data


def chat_request(steps: int = STEPS) -> bytes:
    """A tool-heavy request as a coding agent sends it."""
    messages: list[dict[str, object]] = [
        {"role": "system", "content": "You are a careful assistant. " * 20},
        {"role": "user", "content": "Find the fault and mend it. " * 10},
    ]
    for step in range(steps):
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
