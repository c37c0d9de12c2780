"""JSON calls between marks that prompts make up, or that models do.

LM Studio asks models without a syntax of their own for `[TOOL_REQUEST]`. Others ask for
`<tool_use>`, `<tools>`, `<functions>` and their like: these are tags that documents have as well,
so only tools that were offered are called, where it is known which ones were, and only objects
count that have nothing but what calls have, as the same tags hold definitions of tools.
"""

from msgspec.structs import replace

from canonicall.syntax.declaration import Syntax
from canonicall.syntax.json_calls import json_opener
from canonicall.syntax.json_form import JsonForm
from canonicall.syntax.json_printing import each_call

_TAGS = ("tool_use", "tools", "function", "functions", "function_calls", "api_call", "action")
_FORM = JsonForm(
    names=("name", "function", "tool_name", "tool"),
    arguments=("arguments", "parameters", "input", "args"),
    is_strict=True,
)

SYNTAXES = (
    Syntax(
        name="lm_studio",
        openers=(json_opener("[TOOL_REQUEST]", "[END_TOOL_REQUEST]"),),
        print_calls=each_call("[TOOL_REQUEST]", "[END_TOOL_REQUEST]"),
    ),
    Syntax(
        name="json_in_tags",
        openers=tuple(
            replace(json_opener(f"<{tag}>", f"</{tag}>", form=_FORM), is_common=True)
            for tag in _TAGS
        ),
        is_marked=False,
        print_calls=each_call("<tool_use>\n", "\n</tool_use>"),
    ),
)
