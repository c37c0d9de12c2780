"""Texts that nobody means: what a character of them costs when there are more of them.

Every syntax reads its own markers, over and over: alone, with a character behind each, and with
what opens JSON, strings and tags. The row of a syntax is the shape that seemed to grow the most at
a first look. Then there are the inner parts of calls that once were read again and again, and some
like them.
"""

from collections.abc import Iterator

from canonicall.request import Tool
from canonicall.syntax.declaration import Syntax
from canonicall.syntax.offered import offered_tools
from canonicall.syntax.registry import all_syntaxes
from canonicall.syntax.scanner import TextScanner
from measuring import Ratio, growth, growth_once

SHORT = 8_000
LONG = 32_000
LINEAR = 1.2
PIECE = 64
REPEATS = 3
TOOLS = [Tool("write", parameters={"type": "object", "properties": {"n": {"type": "integer"}}})]
BEHIND = ("", "x", "<", '{"', "\\")
INNER = (
    ("hermes", '<tool_call>{"name": "write", "arguments": {"n":', '\\"', "quotes that are escaped"),
    ("hermes", '<tool_call>{"name": "write", "arguments": {"n":', "[", "brackets"),
    ("hermes", '<tool_call>{"name": "write", "arguments": {}}</tool_call>', " ", "blanks behind"),
    ("hermes", "", "<think>a</think>", "thoughts"),
    ("pythonic", "[write(n=", "0", "zeros"),
    ("qwen3_coder_xml", "<function=write><parameter=n>", "<", "signs of tags"),
    ("toolname_as_tag_xml", "<write><n>", "<a>", "elements in elements"),
    ("gemma4", "<|tool_call>call:write{n:", "[", "brackets"),
)


def ratios() -> list[Ratio]:
    """One unit is a character."""
    own = [_worst(syntax) for syntax in all_syntaxes() if not syntax.kin_of]
    inner = [
        growth(
            f"{name}: {what} in a call, 32 KB / 8 KB",
            lambda text, name=name: _scan(name, text),  # type: ignore[misc]
            _filled(before, unit, LONG),
            _filled(before, unit, SHORT),
            goal=LINEAR,
            repeats=REPEATS,
        )
        for name, before, unit, what in INNER
    ]
    return [*own, *inner]


def _worst(syntax: Syntax) -> Ratio:
    """The shape whose characters cost the most more when there are more of them.

    What seems to grow is measured once more, and well: the first look at each is a short one.
    """

    def work(text: str) -> None:
        _scan(syntax, text)

    shapes = list(_shapes(syntax))
    unit = max(shapes, key=lambda one: growth_once(work, one * 40, one * 10))
    long, short = _filled("", unit, LONG), _filled("", unit, SHORT)
    what = f"{syntax.name}: {unit!r}, which looked worst of {len(shapes)} shapes, 32 KB / 8 KB"
    return growth(what, work, long, short, goal=LINEAR, repeats=REPEATS)


def _shapes(syntax: Syntax) -> Iterator[str]:
    made = syntax.tool_openers(offered_tools(TOOLS)) if syntax.tool_openers else ()
    openers = (*syntax.openers, *made)
    markers = [marker for one in openers for marker in (one.marker, *one.closers)]
    markers += [marker for pair in syntax.thinking for marker in pair]
    for marker in dict.fromkeys((*markers, *syntax.noise, "<")):
        yield from (marker + behind for behind in BEHIND)


def _filled(before: str, unit: str, length: int) -> str:
    return before + unit * (length // len(unit))


def _scan(syntax: str | Syntax, text: str) -> None:
    scanner = TextScanner(syntax, tools=TOOLS)
    for at in range(0, len(text), PIECE):
        scanner.feed(text[at : at + PIECE])
    scanner.close()
