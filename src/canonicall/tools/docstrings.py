"""Docstrings: what a function says of itself, and of each of its parameters.

Three styles are read, mixed or not: sections with indented entries (Google), sections with an
underlined title (NumPy), and fields between colons (Sphinx). What is in no section is description.
"""

import re
from inspect import cleandoc
from typing import NamedTuple

_ABOUT_PARAMETERS = {
    "args",
    "arguments",
    "parameters",
    "params",
    "keyword args",
    "keyword arguments",
    "other parameters",
}
_OTHERS = {
    *("returns", "return", "yields", "yield", "raises", "warns", "warnings", "warning", "note"),
    *("notes", "example", "examples", "attributes", "see also", "references", "todo", "receives"),
}
_TITLES = _ABOUT_PARAMETERS | _OTHERS
_UNDERLINE = re.compile(r"-{3,}\s*")
_FIELD = re.compile(r":(?P<kind>[a-z]+)(?:\s+(?P<about>[^:]*))?:\s*(?P<text>.*)")
_FIELD_OF_PARAMETER = {"param", "parameter", "arg", "argument", "key", "keyword"}
_INDENTED_ENTRY = re.compile(r"\*{0,2}(?P<names>\w+)\s*(?:\([^)]*\))?\s*:\s*(?P<text>.*)")
_UNDERLINED_ENTRY = re.compile(r"(?P<names>\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?")


class Documentation(NamedTuple):
    """A docstring, read."""

    description: str = ""
    parameters: dict[str, str] = {}  # noqa: RUF012  # a default that is never changed


def read_docstring(text: str | None) -> Documentation:
    """What a docstring says."""
    reading = _Reading(cleandoc(text or "").splitlines())
    return Documentation(reading.description(), reading.parameters())


class _Reading:
    """One pass over the lines: each goes to the description, or to the parameters named last."""

    def __init__(self, lines: list[str]) -> None:
        self._described: list[str] = []
        self._told: dict[str, list[str]] = {}
        self._current: list[str] = []
        self._section = ""
        """The title of the section that the line is in; empty outside of all."""
        self._underlined = False
        self._indent = 0
        """Of the entries in a section with indented entries; 0 before the first."""
        self._in_field = False
        for at, line in enumerate(lines):
            following = lines[at + 1] if at + 1 < len(lines) else ""
            self._read(line, following)

    def description(self) -> str:
        return "\n".join(self._described).strip()

    def parameters(self) -> dict[str, str]:
        joined = {name: " ".join(lines).strip() for name, lines in self._told.items()}
        return {name: text for name, text in joined.items() if text}

    def _read(self, line: str, following: str) -> None:
        title = line.strip().removesuffix(":").lower()
        indent = len(line) - len(line.lstrip())
        if not indent and title in _TITLES and self._opens(line, following):
            self._section, self._current, self._in_field = title, [], False
            self._indent = 0
        elif not indent and (field := _FIELD.fullmatch(line)):
            self._field(field)
        elif self._in_field and (indent or not line):
            self._current.append(line.strip())
        elif self._section and (indent or not line or self._underlined):
            self._in_section(line, indent)
        else:
            self._section, self._in_field = "", False
            self._described.append(line)

    def _opens(self, line: str, following: str) -> bool:
        """Whether a line that reads like a title is one, by what comes after it."""
        if _UNDERLINE.fullmatch(following):
            self._underlined = True
            return True
        if line.rstrip().endswith(":") and (following.startswith((" ", "\t")) or not following):
            self._underlined = False
            return True
        return False

    def _field(self, field: re.Match[str]) -> None:
        self._section, self._in_field, self._current = "", True, [field["text"]]
        words = (field["about"] or "").split()
        if field["kind"] in _FIELD_OF_PARAMETER and words:
            # `:param int days:` has a type in front of the name.
            self._told[words[-1].lstrip("*\\")] = self._current

    def _in_section(self, line: str, indent: int) -> None:
        if self._section not in _ABOUT_PARAMETERS or _UNDERLINE.fullmatch(line):
            return
        if not self._underlined and line:
            self._indent = self._indent or indent
        is_entry = indent == (0 if self._underlined else self._indent) and line
        entry = (_UNDERLINED_ENTRY if self._underlined else _INDENTED_ENTRY).fullmatch(line.strip())
        if is_entry and entry:
            self._current = [entry.groupdict().get("text") or ""]
            for name in entry["names"].split(","):
                self._told[name.strip().lstrip("*")] = self._current
        else:
            self._current.append(line.strip())
