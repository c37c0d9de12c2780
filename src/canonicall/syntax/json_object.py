"""One JSON object in the text of a model: a call, an object that holds calls, or neither."""

import ast
import re

import msgspec
from msgspec import Struct

from canonicall.findings import Action
from canonicall.syntax.output import Output
from canonicall.syntax.reader import Reader, Reading
from canonicall.syntax.repair import repaired_value
from canonicall.syntax.stops import Stops

_WORDS = {"True": True, "False": False, "None": None}
_SHOWN = 80
_MOST = 48
_PLAIN_KEY = re.compile(r"([A-Za-z_$][\w$]{0,39})\s{0,4}:")


class JsonForm(Struct, frozen=True):
    """What an object that is a call looks like: the names of its members."""

    names: tuple[str, ...] = ("name",)
    arguments: tuple[str, ...] = ("arguments", "parameters")
    ids: tuple[str, ...] = ("id",)
    inner: tuple[str, ...] = ("function", "tool_call", "toolCall", "function_call")
    """Members that hold the object that has the name."""
    lists: tuple[str, ...] = ()
    """Members that hold calls, in a list or one alone."""
    words: tuple[str, ...] = ()
    """Members that hold what is said beside the calls."""
    frames: tuple[str, ...] = ("type", "index")
    """Members that say nothing of their own."""
    is_strict: bool = False
    """It is a call by its form only: any other member means that it is none, and so does a lack of
    arguments, unless a tool of this name was offered."""
    is_python: bool = False
    """Arguments are Python literals; they wait until they are whole and are passed on as JSON."""

    @property
    def known(self) -> tuple[str, ...]:
        """Every member that a call may have."""
        alone = self.names + self.arguments + self.ids + self.frames
        return alone + self.inner + self.lists + self.words


class Span:
    """What is read behind one marker."""

    def __init__(self, reader: Reader, output: Output, form: JsonForm, ends: Stops) -> None:
        self.reader = reader
        self.output = output
        self.form = form
        self.ends = ends
        self.found = False
        """Whether there was a call."""
        self.words: list[str] = []
        """What was said in the JSON before it was known whether there is a call in it."""


class JsonObject:
    """An object as it is read."""

    def __init__(self, span: Span) -> None:
        self.is_whole = False
        self._span = span
        self._reader = span.reader
        self._form = span.form
        self._call = span.output.call()
        self._name = ""
        self._has_arguments = False
        self._is_refused = False
        self._behind = ""
        """What stood in it behind all that could be read, where a call had been told."""
        self.holds = False
        """Whether there were calls or words in it."""

    def read(self, *, is_open: bool = False) -> Reading[bool]:
        """Read it; `is_open` says that its bracket was taken. Whether it is, or holds, a call.

        An object that is none is read to its end only if calls went before it: else all of it is
        text, and text has no reason to wait.
        """
        self.is_whole = yield from self._members(is_open=is_open)
        is_call = self._end()
        if self._behind:
            self._span.output.text(self._behind)
        return is_call

    def _end(self) -> bool:
        is_cut = not self.is_whole and self._reader.at_end
        if self._is_refused:
            return False
        if not self._call.is_named:
            if self.holds and not self._name:
                return self._span.found
            if not (self.is_whole or is_cut) or not self._tell():
                return False
        return self._call.end(truncated=is_cut and not self._behind)

    def _members(self, *, is_open: bool = False) -> Reading[bool]:
        """The members of an object, up to its end. Whether it came."""
        reader = self._reader
        if not is_open:
            reader.take(1)
        while True:
            yield from reader.blank()
            if (yield from reader.accept(",")):
                continue
            first = yield from reader.peek()
            if first == "}":
                reader.take(1)
                return True
            if first in ("", "{", "[", "]", ":"):
                return False
            is_told = self._call.is_named or self._span.found
            mark = reader.mark()
            key = yield from self._key(first, is_told=is_told)
            is_read = key is not None and (yield from self._member(key))
            raw = reader.since(mark)
            if not is_read:
                self._behind = raw if is_told else ""
                return False

    def _key(self, first: str, *, is_told: bool) -> Reading[object]:
        """The name of a member and the colon behind it; None if there is none."""
        reader = self._reader
        if is_told and first not in "\"'":
            # Behind a call that was left open stands something else: it must not be taken for one.
            found = yield from reader.match(_PLAIN_KEY, _MOST)
            if found is not None:
                yield from reader.blank()
            return None if found is None else found[1]
        key: list[str] = []
        if not (yield from reader.json_value(key.append)):
            return None
        yield from reader.blank()
        if not (yield from reader.accept(":")):
            return None
        yield from reader.blank()
        return _plain(key)

    def _member(self, key: object) -> Reading[bool]:
        """The value of one member. Whether it came to its end and there is reason to read on."""
        form = self._form
        first = yield from self._reader.peek()
        if key in form.inner and first == "{":
            return (yield from self._members())
        if key in form.lists and first in ("[", "{"):
            return (yield from self._calls())
        if key in form.arguments and not self._has_arguments:
            return (yield from self._arguments(first))
        if form.is_strict and not self._call.is_named and key not in form.known:
            self._is_refused = True
            if not self._span.found:
                return False
        pieces: list[str] = []
        if not (yield from self._reader.json_value(pieces.append, self._span.ends)):
            return False
        self._take(key, _plain(pieces), "".join(pieces))
        return True

    def _take(self, key: object, said: object, raw: str) -> None:
        """Make of a member what it means."""
        form = self._form
        if key in form.names and isinstance(said, str) and raw[0] in "\"'":
            self._name = said
        elif key in form.ids and isinstance(said, (str, int)):
            self._call.id(str(said))
        elif key in form.words and (said is None or isinstance(said, str)):
            self._say(said or "")
        elif key not in form.frames:
            shown = raw if len(raw) <= _SHOWN else raw[:_SHOWN] + "..."
            why = f"A call had {key!r}: {shown}. It is no part of the call and was left out."
            self._span.output.note("fields_dropped", Action.DROPPED, why)

    def _arguments(self, first: str) -> Reading[bool]:
        """The arguments. Whether they came to their end and belong to a call."""
        reader, ends = self._reader, self._span.ends
        if first not in ("{", "["):
            return (yield from self._arguments_in_text())
        self._has_arguments = True
        if self._name and not self._tell() and not self._span.found:
            return False
        if not self._form.is_python:
            return (yield from reader.json_value(self._call.arguments, ends))
        pieces: list[str] = []
        whole = yield from reader.json_value(pieces.append, ends)
        self._call.arguments(_python_as_json("".join(pieces)))
        return whole

    def _arguments_in_text(self) -> Reading[bool]:
        """Arguments that are no object: JSON inside a text, null, or a bare value."""
        pieces: list[str] = []
        if not (yield from self._reader.json_value(pieces.append)):
            return False
        raw = "".join(pieces)
        said = _plain(pieces)
        if said == raw:
            return False
        self._has_arguments = True
        if isinstance(said, str):
            self._call.arguments(said)
        elif said is not None:
            self._call.arguments(raw)
        return not self._name or self._tell() or self._span.found

    def _calls(self) -> Reading[bool]:
        """Calls inside of this object, in a list or one alone. Whether all of it was read."""
        reader = self._reader
        is_list = bool((yield from reader.accept("[")))
        while True:
            yield from reader.blank()
            if (yield from reader.accept(",")):
                continue
            first = yield from reader.peek()
            if first == "{":
                if not (yield from self._held_object()):
                    return False
            elif first == '"':
                pieces: list[str] = []
                if not (yield from reader.json_value(pieces.append)):
                    return False
                self._say(str(_plain(pieces)))
            elif first == "]" and is_list:
                reader.take(1)
                return True
            else:
                return False
            if not is_list:
                return True

    def _held_object(self) -> Reading[bool]:
        """An object in a list of calls. Whether the list goes on."""
        one = JsonObject(self._span)
        mark = self._reader.mark()
        is_call = yield from one.read()
        raw = self._reader.since(mark)
        if is_call:
            self._span.found = True
        elif self._span.found and not one.holds:
            self._span.output.text(raw)
        elif not one.holds:
            self._is_refused = True
            return False
        self.holds = True
        return one.is_whole

    def _say(self, words: str) -> None:
        """Words beside the calls. They wait until it is known that there is a call."""
        self.holds = True
        if self._span.found:
            self._span.output.text(words)
        elif words:
            self._span.words.append(words)

    def _tell(self) -> bool:
        """Tell of the call, if it is one."""
        output = self._span.output
        if self._call.is_named:
            return True
        is_bare = self._form.is_strict and not self._has_arguments
        if not self._name or (is_bare and self._name not in output.tools):
            return False
        if output.only_offered and self._name not in output.tools:
            why = f"{self._name!r} was not offered, so this is no call; it stays text."
            output.note("call_not_offered", Action.KEPT, why)
            self._is_refused = True
            return False
        for words in self._span.words:
            output.text(words)
        self._span.words.clear()
        return self._call.name(self._name)


def _plain(pieces: list[str]) -> object:
    """The value that was written; bare words are text."""
    raw = "".join(pieces)
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        if raw in _WORDS:
            return _WORDS[raw]
        return repaired_value(raw) if raw[:1] in ("'", '"', "{", "[") else raw


def _python_as_json(raw: str) -> str:
    """A Python literal as JSON; as it is if it is none."""
    try:
        return msgspec.json.encode(ast.literal_eval(raw)).decode()
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return raw
