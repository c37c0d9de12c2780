"""What a response says of the request that it answers: each setting as asked, else its default.

A reply does not know its request. The gateway and the simulators have both: they put the result of
`repeated` into the response.
"""

from collections.abc import Mapping
from typing import Any

# SDK response.py; Open Responses 2026-04-24, ResponseResource: all of them are required there.
DEFAULTS: dict[str, Any] = {
    "access_programs": None,
    "background": False,
    "frequency_penalty": 0.0,
    "instructions": None,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "presence_penalty": 0.0,
    "previous_response_id": None,
    "prompt_cache_key": None,
    "reasoning": {"effort": None, "summary": None},
    "safety_identifier": None,
    "service_tier": "default",
    "store": True,
    "temperature": 1.0,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "top_logprobs": 0,
    "top_p": 1.0,
    "truncation": "disabled",
}
# What was done, not what was asked for: only the provider that answered can say it.
_DONE = ("access_programs", "background", "service_tier", "top_logprobs")
_REPEATED = {*DEFAULTS, "conversation", "prompt", "user"} - {*_DONE}
# SDK function_tool.py, response_format_text_json_schema_config.py: what they have in a response.
_FUNCTION = {"description": None, "parameters": None, "strict": True}
_SCHEMA = {"description": None, "strict": False}


def repeated(request: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a response that repeat what this request asks for."""
    asked = {name: request[name] for name in request if name in _REPEATED}
    return {name: _in_full(name, value) for name, value in asked.items() if value is not None}


def _in_full(name: str, value: Any) -> Any:
    """A setting with the parts that a request may leave out."""
    match name, value:
        case "reasoning" | "text", dict():
            whole = DEFAULTS[name] | value
            return whole | {"format": _format(whole["format"])} if name == "text" else whole
        case "tools", list():
            return [_tool(one) for one in value]
        case "conversation", str():
            return {"id": value}
        case _:
            return value


def _format(value: Any) -> Any:
    is_schema = isinstance(value, dict) and value.get("type") == "json_schema"
    return _SCHEMA | value if is_schema else value


def _tool(value: Any) -> Any:
    is_function = isinstance(value, dict) and value.get("type") == "function"
    return _FUNCTION | value if is_function else value
