"""Where a call is only quoted: in the text around it, or because the request has it already.

Two questions are answered here, both about text that has the form of a call.

**Place.** `Surroundings` follows the text before a call. Inside quotation marks, in a Markdown
block quote, in indented or fenced code, and inside an element that is still open (`<document>`), a
call is shown, not made. Code between ticks is skipped by the scanner and never comes here.

**Source.** `Sources` has the content of a request that the model did not write: messages of the
user, instructions, results of tools. A call that stands there was written by somebody else, and a
model that prints it repeats it. Two comparisons are made:

- The printed form, from its opening marker to the end of its arguments, occurs in the content.
  Both are brought to one form first: unescaped (JSON, XML, HTML), without marks of block quotes,
  quotation marks and white space.
- The name with the same arguments occurs in the content in any call syntax. Content is read for
  this only if it has the name.

A value of an argument alone proves nothing: models call tools with what users write. What the model
itself has said before is no source either.
"""

import re
import unicodedata
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Iterable, Iterator
from html import unescape
from typing import Any

import msgspec

from canonicall.blocks import (
    Block,
    CallClosed,
    Media,
    Message,
    Summary,
    Text,
    ToolCall,
    ToolResult,
    Unknown,
)
from canonicall.facts.target import TextForm
from canonicall.request import Request, Tool
from canonicall.syntax.declaration import Syntax
from canonicall.syntax.detection import quoted_syntax
from canonicall.syntax.scanner import TextScanner

_PAIRS = {
    "\u201c": "\u201d",
    "\u201e": "\u201c\u201d",
    "\u00ab": "\u00bb",
    "\u00bb": "\u00ab",
    "\u2039": "\u203a",
    "\u203a": "\u2039",
    "\u2018": "\u2019",
    "\u201a": "\u2018\u2019",
    "\u300c": "\u300d",
    "\u300e": "\u300f",
}
"""Quotation marks that open, with those that close."""
_STRAIGHT = "\"'"
_MARKS = re.escape("".join(dict.fromkeys([*_PAIRS, *"".join(_PAIRS.values()), *_STRAIGHT])))
_TOKEN = re.compile(
    rf"\n|[{_MARKS}]|<!--|-->|</[A-Za-z][\w.:-]*\s*>|(?<!\w)<[A-Za-z][\w.:-]*(?:\s[^<>]*)?>"
)
_TAG = re.compile(r"<(/?)([A-Za-z][\w.:-]*|!--)")
_COMMENT = "!--"
_UNCLOSED = frozenset(("br", "hr", "img", "input", "p", "li", "td", "tr", "th", "dt", "dd"))
"""Elements of HTML that need no closing tag."""
_BEFORE_OPENING = frozenset(" \t\n([{<>:=-\u2014\u2013/,")
_INDENTED = re.compile(r" {4}| {0,3}\t")
_BLOCK_QUOTE = re.compile(r" {0,3}>")
_TILDES = re.compile(r" {0,3}~~~")
_LONGEST_START = 80
"""How much of a line says what kind of line it is."""


class Surroundings:
    """The text before a place, as far as it says whether what follows is quoted."""

    def __init__(self, own: frozenset[str] = frozenset()) -> None:
        """`own`: elements of the syntaxes that are read. They hold no document."""
        self._own = own | _UNCLOSED
        self._open: list[str] = []
        """The elements that are open."""
        self._closing = ""
        """What closes the quotation that is open; empty if there is none."""
        self._line = ""
        """The start of the current line."""
        self._last = "\n"
        self._in_block_quote = False
        self._in_fence = False

    def add(self, text: str) -> None:
        """More text before the place."""
        start = 0
        for token in _TOKEN.finditer(text):
            mark = token[0]
            if mark == "\n":
                self._grow(text[start : token.start()])
                start = token.end()
                self._end_line()
            elif mark[0] in "<-":
                self._tag(mark)
            else:
                before = text[token.start() - 1] if token.start() else self._last
                self._quote(mark, before, text[token.end() : token.end() + 1])
        self._grow(text[start:])
        self._last = text[-1:] or self._last

    def why_quoted(self) -> str:
        """What the place is inside of; empty if a call there is a call."""
        if self._in_fence or _INDENTED.match(self._line):
            return "in code"
        if self._in_block_quote or _BLOCK_QUOTE.match(self._line):
            return "in a block quote"
        if self._closing:
            return "between quotation marks"
        return f"inside <{self._open[-1]}>" if self._open else ""

    def _grow(self, piece: str) -> None:
        if len(self._line) < _LONGEST_START:
            self._line += piece[:_LONGEST_START]

    def _end_line(self) -> None:
        """A line has ended. A block quote goes on with lines that are not marked, up to a blank."""
        line, self._line = self._line, ""
        if not line.strip():
            self._in_block_quote = False
            if self._closing in tuple(_STRAIGHT):
                # Its closing mark was forgotten, or it was none.
                self._closing = ""
        elif _BLOCK_QUOTE.match(line):
            self._in_block_quote = True
        elif _TILDES.match(line):
            self._in_fence = not self._in_fence
        if self._closing == "'":
            self._closing = ""

    def _tag(self, tag: str) -> None:
        found = _TAG.match(tag)
        name = _COMMENT if found is None else found[2].lower()
        if found is None or found[1]:
            if name in self._open:
                del self._open[len(self._open) - 1 - self._open[::-1].index(name)]
        elif name not in self._own and not tag.endswith("/>"):
            self._open.append(name)

    def _quote(self, mark: str, before: str, after: str) -> None:
        if self._closing:
            if mark in self._closing and not (mark == "'" and after.isalnum()):
                self._closing = ""
        elif mark in _STRAIGHT:
            # One that follows a word is an inch, a second, an apostrophe.
            self._closing = mark if before in _BEFORE_OPENING and not after.isspace() else ""
        else:
            self._closing = _PAIRS.get(mark, "")


_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})|\\[nrtbf]")
_QUOTED_LINE = re.compile(r"^[ \t]*(?:>[ \t]?)+", re.MULTILINE)
_MEANINGLESS = re.compile(rf"[\s\\`{_MARKS}\u200b-\u200f\u2060\ufeff\u00ad]+")
_BESIDE = 200
"""As long are a name and the key of the arguments, at most."""
_LEVELS = 3
"""How often a text may have been escaped."""


def _character(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16)) if escape[1] else " "


def _unescaped(text: str) -> str:
    """Text in which nothing is escaped, as JSON, XML and HTML escape."""
    for _ in range(_LEVELS if "&" in text else 0):
        text, before = unescape(text), text
        if text == before:
            break
    if "\\" in text:
        text = _ESCAPED.sub(_character, text).replace("\\", "")
        if not text.isascii():
            # Characters beyond 16 bits are escaped as pairs.
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _unquoted(text: str) -> str:
    """Text without the marks of block quotes."""
    return _QUOTED_LINE.sub("", text) if ">" in text else text


def _compared(text: str) -> str:
    """The form in which texts are compared."""
    text = _MEANINGLESS.sub("", _unquoted(_unescaped(text)))
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


_BROUGHT_IN = (ToolResult, Unknown, Summary)
"""What in a model's own message is not its own: results of tools that its provider runs."""


class Sources:
    """The content of a request that the model did not write."""

    def __init__(self, request: Request | None, forms: tuple[TextForm, ...] = ()) -> None:
        """`forms`: in which calls are looked for beside the registered syntaxes."""
        self._request = request
        self._forms = forms
        self._texts: list[str] | None = None
        self._content: list[str] | None = None
        self._called: dict[str, frozenset[str]] = {}
        """The arguments that a tool is called with in the content, by its name."""

    def has(self, calls: Iterable[tuple[ToolCall, str]], tools: Iterable[Tool]) -> bool:
        """Whether one of these calls, each with its printed form, stands in the content."""
        if self._request is None:
            return False
        return any(self._prints(form) or self._calls(call, tools) for call, form in calls)

    def with_results(self, blocks: Iterable[Block]) -> "Sources":
        """These, and what a reply brings that its model did not write: results of the provider's
        own tools."""
        foreign = (block for block in blocks if isinstance(block, _BROUGHT_IN))
        found = [text for block in foreign for text in _foreign(block)]
        if not found or self._request is None:
            return self
        more = Sources(self._request, self._forms)
        more._texts = [*self._of_request(), *found]
        return more

    def _of_request(self) -> list[str]:
        if self._texts is None:
            entries = () if self._request is None else self._request.conversation.entries
            self._texts = [text for entry in entries for text in _texts_of(entry)]
        return self._texts

    @property
    def _compared(self) -> list[str]:
        if self._content is None:
            self._content = [_compared(text) for text in self._of_request()]
        return self._content

    def _prints(self, form: str) -> bool:
        wanted = _compared(form)
        return bool(wanted) and any(wanted in text for text in self._compared)

    def _calls(self, call: ToolCall, tools: Iterable[Tool]) -> bool:
        if call.name not in self._called:
            name = _compared(call.name)
            texts = zip(self._of_request(), self._compared, strict=True)
            syntax = quoted_syntax(self._forms)
            read = (
                _called(text, call.name, tools, syntax) for text, plain in texts if name in plain
            )
            self._called[call.name] = frozenset(one for found in read for one in found)
        return _arguments(call) in self._called[call.name] or self._has_as_json(call)

    def _has_as_json(self, call: ToolCall) -> bool:
        """Whether the content has the call as JSON, which needs no marker, or as a function.

        Arguments alone prove nothing, nor do they with the name in a sentence.
        """
        if not call.args:
            return False
        name = re.escape(_compared(call.name))
        wanted = _compared(msgspec.json.encode(call.args).decode())
        before = re.compile(rf"(?::{name},\w{{1,20}}:|[{{,]{name}:|\b{name}\()\Z")
        after = re.compile(rf",\w{{1,20}}:{name}\b")
        return any(
            before.search(text, max(0, at - _BESIDE), at) or after.match(text, at + len(wanted))
            for text in self._compared
            for at in _places(wanted, text)
        )


def _places(wanted: str, text: str) -> Iterator[int]:
    at = text.find(wanted)
    while at >= 0:
        yield at
        at = text.find(wanted, at + len(wanted))


def _texts_of(entry: object) -> Iterator[str]:
    if isinstance(entry, CallClosed):
        for one in entry.content:
            yield from _foreign(one)
    elif isinstance(entry, Message):
        is_own = entry.role == "assistant"
        for block in entry.blocks:
            if not is_own or isinstance(block, _BROUGHT_IN):
                yield from _foreign(block)


def _foreign(block: Block) -> Iterator[str]:
    """The texts of a block that is not the model's own words."""
    match block:
        case Text() | Summary():
            yield block.text
        case ToolResult():
            for one in block.content or ():
                yield from _foreign(one)
            if block.native is not None:
                yield from _strings(block.native.fields)
        case Unknown() if block.native is not None:
            yield from _strings(block.native.fields)
        case Media() if block.data and block.media_type.startswith(("text/", "application/json")):
            try:
                yield b64decode(block.data).decode(errors="replace")
            except NotBase64:
                yield block.data


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _strings(one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _strings(one)


def _called(text: str, name: str, tools: Iterable[Tool], syntax: Syntax) -> Iterator[str]:
    """The arguments that a text calls a tool with, in whatever syntax."""
    plain = _unquoted(_unescaped(text))
    for variant in dict.fromkeys((text, _unquoted(text), unescape(text), plain)):
        scanner = TextScanner(syntax, tools=tools)
        scanner.feed(variant)
        *_, ended = scanner.close()
        for call in ended.reply.calls:  # type: ignore[union-attr]
            if call.name == name:
                yield _arguments(call)


def _arguments(call: ToolCall) -> str:
    """The arguments of a call in a form that can be compared: values by their text."""
    if call.args is None:
        return _compared(call.raw or "")
    return _compared(msgspec.json.encode(_plain(call.args), order="sorted").decode())


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
