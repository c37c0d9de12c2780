"""One JSON object in the text of a model: a call, an object that holds calls, or neither."""

import re

from canonicall.findings import Action
from canonicall.syntax.json_form import JsonForm, plain_value, python_as_json
from canonicall.syntax.output import Output, shown
from canonicall.syntax.reader import Reader, Reading
from canonicall.syntax.stops import Stops
from canonicall.syntax.typed_values import json_text

_QUOTES = ('"', "'")
_DEEPEST = 8
"""Nobody wraps a call deeper: a whole response has it at the fourth level."""
_MOST = 48
_PLAIN_KEY = re.compile(r"([A-Za-z_$][\w$]{0,39})\s{0,4}:")


class Span:
    """What is read behind one marker."""

    def __init__(self, reader: Reader, output: Output, form: JsonForm, ends: Stops) -> None:
        self.reader = reader
        self.output = output
        self.form = form
        self.ends = ends
        self.found = False
        """Whether there was a call."""
        self.depth = 0
        """How many objects are open, one inside the other."""
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
        self._has_id = False
        self._has_arguments = False
        self._dropped: list[tuple[object, str]] = []
        self._comments: list[str] = []
        self._is_refused = False
        self._is_cut = False
        """Whether the text ended in it, at a place where a call may have gone on."""
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
        if is_call:
            self._tell_dropped()
        if self._behind:
            self._span.output.text(self._behind)
        return is_call

    def _end(self) -> bool:
        if self._is_refused:
            return False
        if not self._call.is_named:
            if self.holds and not self._name:
                return self._span.found
            if not (self.is_whole or self._is_cut) or not self._tell():
                return False
        self._take_flat()
        return self._call.end(truncated=self._is_cut and not self._behind)

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
            comment = (yield from reader.comment()) if first == "/" else ""
            if comment:
                self._comments.append(comment)
                continue
            if first == "}":
                reader.take(1)
                return True
            if first in ("", "{", "[", "]", ":"):
                self._is_cut = not first
                return False
            is_told = self._call.is_named or (self.holds and self._span.found)
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
        pieces: list[str] = []
        yield from reader.json_value(pieces.append)
        yield from reader.blank()
        if not (yield from reader.accept(":")):
            begun = "".join(pieces).strip("\"'")
            is_known = any(one.startswith(begun) for one in self._form.known)
            self._is_cut = reader.at_end and is_known
            return None
        yield from reader.blank()
        return self._plain(pieces)

    def _member(self, key: object) -> Reading[bool]:
        """The value of one member. Whether it came to its end and there is reason to read on."""
        form = self._form
        first = yield from self._reader.peek()
        if key in form.inner and first == "{" and self._span.depth < _DEEPEST:
            return (yield from self._deeper(self._members()))
        if key in form.lists and first in ("[", "{") and self._span.depth < _DEEPEST:
            return (yield from self._deeper(self._calls()))
        is_named = self._is_named_by(key, first)
        if is_named or self._holds_arguments(key, first):
            self._name = str(key) if is_named else self._name
            self._is_cut = not first
            return bool(first) and (yield from self._arguments(first))
        if form.is_strict and not self._call.is_named and key not in form.known:
            self._is_refused = True
            if not self._span.found:
                return False
        pieces: list[str] = []
        if not (yield from self._reader.json_value(pieces.append, self._span.ends)):
            return False
        self._take(key, self._plain(pieces), "".join(pieces))
        return True

    def _is_named_by(self, key: object, first: str) -> bool:
        """Whether a member is a call, called by the name of a tool: `{"f": {...}}`."""
        is_open = not (self._form.is_strict or self._name or self._has_arguments)
        is_tool = key in self._span.output.tools and key not in self._form.known
        return is_open and is_tool and first == "{"

    def _holds_arguments(self, key: object, first: str) -> bool:
        form = self._form
        is_other = key in form.other_arguments and first == "{" and not form.is_strict
        return (key in form.arguments or is_other) and not self._has_arguments

    def _deeper(self, reading: Reading[bool]) -> Reading[bool]:
        """What is inside of this object."""
        self._span.depth += 1
        whole = yield from reading
        self._span.depth -= 1
        return whole

    def _take(self, key: object, said: object, raw: str) -> None:
        """Make of a member what it means."""
        form = self._form
        is_text = isinstance(said, str) and raw[:1] in _QUOTES
        is_other = key in form.other_names and not form.is_strict and not self._name
        if is_text and (key in form.names or is_other) and not self._call.is_named:
            if self._name:
                self._dropped.append((key, self._name))
            self._name = str(said)
        elif key in form.ids and isinstance(said, (str, int)) and not self._has_id:
            self._has_id = True
            self._call.id(str(said))
        elif key in form.words and (said is None or isinstance(said, str)):
            self._say(said or "")
        elif key not in form.frames:
            self._dropped.append((key, raw))

    def _take_flat(self) -> None:
        """Take members beside the name for the arguments, if there are no others and the tool has
        them all."""
        tool, is_flat = self._call.tool, self._form.is_flat
        known = (tool.parameters or {}).get("properties") if tool is not None else None
        if self._has_arguments or not self._dropped:
            return
        has_all = isinstance(known, dict) and all(key in known for key, _ in self._dropped)
        if is_flat or has_all:
            members = ", ".join(f"{json_text(str(key))}: {raw}" for key, raw in self._dropped)
            self._call.arguments(f"{{{members}}}")
            self._dropped.clear()
        if has_all and not is_flat:
            why = f"The arguments of {self._name} stood beside its name; they were put together."
            self._span.output.note("arguments_repaired", Action.CHANGED, why)

    def _tell_dropped(self) -> None:
        """Say what of a call is no part of it."""
        for comment in self._comments:
            self._span.output.left_out("A comment", comment)
        for key, raw in self._dropped:
            why = f"A call had {key!r}: {shown(raw)}. It is no part of the call and was left out."
            self._span.output.note("fields_dropped", Action.DROPPED, why)

    def _arguments(self, first: str) -> Reading[bool]:
        """The arguments. Whether they came to their end and belong to a call."""
        reader, ends = self._reader, self._span.ends
        if first not in ("{", "["):
            return (yield from self._arguments_in_text())
        self._has_arguments = True
        if self._name and not self._tell() and not self._span.found:
            return False
        if self._form.is_python:
            pieces: list[str] = []
            whole = yield from reader.json_value(pieces.append, ends)
            self._call.arguments(python_as_json("".join(pieces)))
        else:
            reading = reader.json_value(self._call.arguments, ends)
            whole = yield from reader.unmarked(reading) if self._call.is_named else reading
        self._is_cut = not whole and reader.at_end
        return whole

    def _arguments_in_text(self) -> Reading[bool]:
        """Arguments that are no object: JSON inside a text, null, or a bare value."""
        pieces: list[str] = []
        whole = yield from self._reader.json_value(pieces.append)
        raw = "".join(pieces)
        said = self._plain(pieces)
        if said == raw:
            return False
        self._has_arguments = True
        if isinstance(said, str):
            self._call.arguments(said)
        elif said is not None:
            self._call.arguments(raw)
        is_call = not self._name or self._tell() or self._span.found
        self._is_cut = not whole
        return whole and is_call

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
                whole = yield from reader.json_value(pieces.append)
                self._say(str(self._plain(pieces)))
                if not whole:
                    return False
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

    def _plain(self, pieces: list[str]) -> object:
        return plain_value(pieces, is_python=self._form.is_python)

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
        if self._is_refused:
            return False
        is_bare = self._form.is_strict and not self._has_arguments
        if not self._name or (is_bare and self._name not in output.tools):
            return False
        if output.refuses(self._name):
            self._is_refused = True
            return False
        for words in self._span.words:
            output.text(words)
        self._span.words.clear()
        return self._call.name(self._name)
