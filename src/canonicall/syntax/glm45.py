"""GLM-4.5 and later, and those who write alike: Ling 3, Laguna, Hunyuan 3.

A call is a name and pairs of tags for its arguments. GLM-4.5 puts each on a line of its own,
GLM-4.7 none; both are read. Laguna writes as GLM-4.5 does. Hunyuan 3 has a block around its calls
and a separator behind the name; some of its checkpoints add a suffix of their own to every tag:
`hunyuan_v3_syntax` makes a syntax for one, to be registered.

Decisions: strings are taken as they stand, with their quotes and escapes, as the templates print
them. A call whose end is missing is kept, marked as truncated. The same argument twice: the last
one counts.
"""

from collections.abc import Callable

from canonicall.blocks import ToolCall, ToolResult
from canonicall.syntax.declaration import Syntax, arguments_of, only_named
from canonicall.syntax.json_calls import json_opener
from canonicall.syntax.printing import bare_text, with_printing
from canonicall.syntax.xml_keys import KeyForm, key_openers

_NOISE = ("<|observation|>", "<|user|>", "<|endoftext|>")


def _printer(form: KeyForm, line: str) -> Callable[[tuple[ToolCall, ...]], str]:
    """Prints calls, with or without line ends between the tags."""

    def print_call(call: ToolCall) -> str:
        pairs = "".join(
            f"{form.key[0]}{key}{form.key[1]}{line}"
            f"{form.value[0]}{bare_text(value)}{form.value[1]}{line}"
            for key, value in arguments_of(call).items()
        )
        return f"{form.call}{call.name}{form.separator}{line}{pairs}{form.call_end}"

    def print_calls(calls: tuple[ToolCall, ...]) -> str:
        printed = "\n".join(map(print_call, calls))
        return f"{form.block}\n{printed}\n{form.block_end}" if form.block else printed

    return print_calls


def _print_results(results: tuple[ToolResult, ...]) -> str:
    said = "".join(f"\n<tool_response>\n{one.text}\n</tool_response>" for one in results)
    return f"<|observation|>{said}"


def _glm_like(name: str, models: tuple[str, ...], kin_of: str = "") -> Syntax:
    form = KeyForm()
    syntax = Syntax(
        name=name,
        kin_of=kin_of,
        notation="xml",
        openers=(*key_openers(form), *only_named(json_opener(form.call, form.call_end))),
        call_ends_thinking=True,
        noise=_NOISE,
        models=models,
        prompt_opens_thinking=True,
    )
    return with_printing(syntax, _printer(form, "\n"), _print_results)


def hunyuan_v3_syntax(suffix: str = "", name: str = "hunyuan_v3") -> Syntax:
    """Hunyuan 3, for a checkpoint whose tags end in `suffix` (`<tool_call:suffix>`)."""
    end = f":{suffix}>" if suffix else ">"
    form = KeyForm(
        call=f"<tool_call{end}",
        call_end=f"</tool_call{end}",
        block=f"<tool_calls{end}",
        block_end=f"</tool_calls{end}",
        separator=f"<tool_sep{end}",
        key=(f"<arg_key{end}", f"</arg_key{end}"),
        value=(f"<arg_value{end}", f"</arg_value{end}"),
    )
    syntax = Syntax(
        name=name,
        notation="xml",
        openers=(*key_openers(form), *only_named(json_opener(form.call, form.call_end))),
        call_ends_thinking=True,
        models=("*hunyuan-3*", "*hy3*"),
    )
    return with_printing(syntax, _printer(form, "\n"))


SYNTAXES = (
    _glm_like("glm45_xml", ("*glm-4.5*", "*glm-4.6*", "*glm-4.7*", "*glm-5*")),
    _glm_like("ling3", ("*ling-3*", "*ling3*"), kin_of="glm45_xml"),
    _glm_like("poolside_laguna", ("*laguna*",), kin_of="glm45_xml"),
    hunyuan_v3_syntax(),
)
