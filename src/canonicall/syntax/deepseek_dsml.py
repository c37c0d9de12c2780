"""DeepSeek V3.2 and V4: tags with a token before their names, DSML between fullwidth bars.

V3.2 calls the block `function_calls`, V4 `tool_calls`; each at times writes the other's, or none.
An argument says itself whether it is a string: `string="true"` is raw text, `string="false"` is
JSON. It is believed unless the schema knows better: an argument that cannot be a string is read by
its schema, and one that can only be a string is one. A call may also hold one JSON object, close
itself with `/>`, or wrap all arguments into one called `arguments` or `input`; it is unwrapped
if the tool has no such argument and has all that are in it.

APIs leak these tags as text, with the bars doubled, in ASCII, as one double bar or spaced out; all
that have been seen are read (GenericAgent#804, flocks#687, freelens#127, cline#13348). A call
inside a thought ends the thought (vllm#46079).
"""

from msgspec.structs import replace

from canonicall.blocks import ToolResult
from canonicall.syntax.declaration import Opener, Syntax
from canonicall.syntax.invoke_tags import invoke_form, invoke_printer
from canonicall.syntax.printing import with_printing
from canonicall.syntax.tag_heads import Attributes
from canonicall.syntax.xml_calls import TagForm, tag_openers
from canonicall.syntax.xml_values import ValueKind

_BLOCKS = ("tool_calls", "function_calls", "tool_use", "calls")
_BAR = "\uff5c"
_DSML = f"{_BAR}DSML{_BAR}"
_LEAKED = (
    f"{_BAR}{_DSML}{_BAR}",
    f"{_BAR}{_DSML}{_BAR} ",
    "|DSML|",
    "||DSML||",
    "\u2016DSML\u2016",
    " | DSML | ",
    "| DSML | ",
)
_END_OF_TURN = f"<{_BAR}end\u2581of\u2581sentence{_BAR}>"


def _kind(attributes: Attributes, types: tuple[str, ...]) -> ValueKind:
    """What the attribute `string` says."""
    says = attributes.get("string", "").lower()
    if says == "true" and (not types or "string" in types):
        return ValueKind()
    return ValueKind(types, says_json=says == "false" and types != ("string",))


def _form(token: str) -> TagForm:
    return invoke_form(
        tuple(f"{token}{block}" for block in _BLOCKS),
        prefix=token,
        kind=_kind,
        attributes="string=(true|false)",
        unwraps=("arguments", "input"),
    )


def _openers(*, is_v4: bool) -> tuple[Opener, ...]:
    """The same for both; where neither is named, the block that is V4's own tells it."""
    return tuple(
        replace(opener, only_named=opener.marker.endswith("tool_calls>") != is_v4)
        for token in (_DSML, *_LEAKED)
        for opener in tag_openers(_form(token))
    )


def _print_v32_results(results: tuple[ToolResult, ...]) -> str:
    said = "".join(f"\n<result>{one.text}</result>" for one in results)
    return f"<function_results>{said}\n</function_results>"


def _print_v4_results(results: tuple[ToolResult, ...]) -> str:
    return "\n\n".join(f"<tool_result>{one.text}</tool_result>" for one in results)


_V32 = Syntax(
    name="deepseek_v32_dsml",
    notation="xml",
    openers=_openers(is_v4=False),
    call_ends_thinking=True,
    noise=(_END_OF_TURN,),
    models=("*deepseek-v3.2*",),
    prompt_opens_thinking=True,
)
_V4 = Syntax(
    name="deepseek_v4_dsml",
    notation="xml",
    openers=_openers(is_v4=True),
    call_ends_thinking=True,
    noise=(_END_OF_TURN,),
    models=("*deepseek-v4*",),
    prompt_opens_thinking=True,
)

SYNTAXES = (
    with_printing(
        _V32,
        invoke_printer(f"{_DSML}function_calls", _DSML, says_type=True),
        _print_v32_results,
    ),
    with_printing(
        _V4,
        invoke_printer(f"{_DSML}tool_calls", _DSML, says_type=True, keeps_line=True),
        _print_v4_results,
    ),
)
