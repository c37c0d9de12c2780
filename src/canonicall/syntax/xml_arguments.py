"""A call written as tags, as far as it has been read, and what is said about blocks of them."""

from typing import Any

from canonicall.findings import Action
from canonicall.syntax.output import Output
from canonicall.syntax.reader import Reader, Reading
from canonicall.syntax.stops import stops
from canonicall.syntax.typed_values import json_text, member_schema, types_of

IN_A_TAG = "A part of a tag"


class Arguments:
    """One call. Its arguments are written as one JSON object, member by member."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._call = output.call()
        self.tool = ""
        """The name of the tool."""
        self.is_begun = False
        """Whether there are members."""
        self.is_given_whole = False
        """The arguments came as one object; no members are written beside it."""
        self.stray: list[str] = []
        """Words that stood between the arguments."""

    def id(self, id: str) -> None:
        """The id that the model gave the call."""
        self._call.id(id)

    def name(self, name: str) -> bool:
        """The name of the tool; False where that makes it no call."""
        self.tool = name
        return self._call.name(name)

    @property
    def schema(self) -> dict[str, Any]:
        """The schema of the arguments, empty where it is not known."""
        tool = self._call.tool
        return (tool.parameters or {}) if tool is not None else {}

    @property
    def known(self) -> dict[str, Any]:
        """The arguments that the tool is known to have, with their schemas."""
        properties = self.schema.get("properties")
        return properties if isinstance(properties, dict) else {}

    def schema_of(self, key: str) -> Any:
        """The schema of one argument, None where it is not known."""
        return member_schema(self.schema, key, self.schema)

    def types(self, key: str) -> tuple[str, ...]:
        """The types that the tool's schema allows for this argument."""
        return types_of(self.schema_of(key), self.schema)

    def takes(self, key: str) -> bool:
        """Whether the tool has an argument of this name, as far as is known."""
        return not self.known or key in self.known

    def key(self, key: str) -> str:
        """The beginning of a member."""
        begin = ", " if self.is_begun else "{"
        self.is_begun = True
        return f"{begin}{json_text(key)}: "

    def write(self, text: str) -> None:
        """A piece of the object."""
        self._call.arguments(text)

    def member(self, key: str, value: str) -> None:
        """A member whose value, as JSON, is known at once."""
        self.write(self.key(key) + value)

    def members(self, json_object: str) -> None:
        """All the members of an object, given as JSON."""
        inner = json_object.strip()[1:-1].strip()
        if inner:
            self.write((", " if self.is_begun else "{") + inner)
            self.is_begun = True

    def mended(self, key: str) -> None:
        """The value of an argument was no JSON."""
        why = f"The value of {key!r} was no JSON; it was mended."
        self._output.note("arguments_repaired", Action.CHANGED, why)

    def missing(self, key: str) -> None:
        """An argument has a name and no value."""
        why = f"{key!r} was named and given no value; it was left out."
        self._output.note("arguments_repaired", Action.CHANGED, why)

    def cut(self, key: str, raw: str) -> None:
        """The text ended in the value of an argument, which could not be told before its end."""
        self.left_out("An argument in whose value the text ended", f"{key}: {raw}")

    def left_out(self, what: str, text: str) -> None:
        """Text in the call that is neither an argument nor words."""
        self._output.left_out(what, text)

    def end(self, *, whole: bool) -> None:
        """The end of the call, or of the text. Words that stood in the call stand behind it."""
        if whole and not self.is_given_whole:
            self.write("}" if self.is_begun else "{}")
        self._call.end(truncated=not whole)
        said = "".join(self.stray)
        if said.strip():
            self._output.text(said)
            why = f"Text stood in the call of {self.tool}; it was kept."
            self._output.note("text_in_call", Action.KEPT, why)


def words_between(reader: Reader, arguments: Arguments, expected: tuple[str, ...]) -> Reading[bool]:
    """Words up to the next tag that is expected. False if the text ended in them.

    What the text ended in may be the beginning of a tag; then it is no word.
    """
    said: list[str] = []
    if (yield from reader.until(stops(*expected), said.append, consume=False)):
        arguments.stray.extend(said)
        return True
    cut = "".join(said)
    if not any(one.startswith(cut) for one in expected):
        arguments.stray.extend(said)
    return False


def block_is_empty(output: Output) -> bool:
    """A block with nothing in it says nothing; it is no text either."""
    why = "A block of calls has no call in it; its tags were left out."
    output.note("call_unreadable", Action.DROPPED, why)
    return True


def give_back(raw: str, output: Output) -> None:
    """A call that could not be read, in a block that others were read from."""
    output.text(raw)
    output.note("call_unreadable", Action.KEPT, "A call could not be read; it stays text.")


def leave_block(reader: Reader, output: Output, ends: tuple[str, ...]) -> Reading[None]:
    """Other text follows the calls of a block: its end may still come, or was cut with the text."""
    if not ends:
        return
    is_next = yield from reader.next_of(*ends)
    if is_next or not reader.take_begun(*ends):
        output.unclosed = ends
