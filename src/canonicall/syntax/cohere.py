"""Cohere's Command models.

Command R7B and A write a JSON list between `<|START_ACTION|>` marks, with a `tool_call_id` that
counts the calls of the conversation, and their words between `<|START_RESPONSE|>` marks; Command A+
names these `<|START_TEXT|>`. Command R+ writes the list in a fence behind `Action:`.

Citations (`<co>...</co: 0:[1]>`) are part of the words and stay there. Command R+ calls a tool
`directly_answer` when it wants none: whoever did not offer it is told so by a finding.

Printed are ids that are numbers, as the templates count; other ids are replaced by the position
among the calls.
"""

import json
from itertools import starmap
from typing import Any

from canonicall.blocks import ToolCall, ToolResult
from canonicall.syntax.declaration import Opener, Syntax, arguments_of
from canonicall.syntax.json_calls import json_calls, json_opener, next_is
from canonicall.syntax.json_form import JsonForm
from canonicall.syntax.json_printing import spaced_json

_BEGIN, _END = "<|START_ACTION|>", "<|END_ACTION|>"
_FORM = JsonForm(
    names=("tool_name", "name"),
    arguments=("parameters", "arguments"),
    ids=("tool_call_id", "id"),
)
_TURN = ("<|START_OF_TURN_TOKEN|>", "<|CHATBOT_TOKEN|>", "<|END_OF_TURN_TOKEN|>")
_WORDS = ("<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>")
_THINKING = (("<|START_THINKING|>", "<|END_THINKING|>"),)
_ACTION, _FENCE = "Action:", "```"


def _print_calls(calls: tuple[ToolCall, ...]) -> str:
    return f"{_BEGIN}[\n" + ",\n".join(starmap(_numbered, enumerate(calls))) + f"\n]{_END}"


def _numbered(index: int, call: ToolCall) -> str:
    id = call.id if call.id.isdecimal() else str(index)
    return "    " + spaced_json({"tool_call_id": id} | _object(call))


def _object(call: ToolCall) -> dict[str, Any]:
    return {"tool_name": call.name, "parameters": arguments_of(call)}


def _print_results(results: tuple[ToolResult, ...]) -> str:
    return "<|START_TOOL_RESULT|>[\n" + ",\n".join(map(_result, results)) + "\n]<|END_TOOL_RESULT|>"


def _result(result: ToolResult) -> str:
    return (
        f'    {{\n        "tool_call_id": {spaced_json(result.call_id)},\n'
        f'        "results": {{\n            "0": {spaced_json(result.text)}\n        }},\n'
        '        "is_error": null\n    }'
    )


def _print_action(calls: tuple[ToolCall, ...]) -> str:
    listed = json.dumps([_object(call) for call in calls], ensure_ascii=False, indent=4)
    return f"{_ACTION}\n```json\n{listed}\n```"


SYNTAXES = (
    Syntax(
        name="cohere_command3",
        openers=(json_opener(_BEGIN, _END, form=_FORM),),
        thinking=_THINKING,
        noise=_TURN + _WORDS,
        models=("*command-r7b*", "*command-a-03*", "*command-a-reasoning*"),
        print_calls=_print_calls,
        print_results=_print_results,
    ),
    Syntax(
        name="cohere_command4",
        kin_of="cohere_command3",
        openers=(json_opener(_BEGIN, _END, form=_FORM),),
        thinking=_THINKING,
        noise=_TURN + _WORDS,
        models=("*command-a-plus*",),
        print_calls=_print_calls,
    ),
    Syntax(
        name="command_r_action_json",
        openers=tuple(
            Opener(
                f"{_ACTION}{blank}```json",
                json_calls(_FENCE, form=_FORM),
                looks=next_is("[", "{"),
                place="line",
                closers=(_FENCE,),
                is_common=True,
            )
            for blank in ("\n", " ", "")
        ),
        thinking=(),
        noise=_TURN,
        models=("*command-r-plus*", "*command-r-08*", "*command-r-v01*"),
        print_calls=_print_action,
    ),
)
