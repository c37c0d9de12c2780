"""Calls printed in text, as they stream in: what they cost, and whether that stays linear.

Each engine is measured by some of its syntaxes: JSON, names before JSON, tags, elements, code.
"""

from canonicall.blocks import ToolCall
from canonicall.request import Tool
from canonicall.syntax.registry import get_syntax
from canonicall.syntax.scanner import TextScanner
from measuring import Ratio, Side, compare, growth

KILO = 1_000
ARGUMENT = 64 * 1024
LONG = 1_000 * KILO
SHORT = 100 * KILO
LINEAR = 1.2
WORDS = "The quick brown fox jumps over the lazy dog, if a < b and b > c.\n"
SYNTAXES = (
    *("hermes", "json_plain", "kimi_k2", "mistral", "harmony"),
    *("qwen3_coder_xml", "deepseek_v32_dsml", "glm45_xml", "minimax_m3", "toolname_as_tag_xml"),
    *("gemma4", "pythonic", "react"),
)
TOOLS = [Tool("write", parameters={"type": "object", "properties": {"text": {"type": "string"}}})]


def ratios() -> list[Ratio]:
    """One unit is the whole call, or a character; the bare search is over the same text."""
    return [one for name in SYNTAXES for one in _of_syntax(name)]


def _of_syntax(name: str) -> list[Ratio]:
    call, long, short = _call(name, ARGUMENT), _call(name, LONG), _call(name, SHORT)
    words = _words(LONG)
    return [
        compare(
            f"{name}: a call with 64 KB in one argument, 4 characters at a time / str.find",
            Side(lambda: _scan(name, call, 4), 1),
            Side(lambda: _search(call), 1),
        ),
        growth(
            f"{name}: a call with 1 MB in one argument / with 100 KB, 4 characters at a time",
            lambda text: _scan(name, text, 4),
            long,
            short,
            goal=LINEAR,
        ),
        compare(
            f"{name}: 1 MB of words, 64 characters at a time / str.find",
            Side(lambda: _scan(name, words, 64), LONG),
            Side(lambda: _search(words), LONG),
        ),
    ]


def _scan(name: str, text: str, size: int) -> None:
    scanner = TextScanner(name, tools=TOOLS)
    for at in range(0, len(text), size):
        scanner.feed(text[at : at + size])
    scanner.close()


def _search(text: str) -> None:
    text.find("no such marker")


def _words(length: int) -> str:
    return (WORDS * (length // len(WORDS) + 1))[:length]


def _call(name: str, length: int) -> str:
    print_calls = get_syntax(name).print_calls
    assert print_calls is not None
    return print_calls((ToolCall(name="write", args={"text": _words(length)}),))
