"""dots: invokes in one block, or JSON in the same block."""

from canonicall.syntax.declaration import Syntax
from canonicall.syntax.invoke_tags import invoke_form, invoke_printer
from canonicall.syntax.json_calls import json_opener
from canonicall.syntax.printing import with_printing
from canonicall.syntax.xml_calls import tag_openers

_BLOCK = "dots_function_call"
_DOTS = Syntax(
    name="dots",
    notation="xml",
    openers=(
        json_opener(f"<{_BLOCK}>", f"</{_BLOCK}>"),
        *tag_openers(invoke_form((_BLOCK,)), bare=False),
    ),
    # Engines take it out of the words also where it closes nothing.
    noise=(f"</{_BLOCK}>",),
)

SYNTAXES = (with_printing(_DOTS, invoke_printer(_BLOCK, line="")),)
