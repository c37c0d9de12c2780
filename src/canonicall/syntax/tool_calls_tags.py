"""Calls as JSON between one pair of tags for all of them.

Jamba, Hunyuan A13B, Apriel and MiniMax M1 write `<tool_calls>`, Nemotron `<TOOLCALL>`: a list, but
for MiniMax M1, which writes one object on each line. Either is read for all. Hunyuan may put its
answer into `<answer>` tags. Apriel thinks aloud until it says `[BEGIN FINAL RESPONSE]`; its prompt
opens the thought.
"""

from canonicall.blocks import ToolCall, ToolResult
from canonicall.syntax.declaration import Syntax
from canonicall.syntax.json_calls import json_opener
from canonicall.syntax.json_printing import (
    call_object,
    call_object_with_id,
    each_result,
    list_of_calls,
    spaced_json,
)

_OPENERS = (json_opener("<tool_calls>", "</tool_calls>"),)


def _print_list_in_lines(calls: tuple[ToolCall, ...]) -> str:
    """Jamba: each call on a line of its own."""
    lines = ",\n".join("    " + spaced_json(call_object(call)) for call in calls)
    return f"<tool_calls>[\n{lines}\n]</tool_calls>"


def _print_list_with_ids(calls: tuple[ToolCall, ...]) -> str:
    """Apriel: each call has its id behind the arguments."""
    return f"<tool_calls>{spaced_json([call_object_with_id(call) for call in calls])}</tool_calls>"


def _print_lines(calls: tuple[ToolCall, ...]) -> str:
    """MiniMax M1: no list, just lines."""
    lines = "".join(spaced_json(call_object(call)) + "\n" for call in calls)
    return f"<tool_calls>\n{lines}</tool_calls>"


def _print_nemotron_results(results: tuple[ToolResult, ...]) -> str:
    return f"<TOOL_RESPONSE>[{', '.join(one.text for one in results)}]</TOOL_RESPONSE>"


SYNTAXES = (
    Syntax(
        name="jamba",
        openers=_OPENERS,
        noise=("<|eom|>",),
        print_calls=_print_list_in_lines,
    ),
    Syntax(
        name="hunyuan_a13b",
        kin_of="jamba",
        openers=_OPENERS,
        noise=("<answer>", "</answer>", "<|eos|>"),
        print_calls=list_of_calls("<tool_calls>", "</tool_calls>"),
        print_results=each_result("<tool_response>", "</tool_response>", between="<|extra_0|>"),
    ),
    Syntax(
        name="apriel",
        kin_of="jamba",
        openers=_OPENERS,
        thinking=(
            ("Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]"),
            ("<thinking>", "</thinking>"),
        ),
        noise=("[BEGIN FINAL RESPONSE]", "[END FINAL RESPONSE]", "<|end|>"),
        print_calls=_print_list_with_ids,
        # As Apriel 1.6 has it; 1.5 has turns of other names.
        print_results=each_result("<|begin_tool_result|>\n", "\n", between="\n\n"),
    ),
    Syntax(
        name="minimax_m1",
        kin_of="jamba",
        openers=_OPENERS,
        noise=("<end_of_sentence>",),
        print_calls=_print_lines,
        print_results=each_result(
            "<beginning_of_sentence>tool name=tools\ntool result: ",
            "\n\n<end_of_sentence>\n",
            between="",
        ),
    ),
    Syntax(
        name="nemotron_toolcall",
        openers=(json_opener("<TOOLCALL>", "</TOOLCALL>"),),
        noise=("<SPECIAL_12>",),
        prompt_opens_thinking=True,
        print_calls=list_of_calls("<TOOLCALL>", "</TOOLCALL>"),
        print_results=_print_nemotron_results,
    ),
)
