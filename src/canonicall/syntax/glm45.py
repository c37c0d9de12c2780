"""GLM-4.5 and later, and those who write alike: Spark, Ling, Laguna, Hunyuan, iQuest, K2 Horizon.

A call is a name and pairs of tags for its arguments. GLM-4.5 puts each on a line of its own, as
does Laguna XS, GLM-4.7 none, as do Spark and Laguna S, and Ling only some; each reads all. Hunyuan
3 has a block around its calls and a separator behind the name, which Hunyuan 4 leaves out; their
checkpoints add a suffix of their own to every tag, the public one `:opensource`:
`hunyuan_v3_syntax` makes a syntax for another, to be registered. K2 Horizon has a block as well and
tags of its own; its template may ask for the type of each argument, or for JSON.

Decisions: strings are taken as they stand, with their quotes and escapes, as the templates print
them. A call whose end is missing is kept, marked as truncated. The same argument twice: the last
one counts.
"""

import re
from collections.abc import Callable
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from canonicall.arguments import arguments_of
from canonicall.blocks import ToolCall, ToolResult
from canonicall.syntax.declaration import Syntax, only_named
from canonicall.syntax.json_calls import json_opener
from canonicall.syntax.json_printing import each_result
from canonicall.syntax.named_calls import frame_opener
from canonicall.syntax.printing import bare_text, with_printing
from canonicall.syntax.xml_keys import KeyForm, key_openers

PrintResults: TypeAlias = Callable[[tuple[ToolResult, ...]], str]

_NOISE = ("<|observation|>", "<|user|>", "<|endoftext|>")
_PUBLIC_END = ":opensource>"
_IQUEST = ("iquest_tool_call", "iquestcoder_tool_call")


class _Layout(Struct, frozen=True):
    """What stands between the tags of a printed call, and between calls."""

    name: str = "\n"
    """Behind the name."""
    key: str = "\n"
    value: str = "\n"
    end: str = ""
    """Before the end of the call."""
    calls: str = "\n"
    block: str = "\n"
    """Next to the tags around all calls, where there are any."""


_IN_LINES = _Layout()
_IN_ONE = _Layout(name="", key="", value="", calls="", block="")
_LING = _Layout(value="", end="\n")


def _printer(form: KeyForm, layout: _Layout) -> Callable[[tuple[ToolCall, ...]], str]:
    """Prints calls in a layout."""

    def print_call(call: ToolCall) -> str:
        pairs = "".join(
            f"{form.key[0]}{key}{form.key[1]}{layout.key}"
            f"{form.value[0]}{bare_text(value)}{form.value[1]}{layout.value}"
            for key, value in arguments_of(call).items()
        )
        begin = f"{form.call}{call.name}{form.separator}{layout.name}"
        return f"{begin}{pairs}{layout.end}{form.call_end}"

    def print_calls(calls: tuple[ToolCall, ...]) -> str:
        printed = layout.calls.join(map(print_call, calls))
        if not form.block:
            return printed
        return f"{form.block}{layout.block}{printed}{layout.block}{form.block_end}"

    return print_calls


_RESULTS_IN_LINES = each_result("<tool_response>\n", "\n</tool_response>")
_RESULTS_IN_ONE = each_result("<tool_response>", "</tool_response>", between="")


def _observed(print_results: PrintResults, line: str) -> PrintResults:
    """GLM: results stand behind a token of their own."""
    return lambda results: f"<|observation|>{line}{print_results(results)}"


def _glm_like(
    name: str,
    layout: _Layout,
    print_results: PrintResults,
    *,
    kin_of: str = "glm45_xml",
    noise: tuple[str, ...] = _NOISE,
) -> Syntax:
    form = KeyForm()
    syntax = Syntax(
        name=name,
        kin_of=kin_of,
        notation="xml",
        openers=(*key_openers(form), *only_named(json_opener(form.call, form.call_end))),
        call_ends_thinking=True,
        noise=noise,
        prompt_opens_thinking=True,
    )
    return with_printing(syntax, _printer(form, layout), print_results)


def _hunyuan_form(end: str) -> KeyForm:
    return KeyForm(
        call=f"<tool_call{end}",
        call_end=f"</tool_call{end}",
        block=f"<tool_calls{end}",
        block_end=f"</tool_calls{end}",
        separator=f"<tool_sep{end}",
        key=(f"<arg_key{end}", f"</arg_key{end}"),
        value=(f"<arg_value{end}", f"</arg_value{end}"),
    )


def hunyuan_v3_syntax(suffix: str = "", name: str = "hunyuan_v3") -> Syntax:
    """Hunyuan 3, for a checkpoint whose tags end in `suffix` (`<tool_call:suffix>`).

    The suffix of the public checkpoint is read beside it.
    """
    end = f":{suffix}>" if suffix else ">"
    form = _hunyuan_form(end)
    ends = dict.fromkeys((end, _PUBLIC_END))
    syntax = Syntax(
        name=name,
        notation="xml",
        openers=(
            *(opener for one in ends for opener in key_openers(_hunyuan_form(one))),
            *only_named(json_opener(form.call, form.call_end)),
        ),
        thinking=tuple((f"<think{one}", f"</think{one}") for one in ends),
        call_ends_thinking=True,
        noise=tuple(f"<\uff5chy_eos{one[:-1]}\uff5c>" for one in ends),
        models=("*hunyuan-3*", "*hy3*"),
    )
    result = each_result(f"<tool_response{end}\n", f"\n</tool_response{end}")
    return with_printing(
        syntax,
        _printer(form, _IN_LINES),
        lambda results: f"<tool_responses{end}\n{result(results)}\n</tool_responses{end}",
    )


def _hunyuan_v4() -> Syntax:
    """Hunyuan 4: no separator behind the name, and no lines."""
    v3 = hunyuan_v3_syntax()
    syntax = replace(v3, name="hunyuan_v4", kin_of=v3.name)
    form = replace(_hunyuan_form(">"), separator="")
    return with_printing(syntax, _printer(form, _IN_ONE), v3.print_results)


def _iquest() -> Syntax:
    """iQuest: each family of models has a name of its own for the tag around a call."""
    forms = [KeyForm(call=f"<{tag}>", call_end=f"</{tag}>") for tag in _IQUEST]
    syntax = Syntax(
        name="iquest",
        notation="xml",
        openers=tuple(opener for form in forms for opener in key_openers(form)),
        call_ends_thinking=True,
        noise=("<|iquest_end|>", "<|endoftext|>"),
        prompt_opens_thinking=True,
    )
    return with_printing(syntax, _printer(forms[0], _IN_LINES))


def _k2_horizon() -> Syntax:
    form = KeyForm(
        call="<ifm|tool_call>",
        call_end="</ifm|tool_call>",
        block="<ifm|tool_calls>",
        block_end="</ifm|tool_calls>",
        key=("<ifm|arg_key>", "</ifm|arg_key>"),
        type=("<ifm|arg_type>", "</ifm|arg_type>"),
        value=("<ifm|arg_value>", "</ifm|arg_value>"),
    )
    efforts = ("think", "think_fast", "think_faster")
    syntax = Syntax(
        name="k2_horizon",
        notation="xml",
        openers=(
            frame_opener(form.block),
            *key_openers(replace(form, block="", block_end="")),
            json_opener(form.call, form.call_end),
        ),
        thinking=tuple((f"<ifm|{one}>", f"</ifm|{one}>") for one in efforts),
        call_ends_thinking=True,
        noise=(form.block_end, "<|ifm|im_end|>"),
        frames=(re.escape(form.block),),
        prompt_opens_thinking=True,
    )
    return with_printing(syntax, _printer(form, _IN_LINES))


SYNTAXES = (
    _glm_like(
        "glm45_xml",
        _IN_LINES,
        _observed(_RESULTS_IN_LINES, "\n"),
        kin_of="",
    ),
    _glm_like("glm47_xml", _IN_ONE, _observed(_RESULTS_IN_ONE, "")),
    _glm_like(
        "spark25",
        _IN_ONE,
        _RESULTS_IN_ONE,
        noise=("<\uff5cend\u2581of\u2581sentence\uff5c>",),
    ),
    _glm_like(
        "ling3",
        _LING,
        _RESULTS_IN_LINES,
        noise=("<|role_end|>",),
    ),
    _glm_like("poolside_laguna", _IN_LINES, _RESULTS_IN_LINES, noise=("</assistant>",)),
    _glm_like(
        "poolside_laguna_s",
        _IN_ONE,
        each_result("<tool_response>", "</tool_response>"),
        noise=("</assistant>",),
    ),
    hunyuan_v3_syntax(),
    _hunyuan_v4(),
    _iquest(),
    _k2_horizon(),
)
