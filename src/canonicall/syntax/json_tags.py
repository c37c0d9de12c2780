"""JSON calls between tags that prompts make up, or that models do.

`<tool_use>`, `<tools>`, `<functions>` and their like. They are no tokens, so only tools that were
offered are called, where it is known which ones were, and only objects count that have nothing but
what calls have: the same tags hold definitions of tools as well.
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
        name="json_in_tags",
        openers=tuple(
            replace(json_opener(f"<{tag}>", f"</{tag}>", form=_FORM), is_common=True)
            for tag in _TAGS
        ),
        is_marked=False,
        print_calls=each_call("<tool_use>\n", "\n</tool_use>"),
    ),
)
