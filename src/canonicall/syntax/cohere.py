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
from collections.abc import Iterable
from itertools import starmap
from typing import Any

from canonicall.arguments import arguments_of
from canonicall.blocks import ToolCall, ToolResult
from canonicall.syntax.declaration import Opener, Syntax
from canonicall.syntax.json_calls import json_calls, json_opener, next_is
from canonicall.syntax.json_form import JsonForm
from canonicall.syntax.json_printing import each_result, spaced_json

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
    return "    " + spaced_json({"tool_call_id": _number(call.id, index)} | _object(call))


def _number(id: str, index: int) -> str:
    return id if id.isdecimal() else str(index)


def _object(call: ToolCall) -> dict[str, Any]:
    return {"tool_name": call.name, "parameters": arguments_of(call)}


def _print_results(results: tuple[ToolResult, ...]) -> str:
    return _listed((one, one.text) for one in results)


def _print_results_as_content(results: tuple[ToolResult, ...]) -> str:
    return _listed((one, {"content": one.text}) for one in results)


def _listed(documents: Iterable[tuple[ToolResult, object]]) -> str:
    """Results with what is shown of each; they are numbered as the calls are."""
    written = ",\n".join(
        f'    {{\n        "tool_call_id": "{_number(one.call_id, index)}",\n'
        f'        "results": {{\n            "0": {spaced_json(document)}\n        }},\n'
        '        "is_error": null\n    }'
        for index, (one, document) in enumerate(documents)
    )
    return f"<|START_TOOL_RESULT|>[\n{written}\n]<|END_TOOL_RESULT|>"


def _print_action(calls: tuple[ToolCall, ...]) -> str:
    listed = json.dumps([_object(call) for call in calls], ensure_ascii=False, indent=4)
    return f"{_ACTION}\n```json\n{listed}```"


SYNTAXES = (
    Syntax(
        name="cohere_command3",
        openers=(json_opener(_BEGIN, _END, form=_FORM),),
        thinking=_THINKING,
        noise=_TURN + _WORDS,
        print_calls=_print_calls,
        print_results=_print_results,
    ),
    Syntax(
        name="cohere_command4",
        kin_of="cohere_command3",
        openers=(json_opener(_BEGIN, _END, form=_FORM),),
        thinking=_THINKING,
        noise=_TURN + _WORDS,
        print_calls=_print_calls,
        print_results=_print_results_as_content,
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
        print_calls=_print_action,
        print_results=each_result(
            f"{_TURN[0]}<|SYSTEM_TOKEN|><results>\n", f"</results>{_TURN[2]}", between=""
        ),
    ),
)
