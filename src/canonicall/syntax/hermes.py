"""Hermes and its many heirs: one JSON object for each call, between `<tool_call>` tags.

Hermes 2 and 3, Qwen 2.5 and 3, QwQ, SmolLM3, MiMo-VL and many fine-tunes; Granite 4, which
sometimes writes the arguments as JSON inside a JSON text; Bielik 3; EXAONE 4; Reka Edge, whose JSON
is ASCII; ERNIE 4.5, which puts its words into `<response>` tags and whose prompt opens its thought
already; Trinity.

A list between the tags is read as well, Python's `f(a=1)`, and a block that lacks its closing tag.
A block that holds no call stays text, tags and all. Small models write their calls between the tags
that the prompt has around the list of tools; a definition there is no call. Calls inside of a
thought are drafts and part of it, but for Trinity, which calls while it thinks.
"""

import json

from canonicall.blocks import ToolResult
from canonicall.syntax.declaration import Opener, Syntax, only_named
from canonicall.syntax.json_calls import json_opener
from canonicall.syntax.json_form import JsonForm
from canonicall.syntax.json_printing import each_call, each_result, spaced_json
from canonicall.syntax.python_calls import python_calls

_OPENERS = (
    json_opener("<tool_call>", "</tool_call>"),
    Opener("<tool_call>", python_calls("</tool_call>"), closers=("</tool_call>",)),
)
_LIST_OF_TOOLS = json_opener("<tools>", "</tools>", form=JsonForm(is_strict=True))
_PRINT_CALLS = each_call("<tool_call>\n", "\n</tool_call>")
_PRINT_RESULTS = each_result("<tool_response>\n", "\n</tool_response>")


def _print_results_as_objects(results: tuple[ToolResult, ...]) -> str:
    said = (spaced_json({"result": one.text}) for one in results)
    return "\n".join(f"<tool_result>{one}</tool_result>" for one in said)


SYNTAXES = (
    Syntax(
        name="hermes",
        openers=(*_OPENERS, *only_named(_LIST_OF_TOOLS)),
        thinking=(("<think>", "</think>"), ("<scratch_pad>", "</scratch_pad>")),
        noise=("<|im_end|>", "<|endoftext|>"),
        prompt_opens_thinking=True,
        print_calls=_PRINT_CALLS,
        print_results=_PRINT_RESULTS,
    ),
    Syntax(
        name="granite4",
        kin_of="hermes",
        openers=_OPENERS,
        noise=("<|end_of_text|>",),
        print_calls=_PRINT_CALLS,
        print_results=_PRINT_RESULTS,
    ),
    Syntax(
        name="exaone4",
        kin_of="hermes",
        openers=_OPENERS,
        noise=("[|assistant|]", "[|endofturn|]"),
        prompt_opens_thinking=True,
        print_calls=each_call("<tool_call>", "</tool_call>"),
        print_results=_print_results_as_objects,
    ),
    Syntax(
        name="reka_edge",
        kin_of="hermes",
        openers=_OPENERS,
        noise=("<sep>",),
        prompt_opens_thinking=True,
        print_calls=each_call("<tool_call>\n", "\n</tool_call>", between="", printed=json.dumps),
        print_results=each_result("<tool_response>\n", "\n</tool_response>", between=""),
    ),
    Syntax(
        name="bielik",
        kin_of="hermes",
        openers=_OPENERS,
        noise=("<|im_end|>",),
        print_calls=_PRINT_CALLS,
        print_results=each_result("<|function_output|>", "", between=""),
    ),
    Syntax(
        name="ernie45",
        kin_of="hermes",
        openers=_OPENERS,
        noise=("<response>", "</response>", "</s>"),
        prompt_opens_thinking=True,
        print_calls=each_call("<tool_call>\n", "\n</tool_call>\n", between=""),
    ),
    Syntax(
        name="trinity",
        kin_of="hermes",
        openers=_OPENERS,
        call_ends_thinking=True,
        noise=("<|im_end|>",),
        prompt_opens_thinking=True,
        print_calls=_PRINT_CALLS,
        print_results=_PRINT_RESULTS,
    ),
)
