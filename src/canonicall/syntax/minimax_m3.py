"""MiniMax M3: every tag has a token before it, and arguments are elements named as they are.

Objects are elements inside elements, lists are elements called `item`. The token before a closing
tag is forgotten at times. A block that cannot be read ends nothing: the next one is read again
(vllm#51075).
"""

from typing import Any

from canonicall.arguments import arguments_of
from canonicall.blocks import ToolCall
from canonicall.syntax.declaration import Syntax
from canonicall.syntax.minimax_m2 import PRINT_RESULTS
from canonicall.syntax.printing import bare_text, with_printing
from canonicall.syntax.xml_tree import TreeForm, tree_openers

_MARK = "]<]minimax[>["
_FORM = TreeForm(
    blocks=(f"{_MARK}<tool_call>",),
    block_ends=(f"{_MARK}</tool_call>",),
    call=f"{_MARK}<invoke",
    call_ends=(f"{_MARK}</invoke>",),
    prefix=_MARK,
)


def _print_calls(calls: tuple[ToolCall, ...]) -> str:
    printed = "".join(f"{_print_call(call)}\n" for call in calls)
    return f"{_MARK}<tool_call>\n{printed}{_MARK}</tool_call>"


def _print_call(call: ToolCall) -> str:
    arguments = "".join(_element(key, value) for key, value in arguments_of(call).items())
    return f'{_MARK}<invoke name="{call.name}">{arguments}{_MARK}</invoke>'


def _element(name: str, value: Any) -> str:
    if isinstance(value, dict) and value:
        inner = "".join(_element(key, one) for key, one in value.items())
    elif isinstance(value, list) and value:
        inner = "".join(_element("item", one) for one in value)
    else:
        inner = bare_text(value)
    return f"{_MARK}<{name}>{inner}{_MARK}</{name}>"


_MINIMAX_M3 = Syntax(
    name="minimax_m3",
    notation="xml",
    openers=tree_openers(_FORM),
    thinking=(("<mm:think>", "</mm:think>"),),
    call_ends_thinking=True,
    noise=("[e~[",),
)

SYNTAXES = (with_printing(_MINIMAX_M3, _print_calls, PRINT_RESULTS),)
