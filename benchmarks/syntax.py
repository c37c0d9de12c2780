"""Calls printed in text, as they stream in: what they cost, and whether that stays linear."""

from canonicall.syntax.scanner import TextScanner
from measuring import Ratio, Side, compare

KILO = 1_000
ARGUMENT = 64 * 1024
LONG = 1_000 * KILO
SHORT = 100 * KILO
LINEAR = 1.2
WORDS = "The quick brown fox jumps over the lazy dog, if a < b and b > c.\n"


def ratios() -> list[Ratio]:
    """One unit is the whole call, or a character; the bare search is over the same text."""
    call, long, short = _call(ARGUMENT), _call(LONG), _call(SHORT)
    words = (WORDS * (LONG // len(WORDS) + 1))[:LONG]
    return [
        compare(
            "a call with 64 KB in one argument, 4 characters at a time / str.find",
            Side(lambda: _scan(call, 4), 1),
            Side(lambda: _search(call), 1),
        ),
        compare(
            "a call with 1 MB in one argument / with 100 KB, 4 characters at a time",
            Side(lambda: _scan(long, 4), LONG),
            Side(lambda: _scan(short, 4), SHORT),
            goal=LINEAR,
        ),
        compare(
            "1 MB of words, 64 characters at a time / str.find",
            Side(lambda: _scan(words, 64), LONG),
            Side(lambda: _search(words), LONG),
        ),
    ]


def _scan(text: str, size: int) -> None:
    scanner = TextScanner("hermes")
    for at in range(0, len(text), size):
        scanner.feed(text[at : at + size])
    scanner.close()


def _search(text: str) -> None:
    text.find("no such marker")


def _call(length: int) -> str:
    content = (WORDS.replace("\n", "\\n") * (length // len(WORDS) + 1))[:length]
    # An escape that was cut in two would escape the closing quote.
    argument = content.rstrip("\\")
    return f'<tool_call>\n{{"name": "write", "arguments": {{"text": "{argument}"}}}}\n</tool_call>'
