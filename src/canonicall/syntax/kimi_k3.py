"""Kimi K3: elements made of tokens, `<|open|>call tool="f" index="1"<|sep|>` and so on.

Arguments say their type: strings stand raw, all else is JSON. Attributes escape `&` and `"`, values
escape nothing. Words stand in the element `response`, thoughts in `think`; their tags mean nothing
else.
"""

from canonicall.arguments import arguments_of
from canonicall.blocks import ToolCall, ToolResult
from canonicall.syntax.declaration import Syntax
from canonicall.syntax.printing import bare_text, with_printing
from canonicall.syntax.tag_heads import Attributes
from canonicall.syntax.xml_calls import TagForm, tag_openers
from canonicall.syntax.xml_values import ValueKind

_OPEN, _CLOSE, _SEP = "<|open|>", "<|close|>", "<|sep|>"


def _unescape(text: str) -> str:
    return text.replace("&quot;", '"').replace("&amp;", "&")


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;")


def _kind(attributes: Attributes, types: tuple[str, ...]) -> ValueKind:
    """What the attribute `type` says."""
    says = attributes.get("type")
    return ValueKind() if says == "string" else ValueKind(types, says_json=says is not None)


_FORM = TagForm(
    blocks=(f"{_OPEN}tools{_SEP}",),
    block_ends=(f"{_CLOSE}tools{_SEP}",),
    call=f"{_OPEN}call",
    call_ends=(f"{_CLOSE}call{_SEP}",),
    parameters=(f"{_OPEN}argument",),
    parameter_ends=(f"{_CLOSE}argument{_SEP}",),
    leads=(' tool="', ' key="', 'tool="', 'key="'),
    name="tool",
    key="key",
    attributes=r"index=\d+|type=(string|number|boolean|object|array|null)",
    tag_end=_SEP,
    kind=_kind,
    unescape=_unescape,
)
_FRAMES = tuple(
    f"{token}{blank}{element}{blank}{_SEP}"
    for token in (_OPEN, _CLOSE)
    for element in ("response", "message")
    for blank in ("", " ")
)


def _print_calls(calls: tuple[ToolCall, ...]) -> str:
    printed = "".join(_print_call(call, index) for index, call in enumerate(calls, 1))
    return f"{_OPEN}tools{_SEP}{printed}{_CLOSE}tools{_SEP}"


def _print_call(call: ToolCall, index: int) -> str:
    arguments = "".join(
        f'{_OPEN}argument key="{_escape(key)}" type="{_type(value)}"{_SEP}'
        f"{bare_text(value)}{_CLOSE}argument{_SEP}"
        for key, value in arguments_of(call).items()
    )
    begin = f'{_OPEN}call tool="{_escape(call.name)}" index="{index}"{_SEP}'
    return f"{begin}{arguments}{_CLOSE}call{_SEP}"


def _print_results(results: tuple[ToolResult, ...]) -> str:
    return "".join(
        f'{_OPEN}message role="tool" tool="{_escape(one.name)}" index="{index}"{_SEP}'
        f"{one.text}{_CLOSE}message{_SEP}<|end_of_msg|>"
        for index, one in enumerate(results, 1)
    )


def _type(value: object) -> str:
    for kind, name in ((str, "string"), (bool, "boolean"), ((int, float), "number")):
        if isinstance(value, kind):
            return name
    return "null" if value is None else "object" if isinstance(value, dict) else "array"


_KIMI_K3 = Syntax(
    name="kimi_k3_xtml",
    notation="xml",
    openers=tag_openers(_FORM),
    thinking=((f"{_OPEN}think{_SEP}", f"{_CLOSE}think{_SEP}"),),
    noise=(*_FRAMES, "<|end_of_msg|>"),
)

SYNTAXES = (with_printing(_KIMI_K3, _print_calls, _print_results),)
