"""`<invoke name="f"><parameter name="k">V</parameter></invoke>`, as many models write it.

They differ in the block around the calls and in what stands before the names of the tags.
"""

from collections.abc import Callable
from typing import Any

from canonicall.arguments import arguments_of
from canonicall.blocks import ToolCall
from canonicall.syntax.printing import bare_text
from canonicall.syntax.xml_calls import TagForm

NAME_LEAD = ' name="'


def invoke_form(blocks: tuple[str, ...], prefix: str = "", **more: Any) -> TagForm:
    """The tags of a family. `prefix` stands before the name of every tag within the blocks; `more`
    are fields of the form."""
    return TagForm(
        blocks=tuple(f"<{block}>" for block in blocks),
        block_ends=tuple(f"</{block}>" for block in blocks),
        call=f"<{prefix}invoke",
        call_ends=(f"</{prefix}invoke>",),
        parameters=(f"<{prefix}parameter",),
        parameter_ends=(f"</{prefix}parameter>",),
        leads=(NAME_LEAD,),
        **more,
    )


def invoke_printer(
    block: str,
    prefix: str = "",
    line: str = "\n",
    *,
    says_type: bool = False,
    keeps_line: bool = False,
) -> Callable[[tuple[ToolCall, ...]], str]:
    """Prints calls. `says_type`: each parameter says whether it is a string. `keeps_line`: where
    there are no parameters their line is empty."""

    def print_calls(calls: tuple[ToolCall, ...]) -> str:
        invokes = (
            print_invoke(call, prefix, line, says_type=says_type, keeps_line=keeps_line)
            for call in calls
        )
        return line.join((f"<{block}>", *invokes, f"</{block}>"))

    return print_calls


def print_invoke(
    call: ToolCall,
    prefix: str = "",
    line: str = "\n",
    *,
    says_type: bool = False,
    keeps_line: bool = False,
) -> str:
    """One call, without a block around it."""
    lines = []
    for key, value in arguments_of(call).items():
        kind = f' string="{str(isinstance(value, str)).lower()}"' if says_type else ""
        begin = f'<{prefix}parameter name="{key}"{kind}>'
        lines.append(f"{begin}{bare_text(value)}</{prefix}parameter>")
    body = lines or [""] * keeps_line
    return line.join((f'<{prefix}invoke name="{call.name}">', *body, f"</{prefix}invoke>"))
