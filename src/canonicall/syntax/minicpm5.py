"""MiniCPM5: `<function name="f"><param name="k">V</param></function>`, with no block around.

A value may stand in a CDATA section; printed texts that contain tags, entities or lines do. The
tokenizer's sign for a blank leaks into tags, or the blank is lost. Older models write one more tag
around the arguments. Some engines rename tools and
drop arguments by tables of their own; here what was said is kept.
"""

from msgspec.structs import replace

from canonicall.arguments import arguments_of
from canonicall.blocks import ToolCall
from canonicall.syntax.declaration import Syntax
from canonicall.syntax.json_printing import each_result
from canonicall.syntax.printing import python_text, with_printing
from canonicall.syntax.xml_calls import TagForm, tag_openers

_FORM = TagForm(
    blocks=(),
    block_ends=(),
    call="<function",
    call_ends=("</function>",),
    parameters=("<param",),
    parameter_ends=("</param>",),
    leads=(' name="', 'name="', '\u0120name="'),
    wrappers=("<arguments>", "</arguments>"),
    cdata=True,
)


def _print_calls(calls: tuple[ToolCall, ...]) -> str:
    return "\n".join(map(_print_call, calls))


def _print_call(call: ToolCall) -> str:
    params = "".join(
        f'<param name="{key}">{_value(value)}</param>' for key, value in arguments_of(call).items()
    )
    return f'<function name="{call.name}">{params}</function>'


def _value(value: object) -> str:
    text = python_text(value)
    return f"<![CDATA[{text}]]>" if any(one in text for one in "<&\n") else text


_MINICPM5 = Syntax(
    name="minicpm5_xml",
    notation="xml",
    openers=tuple(replace(opener, is_common=True) for opener in tag_openers(_FORM)),
    noise=("<|im_end|>",),
    prompt_opens_thinking=True,
)

SYNTAXES = (
    with_printing(_MINICPM5, _print_calls, each_result("<tool_response>\n", "\n</tool_response>")),
)
