"""Calls that Claude models print as text: invokes with named parameters, with or without namespace.

Leaked calls often have neither block nor namespace, and a stray word before them; that word stays
text. These tags are no tokens, and prose about them is common: where tools were offered, only those
are called. The legacy form names the tool and the arguments by tags.
"""

from canonicall.arguments import arguments_of
from canonicall.blocks import ToolCall, ToolResult
from canonicall.syntax.declaration import Syntax
from canonicall.syntax.invoke_tags import invoke_form, invoke_printer
from canonicall.syntax.printing import bare_text, with_printing
from canonicall.syntax.xml_calls import tag_openers
from canonicall.syntax.xml_tree import TreeForm, tree_openers

_BLOCK = "function_calls"
_SPACE = "antml:"


def _print_results(results: tuple[ToolResult, ...]) -> str:
    said = "".join(f"<result>\n<output>{one.text}</output>\n</result>\n" for one in results)
    return f"<function_results>\n{said}</function_results>"


_INVOKE = Syntax(
    name="anthropic_invoke",
    notation="xml",
    openers=(
        *tag_openers(invoke_form((_BLOCK,))),
        *tag_openers(invoke_form((f"{_SPACE}{_BLOCK}",), prefix=_SPACE)),
    ),
    thinking=(("<thinking>", "</thinking>"),),
    is_marked=False,
)
_LEGACY_FORM = TreeForm(
    blocks=(f"<{_BLOCK}>",),
    block_ends=(f"</{_BLOCK}>",),
    call="<invoke>",
    call_ends=("</invoke>",),
    name=("<tool_name>", "</tool_name>"),
    fillers=("<parameters>", "</parameters>"),
)


def _print_legacy(calls: tuple[ToolCall, ...]) -> str:
    return "\n".join((f"<{_BLOCK}>", *map(_print_legacy_call, calls), f"</{_BLOCK}>"))


def _print_legacy_call(call: ToolCall) -> str:
    arguments = (f"<{key}>{bare_text(value)}</{key}>" for key, value in arguments_of(call).items())
    name = f"<tool_name>{call.name}</tool_name>"
    return "\n".join(
        ("<invoke>", name, "<parameters>", *arguments, "</parameters>", "</invoke>"),
    )


_LEGACY = Syntax(
    name="anthropic_legacy",
    notation="xml",
    openers=tree_openers(_LEGACY_FORM),
    thinking=(("<thinking>", "</thinking>"),),
    is_marked=False,
)

SYNTAXES = (
    with_printing(_INVOKE, invoke_printer(_BLOCK), _print_results),
    with_printing(_LEGACY, _print_legacy, _print_results),
)
