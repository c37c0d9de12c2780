"""Qwen3-Coder and its heirs: a tag for the function and one for each parameter.

Also Qwen3.5, Nemotron 3, MiMo-V2, Qwen3.6 and later, which print `true` and `null` where the others
print `True`, Step-3.5, which prints its calls without a line end between them, and Seed-OSS, which
has its own names for the block and for thoughts, and its values not on lines of their own. The
block tag is often left out, and so are closing tags; names are quoted at times;
`<function=f>{json}` is seen, and so are `<parameter>k</parameter>V`, `function=f>` and Claude's
`<invoke name="f">`. Values stand on lines of their own: the first and the last line end belong to
the tags, all else counts. A call inside a thought ends it, as the newer models call before they
have closed their thought.

Decisions: a call whose end is missing is kept, marked as truncated. A closing tag inside a value
counts only where the call may go on behind it. The same parameter twice: the last one counts.
Parameters that the tool does not have are kept. Entities in values are not undone: the templates
escape nothing. Hermes' JSON between the same `<tool_call>` tags is read as well.
"""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from canonicall.arguments import arguments_of
from canonicall.blocks import ToolCall
from canonicall.syntax.declaration import Opener, Syntax, only_named
from canonicall.syntax.invoke_tags import invoke_form
from canonicall.syntax.json_calls import json_opener
from canonicall.syntax.json_printing import each_result
from canonicall.syntax.printing import bare_text, python_text, with_printing
from canonicall.syntax.xml_calls import TagForm, bare_call_openers, tag_openers, tagged_calls


def _form(block: str, *, is_paired: bool = False) -> TagForm:
    return TagForm(
        blocks=(f"<{block}>",),
        block_ends=(f"</{block}>",),
        call="<function",
        call_ends=("</function>",),
        parameters=("<parameter",),
        parameter_ends=("</parameter>",),
        is_trimmed=True,
        is_paired=is_paired,
    )


def _printer(
    block: str = "tool_call",
    between: str = "\n",
    *,
    in_lines: bool = True,
    printed: Callable[[Any], str] = python_text,
) -> Callable[[tuple[ToolCall, ...]], str]:
    """Prints calls. `in_lines`: values stand on lines of their own. `printed` writes a value."""
    return lambda calls: between.join(
        f"<{block}>\n{_function(call, in_lines, printed)}\n</{block}>" for call in calls
    )


def _function(call: ToolCall, in_lines: bool, printed: Callable[[Any], str]) -> str:
    lines = [f"<function={call.name}>"]
    for key, value in arguments_of(call).items():
        text = printed(value)
        if in_lines or text.startswith("\n"):
            # Without line ends that belong to the tags a value would lose its own.
            text = f"\n{text}\n"
        lines.append(f"<parameter={key}>{text}</parameter>")
    return "\n".join((*lines, "</function>"))


def _told_openers(form: TagForm) -> tuple[Opener, ...]:
    """Markers that tell these calls from JSON between the same tags: in a thought that counts.

    Models that write JSON write drafts into their thoughts, these write calls.
    """
    return tuple(
        Opener(f"{block}{line}{form.call}=", tagged_calls(form, "="), closers=form.block_ends)
        for block in form.blocks
        for line in ("\n", "")
    )


_QWEN3_CODER = Syntax(
    name="qwen3_coder_xml",
    notation="xml",
    openers=(
        *only_named(json_opener("<tool_call>", "</tool_call>")),
        *_told_openers(_form("tool_call")),
        *tag_openers(_form("tool_call"), bare=False),
        *tag_openers(replace(_form("tool_call"), call="function", leads=("=",)), bare=False),
        *tag_openers(invoke_form(("tool_call",)), bare=False),
        *(
            replace(one, is_common="name" in one.marker)
            for one in bare_call_openers(_form("tool_call"))
        ),
    ),
    call_ends_thinking=True,
    noise=("<|im_end|>", "<|endoftext|>"),
    prompt_opens_thinking=True,
)
_SEED_FORM = _form("seed:tool_call", is_paired=True)
_SEED_OSS = Syntax(
    name="seed_oss",
    notation="xml",
    openers=(
        *tag_openers(_SEED_FORM, bare=False),
        *only_named(*bare_call_openers(_SEED_FORM)),
    ),
    thinking=(("<seed:think>", "</seed:think>"),),
    call_ends_thinking=True,
    noise=("<seed:eos>",),
)

SYNTAXES = (
    with_printing(_QWEN3_CODER, _printer(), each_result("<tool_response>\n", "\n</tool_response>")),
    with_printing(
        replace(_QWEN3_CODER, name="qwen36_xml", kin_of=_QWEN3_CODER.name),
        _printer(printed=bare_text),
        each_result("<tool_response>\n", "\n</tool_response>"),
    ),
    with_printing(
        replace(_QWEN3_CODER, name="step35", kin_of=_QWEN3_CODER.name),
        _printer(between=""),
        each_result("<tool_response>", "</tool_response>", between=""),
    ),
    with_printing(
        _SEED_OSS,
        _printer("seed:tool_call", in_lines=False),
        each_result("<seed:bos>tool\n", "<seed:eos>", between=""),
    ),
)
