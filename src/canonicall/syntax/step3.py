"""Step3: invokes in a namespace of their own, inside tokens of the DeepSeek kind.

Each call stands between its own tokens and begins with the word `function`, which some templates
leave out. A call outside of the block counts as well. Python's words for true, false and null are
read where the schema has them.
"""

from msgspec.structs import replace

from canonicall.blocks import ToolCall
from canonicall.syntax.declaration import Syntax
from canonicall.syntax.invoke_tags import invoke_form, print_invoke
from canonicall.syntax.printing import with_printing
from canonicall.syntax.xml_calls import tag_openers

_PREFIX = "steptml:"
_BAR = "\uff5c"
_BEGIN, _END = f"<{_BAR}tool_call_begin{_BAR}>", f"<{_BAR}tool_call_end{_BAR}>"
_SEPARATOR = f"<{_BAR}tool_sep{_BAR}>"
_FORM = replace(
    invoke_form((), prefix=_PREFIX),
    blocks=(f"<{_BAR}tool_calls_begin{_BAR}>",),
    block_ends=(f"<{_BAR}tool_calls_end{_BAR}>",),
    fillers=(f"{_BEGIN}function{_SEPARATOR}", _BEGIN, f"function{_SEPARATOR}", _SEPARATOR, _END),
)


def _print_calls(calls: tuple[ToolCall, ...]) -> str:
    head = f"{_BEGIN}function{_SEPARATOR}"
    printed = "".join(f"{head}{print_invoke(call, _PREFIX, line='')}{_END}" for call in calls)
    return f"{_FORM.blocks[0]}{printed}{_FORM.block_ends[0]}"


_STEP3 = Syntax(
    name="step3_steptml",
    notation="xml",
    openers=tag_openers(_FORM),
    noise=(_BEGIN, _END),
    prompt_opens_thinking=True,
)

SYNTAXES = (with_printing(_STEP3, _print_calls),)
