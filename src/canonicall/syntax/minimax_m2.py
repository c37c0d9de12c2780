"""MiniMax M2 and its revisions: several invokes in one block, values as they stand.

The template prints strings raw and everything else as JSON, and escapes nothing: a string that
contains the end of a parameter with something behind it that may follow cannot be said. Entities
in values are therefore not undone.
"""

from canonicall.syntax.declaration import Syntax, only_named
from canonicall.syntax.invoke_tags import invoke_form, invoke_printer
from canonicall.syntax.json_printing import each_result
from canonicall.syntax.printing import with_printing
from canonicall.syntax.xml_calls import bare_call_openers, tag_openers

_BLOCK = "minimax:tool_call"
_FORM = invoke_form((_BLOCK,))


PRINT_RESULTS = each_result("\n<response>", "</response>", between="")

_MINIMAX_M2 = Syntax(
    name="minimax_m2",
    notation="xml",
    openers=(*tag_openers(_FORM, bare=False), *only_named(*bare_call_openers(_FORM))),
    call_ends_thinking=True,
    noise=("[e~[",),
    prompt_opens_thinking=True,
)

SYNTAXES = (with_printing(_MINIMAX_M2, invoke_printer(_BLOCK), PRINT_RESULTS),)
