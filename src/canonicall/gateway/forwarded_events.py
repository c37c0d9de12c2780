"""Events of a stream that is forwarded: only valid ones, without keys, and not too many.

In: whole events, as their provider wrote them. Out: the same bytes, but for keys. Most events are
the one before with another text in it: only that text is decoded. Any other is decoded once, by a
shape that has nothing but its text. That proves that it is JSON, and tells whether it may hold a
part of a key. An event whose text may end with the beginning of a key waits for the next one.

An event that no client can read ends the stream: `UnfitEvent`.
"""

import json
import re
from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from canonicall.client.key_masks import KeyMask
from canonicall.client.transport import TooMuch
from canonicall.errors import ReplyTooLarge
from canonicall.framing.limits import ReplyLimits
from canonicall.framing.repeats import Repeated
from canonicall.framing.sse import ServerSentEvents

_EVENT = re.compile(rb".*?(?:\r?\n){2}", re.DOTALL)
_END = b"\n\n"
_DATA = b"data:"
_DONE = b"[DONE]"
_LESSONS = 8
"""How often the bytes around a text are learnt in a stream in which they are always others."""

Path: TypeAlias = tuple[str | int, ...]
Said: TypeAlias = tuple[Path, object, str]
"""Where the text of an event is, what it goes on with, and the text."""


class UnfitEvent(Exception):
    """An event that is not valid in any format; its text says why."""


class _Delta(Struct):
    """Of openai-chat and of anthropic: they share no field."""

    content: Any = None
    reasoning_content: Any = None
    reasoning: Any = None
    tool_calls: Any = None
    text: Any = None
    thinking: Any = None
    partial_json: Any = None


class _Choice(Struct):
    delta: _Delta | None = None


class _ChatEvent(Struct):
    choices: list[_Choice] | None = None


class _MessagesEvent(Struct):
    delta: _Delta | None = None
    index: Any = None


class _ResponsesEvent(Struct):
    delta: Any = None
    type: Any = None
    output_index: Any = None
    content_index: Any = None


class _Part(Struct):
    text: Any = None
    thought: Any = None


class _Content(Struct):
    parts: list[_Part] | None = None


class _Candidate(Struct):
    content: _Content | None = None


class _GeminiEvent(Struct):
    candidates: list[_Candidate] | None = None


def _of_chat(event: _ChatEvent) -> Said | None:
    delta = event.choices[0].delta if event.choices else None
    if delta is None:
        return None
    if isinstance(delta.content, str):
        return ("choices", 0, "delta", "content"), "content", delta.content
    for name in ("reasoning_content", "reasoning"):
        if isinstance(text := getattr(delta, name), str):
            return ("choices", 0, "delta", name), name, text
    calls = delta.tool_calls
    call = calls[0] if isinstance(calls, list) and len(calls) == 1 else None
    function = call.get("function") if isinstance(call, dict) else None
    text = function.get("arguments") if isinstance(function, dict) else None
    if not isinstance(text, str) or not isinstance(call, dict):
        return None
    path = ("choices", 0, "delta", "tool_calls", 0, "function", "arguments")
    return path, repr(call.get("index")), text


def _of_messages(event: _MessagesEvent) -> Said | None:
    if event.delta is None:
        return None
    for name in ("text", "thinking", "partial_json"):
        if isinstance(text := getattr(event.delta, name), str):
            return ("delta", name), (repr(event.index), name), text
    return None


def _of_responses(event: _ResponsesEvent) -> Said | None:
    if not isinstance(event.delta, str):
        return None
    return ("delta",), repr((event.type, event.output_index, event.content_index)), event.delta


def _of_gemini(event: _GeminiEvent) -> Said | None:
    content = event.candidates[0].content if event.candidates else None
    parts = (content.parts if content is not None else None) or []
    if len(parts) != 1 or not isinstance(parts[0].text, str):
        return None
    path = ("candidates", 0, "content", "parts", 0, "text")
    return path, repr(parts[0].thought), parts[0].text


_SHAPES: dict[str, tuple[type[Struct], Callable[[Any], Said | None]]] = {
    "openai-chat": (_ChatEvent, _of_chat),
    "anthropic": (_MessagesEvent, _of_messages),
    "openai-responses": (_ResponsesEvent, _of_responses),
    "gemini": (_GeminiEvent, _of_gemini),
}
_READ = {
    format: (msgspec.json.Decoder(kind).decode, said) for format, (kind, said) in _SHAPES.items()
}


class ForwardedEvents:
    """Looks at the events of one stream."""

    def __init__(self, format: str, mask: KeyMask, limits: ReplyLimits) -> None:
        self._decode, self._said = _READ[format]
        self._mask = mask
        self._limits = limits
        self._most, self._small = limits.events, limits.small
        self._count = 0
        self._repeated: Repeated | None = None
        """What the next event is if only its text is another."""
        self._where: tuple[Path, object] = (), None
        """Where its text is, and what it goes on with."""
        self._lessons = _LESSONS
        self._waiting: list[tuple[bytes, Path, str]] = []
        """Events that may have the beginning of a key, each with its text."""
        self._place: object = None
        """What the text of those that wait goes on with."""

    def feed(self, events: bytes) -> bytes:
        """What may be given on of whole events. `UnfitEvent`, or `TooMuch`."""
        is_small = len(events) <= self._small and self._count < self._most
        text = self._repeated.text_in(events) if self._repeated is not None and is_small else None
        if text is not None:
            self._count += 1
            self._lessons = _LESSONS
            if self._waiting or self._mask.may_touch(text):
                return self._continued(events, (*self._where, text))
            return events
        last, at = len(events) - 2, events.find(b"\n")
        if at == last:
            return self._passed(events, 0 if events[:5] == _DATA else -1)
        if events.find(b"\n", at + 1) == last and events[at + 1 : at + 6] == _DATA:
            return self._passed(events, at + 1)
        if b"\r" in events:
            found = _EVENT.findall(events)
        else:
            found = [event + _END for event in events.split(_END)[:-1]]
        if len(found) == 1:
            return self._passed(events, events.find(_DATA))
        return b"".join(map(self.feed, found))

    def close(self) -> bytes:
        """What has waited, when nothing follows."""
        if not self._waiting:
            return b""
        text = "".join(text for _, _, text in self._waiting)
        if (shown := self._mask.text(text)) != text:
            self._rewrite(shown)
        waiting, self._waiting = self._waiting, []
        return b"".join(event for event, _, _ in waiting)

    def _passed(self, event: bytes, at: int) -> bytes:
        """What may be given on with an event, whose data is `at` this place; -1 without any."""
        self._count += 1
        if self._count > self._most or len(event) > self._small:
            self._check_size(event)
        try:
            if not event.isascii():
                event.decode()
            said = self._said(self._decode(event[at + 5 :])) if at >= 0 else None
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            _check(event)
            said = None
        shown = self._mask.data(event)
        if said is None:
            return self._continued(shown, None) if self._waiting else shown
        if self._waiting or self._mask.may_touch(said[2]):
            return self._continued(shown, said)
        if self._lessons and shown is event:
            self._lessons -= 1
            path, place, text = said
            self._where = path, place
            self._repeated = Repeated.learn(event, event[at + 5 : -2].lstrip(), text, path)
        return shown

    def _continued(self, event: bytes, said: Said | None) -> bytes:
        """What may be given on where keys may come in pieces."""
        if said is None:
            if _DATA not in event:
                # A sign of life says nothing: what has begun can go on behind it.
                self._waiting.append((event, (), ""))
                return b""
            return self.close() + event
        path, place, text = said
        before = self.close() if place != self._place else b""
        self._place = place
        self._waiting.append((event, path, text))
        whole = "".join([text for _, _, text in self._waiting])
        shown, end = self._mask.cut(whole)
        if shown + end != whole:
            self._rewrite(shown + end)
        return before + self._released(len(end))

    def _released(self, size: int) -> bytes:
        """Those that wait, but for the last ones in which `size` characters are."""
        keep = len(self._waiting)
        while size > 0:
            keep -= 1
            size -= len(self._waiting[keep][2])
        given, self._waiting = self._waiting[:keep], self._waiting[keep:]
        return b"".join([event for event, _, _ in given])

    def _rewrite(self, text: str) -> None:
        """Have those that wait say `text` together: the first of them says it all."""
        made: list[tuple[bytes, Path, str]] = []
        for event, path, _ in self._waiting:
            made.append((_with_text(event, path, text), path, text) if path else (event, path, ""))
            text = "" if path else text
        self._waiting = made

    def _check_size(self, event: bytes) -> None:
        try:
            self._limits.check_events(self._count)
            self._limits.check_event(len(event))
            self._limits.check_json(event)
        except ReplyTooLarge as error:
            raise TooMuch(error) from None


def _check(event: bytes) -> None:
    """Refuse an event that is no JSON. Halves of a character are: providers cut within one."""
    try:
        for frame in ServerSentEvents().feed(event):
            if frame.data.strip() != _DONE:
                value = json.loads(frame.data.decode(), parse_constant=_no_json)
                if not isinstance(value, dict):
                    raise UnfitEvent("an event of the stream is no JSON object")
    except UnicodeError:
        raise UnfitEvent("an event of the stream is not UTF-8") from None
    except RecursionError:
        raise UnfitEvent("an event of the stream is nested too deeply") from None
    except ValueError:
        raise UnfitEvent("an event of the stream is not JSON") from None


def _no_json(constant: str) -> None:
    raise ValueError(constant)


def _with_text(event: bytes, path: Path, text: str) -> bytes:
    """An event with another text at its place."""
    at = event.find(_DATA)
    body = msgspec.json.decode(event[at + len(_DATA) :])
    inner: Any = body
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = text
    return event[:at] + b"data: " + msgspec.json.encode(body) + _END
