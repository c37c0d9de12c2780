"""Hermes and its many heirs: one JSON object for each call, between `<tool_call>` tags."""

import msgspec

from canonicall.blocks import ToolCall, ToolResult
from canonicall.syntax.declaration import Opener, Syntax, arguments_of
from canonicall.syntax.json_calls import json_calls, next_is

_OPEN, _CLOSE = "<tool_call>", "</tool_call>"


def _print_calls(calls: tuple[ToolCall, ...]) -> str:
    return "\n".join(
        f"{_OPEN}\n{_json({'name': call.name, 'arguments': arguments_of(call)})}\n{_CLOSE}"
        for call in calls
    )


def _print_results(results: tuple[ToolResult, ...]) -> str:
    return "\n".join(f"<tool_response>\n{one.text}\n</tool_response>" for one in results)


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


SYNTAXES = (
    Syntax(
        name="hermes",
        openers=(Opener(_OPEN, json_calls(_CLOSE), looks=next_is("{", "[")),),
        thinking=(("<think>", "</think>"), ("<scratch_pad>", "</scratch_pad>")),
        noise=("<|im_end|>",),
        models=("*hermes*", "*qwen2.5*", "*qwen3*", "*qwq*", "*smollm3*"),
        print_calls=_print_calls,
        print_results=_print_results,
    ),
)
