"""openPangu: a list of calls as JSON between two tokens.

The first ones write `[unused11]` and `[unused12]`, the second ones the tokens that LFM2 has as
well, which are read where openPangu was named. Thoughts stand between `[unused16]` and
`[unused17]`.
"""

from canonicall.syntax.declaration import Syntax, only_named
from canonicall.syntax.json_calls import json_opener
from canonicall.syntax.json_printing import list_of_calls

SYNTAXES = (
    Syntax(
        name="openpangu",
        openers=(
            json_opener("[unused11]", "[unused12]"),
            *only_named(json_opener("<|tool_call_start|>", "<|tool_call_end|>")),
        ),
        thinking=(("[unused16]", "[unused17]"), ("<think>", "</think>")),
        noise=("[unused10]",),
        print_calls=list_of_calls("[unused11]", "[unused12]"),
    ),
)
