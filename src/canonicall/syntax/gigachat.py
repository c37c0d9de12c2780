"""GigaChat 3 and 3.1: one JSON object, behind the name of a role or behind a marker.

GigaChat 3 turns to a role called `function call`; 3.1 has a marker for it. Either is read for both.
The template knows one call in a turn; several are read, and printed, one behind the other.
"""

from canonicall.blocks import ToolResult
from canonicall.syntax.declaration import Syntax, only_named
from canonicall.syntax.json_calls import json_opener
from canonicall.syntax.json_printing import each_call

_ROLE, _MARKER, _NEXT = "function call<|role_sep|>", "<|function_call|>", "<|message_sep|>"
_BY_ROLE, _BY_MARKER = json_opener(_ROLE), json_opener(_MARKER)
_NOISE = (_NEXT, "assistant<|role_sep|>", "</s>")


def _print_results(results: tuple[ToolResult, ...]) -> str:
    return "".join(f"function result<|role_sep|>\n{one.text}{_NEXT}\n\n" for one in results)


SYNTAXES = (
    Syntax(
        name="gigachat3",
        openers=(_BY_ROLE, *only_named(_BY_MARKER)),
        noise=_NOISE,
        print_calls=each_call(f"{_NEXT}\n\n{_ROLE}\n", "", between=""),
        print_results=_print_results,
    ),
    Syntax(
        name="gigachat31",
        openers=(_BY_MARKER, *only_named(_BY_ROLE)),
        noise=_NOISE,
        print_calls=each_call(_MARKER, "", between=""),
        print_results=_print_results,
    ),
)
