"""DeepSeek V3.2 to V4.1: tags with a token before their names, DSML between fullwidth bars.

V3.2 calls the block `function_calls`, V4 `tool_calls`, V4.1 `calls`, with a blank before the name
of every tag; each at times writes the others', or none. GigaChat 3.5 writes the same with a token
of its own.
An argument says itself whether it is a string: `string="true"` is raw text, `string="false"` is
JSON. It is believed unless the schema knows better: an argument that cannot be a string is read by
its schema, and one that can only be a string is one. A call may also hold one JSON object, close
itself with `/>`, or wrap all arguments into one called `arguments` or `input`; it is unwrapped
if the tool has no such argument and has all that are in it.

Of a block whose beginning a host has taken, a reply that begins in the tag of a call is read. An
argument of a call that has no name is text, with a finding. V3.2 is also read in the form of V3.1,
which its first version, V3.2-Exp, prints.

APIs leak these tags as text, with the bars doubled, in ASCII, as one double bar or spaced out; all
that have been seen are read (GenericAgent#804, flocks#687, freelens#127, cline#13348). A call
inside a thought ends the thought (vllm#46079).
"""

import re
from collections.abc import Callable

from msgspec.structs import replace

from canonicall.blocks import ToolResult
from canonicall.syntax.declaration import Opener, Syntax, only_named
from canonicall.syntax.deepseek import V31_FRAMES, V31_NOISE, V31_OPENERS
from canonicall.syntax.invoke_tags import NAME_LEAD, invoke_form, invoke_printer
from canonicall.syntax.output import Output
from canonicall.syntax.printing import with_printing
from canonicall.syntax.reader import Reader, Reading
from canonicall.syntax.tag_heads import Attributes
from canonicall.syntax.xml_calls import TagForm, tag_openers, tagged_calls
from canonicall.syntax.xml_values import ValueKind

_BLOCKS = ("tool_calls", "function_calls", "tool_use", "calls")
_BAR = "\uff5c"
_DSML = f"{_BAR}DSML{_BAR}"
_SPACED = f"{_DSML} "
_GCML = f"{_BAR}GCML{_BAR}"
_LEAKED = (
    f"DSML{_BAR}",
    "\\DSML\\",
    "\\DSML\\ ",
    f"{_BAR}{_DSML}{_BAR}",
    f"{_BAR}{_DSML}{_BAR} ",
    "|DSML|",
    "||DSML||",
    "\u2016DSML\u2016",
    " | DSML | ",
    "| DSML | ",
)
_LONGEST_HEAD = 512
_NO_NEWS = re.compile(r"[^<\n]{0,400}\s{0,64}(?:</?[^<>]{0,16})?\Z")
"""What may still become the tag of a call, and what follows it."""
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


def _openers(owned: Callable[[str], bool]) -> tuple[Opener, ...]:
    """The same for all; where none is named, the one that owns a marker is told by it."""
    return tuple(
        replace(opener, only_named=not owned(opener.marker))
        for token in (_DSML, _SPACED, *_LEAKED)
        for opener in tag_openers(_form(token))
    )


def _unopened(token: str) -> tuple[Opener, ...]:
    """Reads a reply that begins inside the tag of a call. One that begins after it has no name."""
    leads = tuple(
        f"{before}{NAME_LEAD.lstrip()}"
        for before in ("", "invoke ", *(f"{token[at:]}invoke " for at in range(len(token))))
    )
    head = re.compile(
        rf"\s{{0,8}}(?:{'|'.join(map(re.escape, leads))})[^\"<>\n]{{1,128}}\"\s{{0,8}}>\s{{0,64}}"
        rf"</?{re.escape(token)}"
    )
    read = tagged_calls(_form(token), NAME_LEAD)

    def looks(reader: Reader) -> Reading[bool]:
        yield from reader.blank()
        if not (yield from reader.next_of(*leads)):
            return False
        found = yield from reader.ahead(head, _LONGEST_HEAD, _NO_NEWS)
        return found is not None

    def read_unopened(reader: Reader, output: Output) -> Reading[bool]:
        yield from reader.accept(*leads)
        return (yield from read(reader, output))

    return (
        Opener("", read_unopened, looks=looks),
        *only_named(Opener(f"<{token}parameter", _refuse)),
    )


def _refuse(_reader: Reader, _output: Output) -> Reading[bool]:
    """An argument of a call that was never named: there is nothing to call, only a finding."""
    yield from ()
    return False


def _is_of_v41(marker: str) -> bool:
    return marker.startswith(f"<{_SPACED}")


def _is_of_v4(marker: str) -> bool:
    return marker.endswith("tool_calls>") and not _is_of_v41(marker)


def _is_of_v32(marker: str) -> bool:
    return not (_is_of_v4(marker) or _is_of_v41(marker))


def _print_v32_results(results: tuple[ToolResult, ...]) -> str:
    said = "".join(f"\n<result>{one.text}</result>" for one in results)
    return f"<function_results>{said}\n</function_results>"


def _print_v4_results(results: tuple[ToolResult, ...]) -> str:
    return "\n\n".join(f"<tool_result>{one.text}</tool_result>" for one in results)


_V32 = Syntax(
    name="deepseek_v32_dsml",
    notation="xml",
    openers=(*_openers(_is_of_v32), *_unopened(_DSML), *only_named(*V31_OPENERS)),
    call_ends_thinking=True,
    noise=V31_NOISE,
    frames=V31_FRAMES,
    prompt_opens_thinking=True,
)
_V4 = Syntax(
    name="deepseek_v4_dsml",
    notation="xml",
    openers=(*_openers(_is_of_v4), *only_named(*_unopened(_DSML))),
    call_ends_thinking=True,
    noise=(_END_OF_TURN,),
    prompt_opens_thinking=True,
)
_V41 = Syntax(
    name="deepseek_v41_dsml",
    notation="xml",
    openers=(*_openers(_is_of_v41), *only_named(*_unopened(_SPACED))),
    call_ends_thinking=True,
    noise=(_END_OF_TURN,),
    prompt_opens_thinking=True,
)
_GIGACHAT35 = Syntax(
    name="gigachat35",
    notation="xml",
    openers=tag_openers(_form(_GCML)),
    call_ends_thinking=True,
    noise=("<|message_sep|>", "</s>"),
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
    with_printing(
        _V41,
        invoke_printer(f"{_SPACED}calls", _SPACED, says_type=True),
        _print_v4_results,
    ),
    with_printing(_GIGACHAT35, invoke_printer(f"{_GCML}tool_calls", _GCML, says_type=True)),
)
