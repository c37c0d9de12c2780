"""Sarashina 2.2: a list of calls as Python writes it, behind `<|tool_calls|>` or bare.

Quotes are single, and true, false and null are `True`, `False` and `None`. The arguments wait until
they are whole and are passed on as JSON.
"""

from canonicall.blocks import ToolCall
from canonicall.syntax.declaration import Syntax, only_named
from canonicall.syntax.json_calls import bare_opener, json_opener
from canonicall.syntax.json_form import JsonForm
from canonicall.syntax.json_printing import call_object


def _print_calls(calls: tuple[ToolCall, ...]) -> str:
    return f"<|tool_calls|>{[call_object(call) for call in calls]!r}"


SYNTAXES = (
    Syntax(
        name="sarashina",
        openers=(
            json_opener("<|tool_calls|>", form=JsonForm(is_python=True)),
            *only_named(bare_opener("[", form=JsonForm(is_python=True, is_strict=True))),
        ),
        noise=("</s>",),
        notation="custom",
        print_calls=_print_calls,
    ),
)
