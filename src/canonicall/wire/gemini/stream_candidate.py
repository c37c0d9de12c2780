"""A candidate whose parts come in increments, put together to what it would have been.

Text parts of one kind in a row are one part: its signature comes with any of the increments, often
with an empty one at the end. Two signatures are two parts. A part of any other kind is whole, but
for calls whose arguments Vertex streams: they go on until a part says no more that they do.
"""

from typing import Any

from canonicall.blocks import Opaque, Text, Thinking, ToolCall
from canonicall.errors import MalformedBody
from canonicall.events import Event, SignatureAdded
from canonicall.folding import raw_arguments
from canonicall.wire.gemini.fields import fields_at, many_at
from canonicall.wire.gemini.partial_args import PartialArguments
from canonicall.wire.gemini.parts import decode_parts
from canonicall.wire.reading import list_at, text_at
from canonicall.wire.streaming import Blocks, is_client_call

_WORDS = {"text", "thought", "thoughtSignature"}
_PER_TOKEN = ("logprobsResult",)
"""Objects whose lists are increments; the lists of others may repeat what was there."""


class GrowingCandidate:
    """One candidate as far as it has come."""

    def __init__(self, domain: str) -> None:
        self.fields: dict[str, Any] = {}
        self.has_calls = False
        self._domain = domain
        self._blocks = Blocks()
        self._content: dict[str, Any] = {}
        self._parts: list[dict[str, Any]] = []
        self._words: dict[str, Any] | None = None
        """The part that the next words go to."""
        self._index = 0
        """The number of its block."""
        self._call: _GrowingCall | None = None
        self._calls: list[_GrowingCall] = []

    def add(self, candidate: dict[str, Any], where: str, events: list[Event]) -> None:
        """Take the candidate of one chunk in, and tell of it."""
        for name, field in candidate.items():
            if name == "content":
                self._add_content(field, f"{where}.content", events)
            else:
                known = self.fields.get(name)
                self.fields[name] = _merged(known, field, is_growing=name in _PER_TOKEN)

    def end(self, events: list[Event]) -> None:
        """Tell that the words are whole. A call that should go on is left open."""
        self._close_words(events)

    def whole(self) -> dict[str, Any]:
        """The candidate of a response without streaming."""
        for call in self._calls:
            call.write()
        return {"content": {**self._content, "parts": self._parts}, **self.fields}

    def _add_content(self, content: Any, where: str, events: list[Event]) -> None:
        for name, field in fields_at(content, where).items():
            if name == "parts":
                for number, part in enumerate(many_at(field, f"{where}.parts")):
                    if self._goes_on(part):
                        self._blocks.text(self._index, part["text"], events)
                    else:
                        self._add_part(part, f"{where}.parts[{number}]", events)
            else:
                self._content[name] = field

    def _goes_on(self, part: Any) -> bool:
        """Whether a part is what most are: plain words behind plain words."""
        if self._words is None or "thought" in self._words or type(part) is not dict:
            return False
        text = part.get("text")
        return len(part) == 1 and isinstance(text, str) and text != ""

    def _add_part(self, part: Any, where: str, events: list[Event]) -> None:
        fields = {"text": part} if isinstance(part, str) else fields_at(part, where)
        if fields.keys() <= _WORDS:
            self._add_words(fields, where, events)
        elif fields.keys() <= {"functionCall", "thoughtSignature"}:
            self._add_call(fields, where, events)
        else:
            self._add_whole(fields, where, events)

    def _add_words(self, fields: dict[str, Any], where: str, events: list[Event]) -> None:
        text = text_at(fields.get("text"), f"{where}.text")
        seal = fields.get("thoughtSignature") or None
        if not text and seal is None:
            return
        is_thought = fields.get("thought") is True
        words = self._words
        if words is None or not _is_same(words, is_thought, seal):
            words = self._open_words(is_thought, events)
        if text:
            add = self._blocks.thinking if is_thought else self._blocks.text
            add(self._index, text, events)
        if seal is not None and "thoughtSignature" not in words:
            words["thoughtSignature"] = seal
            opaque = Opaque(self._domain, "signature", seal)
            events.append(SignatureAdded(self._index, opaque))

    def _open_words(self, is_thought: bool, events: list[Event]) -> dict[str, Any]:
        self._close_words(events)
        words: dict[str, Any] = {"text": ""}
        if is_thought:
            words["thought"] = True
        self._words = words
        self._parts.append(words)
        self._index = self._blocks.start(Thinking() if is_thought else Text(text=""), events)
        return words

    def _close_words(self, events: list[Event]) -> None:
        words, self._words = self._words, None
        if words is not None:
            words["text"] = self._blocks.said(self._index)
            (block,) = decode_parts([words], "$", self._domain, [])
            self._blocks.end(self._index, block, events)

    def _add_whole(self, part: dict[str, Any], where: str, events: list[Event]) -> None:
        """A part that came in one piece."""
        blocks = decode_parts([part], where, self._domain, [])
        self._close_words(events)
        self._parts.append(part)
        for block in blocks:
            if isinstance(block, ToolCall) and is_client_call(block):
                self.has_calls = True
                index = self._blocks.start(_begun(block), events)
                self._blocks.arguments(index, raw_arguments(block), events)
                self._blocks.end(index, block, events)
            else:
                self._blocks.whole(block, events)

    def _add_call(self, part: dict[str, Any], where: str, events: list[Event]) -> None:
        """A call, or a piece of one that is open."""
        place = f"{where}.functionCall"
        piece = fields_at(part.get("functionCall", {}), place)
        goes_on = piece.get("willContinue") is True
        if self._call is not None and not self._call.takes(piece):
            self._call = None
        if self._call is None:
            if not goes_on and ("partialArgs" not in piece or "args" in piece):
                self._add_whole(part, where, events)
                return
            self._close_words(events)
            self._call = _GrowingCall(part, piece, self._domain, self._blocks, events)
            self._calls.append(self._call)
            self._parts.append(self._call.part)
            self.has_calls = True
        self._call.add(part, piece, place, events)
        if not goes_on:
            self._call.end(piece.get("args"), events)
            self._call = None


class _GrowingCall:
    """A call whose arguments come in pieces."""

    def __init__(
        self,
        part: dict[str, Any],
        piece: dict[str, Any],
        domain: str,
        blocks: Blocks,
        events: list[Event],
    ) -> None:
        self.part: dict[str, Any] = {}
        self._fields: dict[str, Any] = {}
        self._domain = domain
        self._blocks = blocks
        self._arguments = PartialArguments()
        self._is_broken = False
        self._args: Any = None
        """The arguments as they stand in a whole call, once there is nothing more to come."""
        first = {**part, "functionCall": {**_known(piece), "args": {}}}
        (block,) = decode_parts([first], "$", domain, [])
        self._index = blocks.start(_begun(block), events)
        blocks.arguments(self._index, "{", events)

    def takes(self, piece: dict[str, Any]) -> bool:
        """Whether a piece is of this call: it brings no other name and no other id."""
        return all(
            piece.get(name, "") in ("", self._fields.get(name, piece.get(name, "")))
            for name in ("name", "id")
        )

    def add(
        self, part: dict[str, Any], piece: dict[str, Any], where: str, events: list[Event]
    ) -> None:
        """Take a piece in."""
        for name in ("id", "name"):
            text_at(piece.get(name), f"{where}.{name}")
        if "thoughtSignature" in part:
            self.part.setdefault("thoughtSignature", part["thoughtSignature"])
        self._fields |= _known(piece)
        for number, one in enumerate(list_at(piece.get("partialArgs"), f"{where}.partialArgs")):
            try:
                text = self._arguments.add(one, f"{where}.partialArgs[{number}]")
            except MalformedBody:
                # What is left of the arguments must not be taken for all of them.
                self._is_broken = True
                raise
            if text:
                self._blocks.arguments(self._index, text, events)

    def end(self, args: Any, events: list[Event]) -> None:
        """Nothing more comes of this call."""
        if self._is_broken:
            return
        rest = self._arguments.end(args if isinstance(args, dict) else {})
        self._blocks.arguments(self._index, rest, events)
        self._args = self._arguments.value
        self.write()
        (block,) = decode_parts([self.part], "$", self._domain, [])
        self._blocks.end(self._index, block, events)

    def write(self) -> None:
        """Bring the part up to date. Arguments that are not whole stand there as broken text."""
        args = self._blocks.said(self._index) if self._args is None else self._args
        self.part["functionCall"] = {**self._fields, "args": args}


def _known(piece: dict[str, Any]) -> dict[str, Any]:
    """The fields of a piece that belong to the call as a whole."""
    of_pieces = ("args", "partialArgs", "willContinue")
    return {name: field for name, field in piece.items() if name not in of_pieces}


def _begun(block: Any) -> ToolCall:
    return ToolCall(id=block.id, name=block.name, opaque=block.opaque, native=block.native)


def _is_same(words: dict[str, Any], is_thought: bool, seal: Any) -> bool:
    """Whether an increment belongs to `words`."""
    if is_thought != ("thought" in words):
        return False
    return seal is None or words.get("thoughtSignature", seal) == seal


def _merged(known: Any, field: Any, *, is_growing: bool) -> Any:
    """A field of two chunks: the later one, to which an object adds what only the other has."""
    if not isinstance(known, dict) or not isinstance(field, dict):
        return field
    merged = {**known, **field}
    for name, value in field.items():
        before = known.get(name)
        if isinstance(before, list) and isinstance(value, list):
            merged[name] = [*before, *(one for one in value if is_growing or one not in before)]
    return merged
