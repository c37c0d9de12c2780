"""The part of YAML that models write as arguments: maps, lists, scalars, blocks of text.

`key: value`, nested by indentation; `- item`; texts in quotes or bare; `|` and `>` with `-` or
`+`; lists and maps in brackets; comments. No anchors, tags, documents or merges: text that needs
them, or is no map at all, is not read. A bare scalar is given as `Bare`, as only a schema can tell
whether 01234 is a number.
"""

import re
from typing import Any

from canonicall.syntax.repair import repaired_value

_KEY = re.compile(
    r"""("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'
    |[^\s\-?:,\[\]{}\#&*!|>'"%@`][^:\#]{0,200}?|-[^\s:]{1,200})\s*:(?=\s|\Z)""",
    re.VERBOSE,
)
_BLOCK = re.compile(r"([|>])([+-]?)\s*(?:#.*)?\Z")
_COMMENT = re.compile(r"\s#.*\Z")
_DEEPEST = 32


class Bare(str):
    """A scalar without quotes."""

    __slots__ = ()


class NotYaml(ValueError):
    """The text is not in the part of YAML that is read here."""


def yaml_map(text: str) -> dict[str, Any] | None:
    """The map that `text` is; None if it is none."""
    lines = _Lines(text.expandtabs(4).split("\n"))
    try:
        value = _node(lines, lines.indent(), 0)
    except NotYaml:
        return None
    return value if isinstance(value, dict) and lines.is_done else None


class _Lines:
    """The lines of a text, one after the other; lines that say nothing are passed over."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._at = 0

    def _skip(self) -> None:
        while self._at < len(self._lines):
            said = self._lines[self._at].strip()
            if said and not said.startswith("#"):
                return
            self._at += 1

    @property
    def is_done(self) -> bool:
        self._skip()
        return self._at >= len(self._lines)

    def indent(self) -> int:
        """How far the next line is indented; -1 at the end."""
        if self.is_done:
            return -1
        line = self._lines[self._at]
        return len(line) - len(line.lstrip())

    def peek(self) -> str:
        return self._lines[self._at].strip()

    def take(self) -> str:
        self._at += 1
        return self._lines[self._at - 1].strip()

    def replace(self, column: int, rest: str) -> None:
        """Let the line that was taken be followed by `rest`, as if it stood at `column`."""
        self._at -= 1
        self._lines[self._at] = " " * column + rest

    def block(self, above: int) -> list[str]:
        """All lines that are indented more than `above`, as they are, blank ones with them."""
        taken = []
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.strip() and len(line) - len(line.lstrip()) <= above:
                break
            taken.append(line)
            self._at += 1
        return taken


def _node(lines: _Lines, indent: int, depth: int) -> Any:
    if indent < 0 or depth > _DEEPEST:
        raise NotYaml
    said = lines.peek()
    if said == "-" or said.startswith("- "):
        return _list(lines, indent, depth)
    if _KEY.match(said):
        return _map(lines, indent, depth)
    return _inline(lines.take(), lines, indent - 1)


def _map(lines: _Lines, indent: int, depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    while lines.indent() == indent:
        said = lines.peek()
        key = _KEY.match(said)
        if key is None:
            raise NotYaml
        lines.take()
        rest = said[key.end() :].strip()
        name = str(_scalar(key[1]))
        if name in found:  # YAML forbids it, and one of the two would be lost.
            raise NotYaml
        if _COMMENT.sub("", f" {rest}").strip():
            found[name] = _inline(rest, lines, indent)
        else:
            below = lines.indent()
            is_list = below == indent and lines.peek().startswith("-")
            is_nested = below > indent or is_list
            found[name] = _node(lines, below, depth + 1) if is_nested else None
    if lines.indent() > indent:
        raise NotYaml
    return found


def _list(lines: _Lines, indent: int, depth: int) -> list[Any]:
    found: list[Any] = []
    while lines.indent() == indent and (lines.peek() == "-" or lines.peek().startswith("- ")):
        said = lines.take()
        rest = said[1:].strip()
        if not rest:
            below = lines.indent()
            found.append(_node(lines, below, depth + 1) if below > indent else None)
        elif _KEY.match(rest) or rest.startswith("- "):
            column = indent + len(said) - len(rest)
            lines.replace(column, rest)
            found.append(_node(lines, column, depth + 1))
        else:
            found.append(_inline(rest, lines, indent))
    return found


def _inline(said: str, lines: _Lines, indent: int) -> Any:
    """A value that begins behind its key; more of it may follow on lines that are indented more."""
    block = _BLOCK.fullmatch(said)
    if block is not None:
        return _block(lines.block(indent), folds=block[1] == ">", chomp=block[2])
    parts = [said]
    while lines.indent() > indent:
        parts.append(lines.take())
    return _scalar(" ".join(parts))


def _block(lines: list[str], *, folds: bool, chomp: str) -> str:
    while lines and not lines[-1].strip():
        lines.pop()
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    cut = [line[margin:].rstrip("\r") for line in lines]
    text = _folded(cut) if folds else "\n".join(cut)
    return text if chomp == "-" or not text else f"{text}\n"


def _folded(lines: list[str]) -> str:
    """Lines that belong together on one line; a blank line is where a new one begins."""
    parts: list[str] = []
    for line in lines:
        if parts and line and parts[-1] != "\n":
            parts.append(" ")
        parts.append(line or "\n")
    return "".join(parts)


def _scalar(said: str) -> Any:
    if said[:1] == '"':
        value = repaired_value(_quoted(said, r'"(?:[^"\\]|\\.)*"'))
        return value if isinstance(value, str) else ""
    if said[:1] == "'":
        return _quoted(said, r"'(?:[^']|'')*'")[1:-1].replace("''", "'")
    said = _COMMENT.sub("", said).rstrip()
    if said[:1] in ("[", "{"):
        return _flow(said)
    if said[:1] in ("&", "*", "!", "|", ">", "%", "@", "`"):
        raise NotYaml
    return Bare(said)


def _quoted(said: str, pattern: str) -> str:
    found = re.match(rf"({pattern})\s*(?:#.*)?\Z", said, re.DOTALL)
    if found is None:
        raise NotYaml
    return found[1]


def _flow(said: str) -> Any:
    """A list or map in brackets: JSON, or a list of bare texts."""
    if said[-1] != ("]" if said[0] == "[" else "}"):
        raise NotYaml
    value = repaired_value(said)
    if value is not None:
        return value
    if said[0] == "{" or re.search(r"[\[\]{}]", said[1:-1]):
        raise NotYaml
    return [_scalar(one.strip()) for one in said[1:-1].split(",") if one.strip()]
