"""Calls that Grok prints as text.

`<xai:function_call name="f">` with parameters, with or without the namespace before their names, is
what is seen in the wild; its closing tag is often malformed (`</xai:function_call name="f">`,
`</xai:function_call >`), and closing tags of parameters are missing. `<has_function_call>` means
nothing. `<x.ai:tool_call>` is an alias that is described and has not been seen in the wild: what
stands in it may be JSON or an invoke. In either tag, all the forms of `call_tags` are read.
"""

from canonicall.arguments import arguments_of
from canonicall.blocks import ToolCall
from canonicall.syntax.call_tags import CallTag
from canonicall.syntax.declaration import Opener, Syntax
from canonicall.syntax.invoke_tags import NAME_LEAD, invoke_form, invoke_printer
from canonicall.syntax.printing import bare_text, with_printing
from canonicall.syntax.xml_calls import TagForm, tag_openers, tagged_calls

_FORM = TagForm(
    blocks=(),
    block_ends=(),
    call="<xai:function_call",
    call_ends=("</xai:function_call",),
    parameters=("<parameter", "<xai:parameter"),
    parameter_ends=("</parameter>", "</xai:parameter>"),
    leads=(NAME_LEAD,),
    loose_ends=True,
)
_OTHER = CallTag(
    "xai:function_call",
    other_ends=("</xai:function_call >",),
    leaves=tuple(tag + then for tag in _FORM.parameters for then in " =>\n"),
)
_BLOCK = "x.ai:tool_call"
_ALIAS = CallTag(_BLOCK, leaves=("<invoke",))


def _print_calls(calls: tuple[ToolCall, ...]) -> str:
    return "\n".join(map(_print_call, calls))


def _print_call(call: ToolCall) -> str:
    lines = [f'<xai:function_call name="{call.name}">']
    for key, value in arguments_of(call).items():
        lines.append(f'<parameter name="{key}">{bare_text(value)}</parameter>')
    return "\n".join((*lines, "</xai:function_call>"))


_FUNCTION_CALL = Syntax(
    name="xai_function_call",
    notation="xml",
    openers=(*_OTHER.openers(), Opener(f"{_FORM.call} ", tagged_calls(_FORM, " "))),
    noise=("<has_function_call>", "</has_function_call>"),
)
_TOOL_CALL = Syntax(
    name="xai_tool_call",
    notation="xml",
    openers=(*_ALIAS.openers(), *tag_openers(invoke_form((_BLOCK,)), bare=False)),
)

SYNTAXES = (
    with_printing(_FUNCTION_CALL, _print_calls),
    with_printing(_TOOL_CALL, invoke_printer(_BLOCK)),
)
