"""Phi-4 mini and FireFunction 2: `functools` and a list of calls; no marker ends it.

The word alone is prose, so only `functools[` counts, and `functools{`, which Phi writes at times,
as it does the same list between tokens, or the bare calls that its template prints. FireFunction
puts a space before the word. FireFunction 1, and models that were taught by the same data, write
`<functioncall>` before each call, and FireFunction 1 `<plain>` before text.
"""

from canonicall.syntax.declaration import Opener, Syntax, only_named
from canonicall.syntax.json_calls import bare_opener, json_opener
from canonicall.syntax.json_form import JsonForm
from canonicall.syntax.json_printing import each_call, each_result, list_of_calls

_OPENER: Opener = json_opener("functools")
_STRICT = JsonForm(is_strict=True)

SYNTAXES = (
    Syntax(
        name="phi4_mini",
        openers=(
            _OPENER,
            *only_named(json_opener("<|tool_call|>", "<|/tool_call|>")),
            *only_named(bare_opener("{", form=_STRICT), bare_opener("[", form=_STRICT)),
        ),
        noise=("<|end|>", "<|endoftext|>"),
        print_calls=list_of_calls("functools", ""),
    ),
    Syntax(
        name="firefunction_v1",
        openers=(json_opener("<functioncall>", "</functioncall>"),),
        noise=("<plain>", "</s>", "<|endoftext|>"),
        print_calls=each_call("<functioncall>", "", between=""),
        print_results=each_result("TOOL: ", "\n\n", between=""),
    ),
    Syntax(
        name="firefunction_v2",
        kin_of="phi4_mini",
        openers=(_OPENER,),
        noise=("<|start_header_id|>assistant<|end_header_id|>", "<|eot_id|>"),
        print_calls=list_of_calls(" functools", ""),
        print_results=each_result(
            "<|start_header_id|>tool<|end_header_id|>\n\n", "<|eot_id|>", between=""
        ),
    ),
)
