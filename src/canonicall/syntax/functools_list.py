"""Phi-4 mini and FireFunction 2: `functools` and a list of calls; no marker ends it.

The word alone is prose, so only `functools[` counts, and `functools{`, which Phi writes at times,
as it does the same list between tokens. FireFunction puts a space before the word.
"""

from canonicall.syntax.declaration import Opener, Syntax, only_named
from canonicall.syntax.json_calls import json_opener
from canonicall.syntax.json_printing import each_result, list_of_calls

_OPENER: Opener = json_opener("functools")

SYNTAXES = (
    Syntax(
        name="phi4_mini",
        openers=(_OPENER, *only_named(json_opener("<|tool_call|>", "<|/tool_call|>"))),
        noise=("<|end|>", "<|endoftext|>"),
        models=("*phi-4-mini*",),
        print_calls=list_of_calls("functools", ""),
    ),
    Syntax(
        name="firefunction_v2",
        kin_of="phi4_mini",
        openers=(_OPENER,),
        noise=("<|start_header_id|>assistant<|end_header_id|>", "<|eot_id|>"),
        models=("*firefunction*",),
        print_calls=list_of_calls(" functools", ""),
        print_results=each_result(
            "<|start_header_id|>tool<|end_header_id|>\n\n", "<|eot_id|>", between=""
        ),
    ),
)
