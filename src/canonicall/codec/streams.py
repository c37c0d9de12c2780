"""Streams: bytes of any provider to events, events to bytes of any provider."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from hashlib import sha256
from typing import Any, get_args

import msgspec
from msgspec.structs import replace

from canonicall.arguments import message_with_arguments, with_arguments
from canonicall.blocks import Message, Origin, ToolCall
from canonicall.errors import MalformedBody, ReplyTooLarge
from canonicall.events import (
    ArgumentsAdded,
    BlockEnded,
    BlockStarted,
    ErrorReported,
    Event,
    StreamEnded,
    TextAdded,
    ThinkingAdded,
)
from canonicall.facts.registry import get_target
from canonicall.facts.target import Format
from canonicall.findings import Action, Fault, Finding
from canonicall.folding import WHY_CUT, with_open_calls, with_truncated_call
from canonicall.framing.detect import AnyFraming
from canonicall.framing.frame import Frame
from canonicall.framing.limits import DEFAULT_LIMITS, ReplyLimits
from canonicall.framing.repeats import Repeated
from canonicall.ids import base64url
from canonicall.reply import ERROR, Reply
from canonicall.wire.formats import get_format
from canonicall.wire.leaked_tokens import with_own_names, without_tokens
from canonicall.wire.reading import mended_json
from canonicall.wire.stream_arguments import ObjectArguments
from canonicall.wire.streaming import Growth

_DONE = b"[DONE]"
TOO_LARGE = "reply_too_large"
"""The type of the error of a stream that is beyond a limit."""
DAMAGED = "damaged_stream"
"""The type of the error of a stream that cannot be read."""
_decode = msgspec.json.Decoder().decode


_LESSONS = 8
"""How often a stream is looked at for repeats in vain: some have none, every event has a nonce."""


_EVENTS = frozenset(get_args(Event))
_FEED_HELP = "feed_all takes several events, and events_of(reply) makes them of a reply."


def _nothing(text: str, events: list[Event]) -> None:
    """Adds nothing: no event goes on."""


class StreamDecoder:
    """Reads one stream of a wire format, however its bytes are split.

    A stream beyond `limits` is told as an error of the type `reply_too_large`; nothing is read
    after it. A frame that is no JSON object is left out, with a finding. Without `skips` it is told
    as an error of the type `damaged_stream`, and nothing is read after it: whoever has seen what
    came before must not take the rest for all of it.
    """

    def __init__(
        self,
        format: Format | str,
        *,
        provider: str = "",
        limits: ReplyLimits = DEFAULT_LIMITS,
        skips: bool = True,
    ) -> None:
        self._skips = skips
        self._limits = limits
        self._most_frames, self._small = limits.events, limits.small
        self._wire = get_format(format)
        self._domain = get_target(f"{provider}/{format}").domain if provider else None
        self._origin = Origin(provider, format) if provider else None
        self._framing = AnyFraming(limits)
        self._decoding = self._wire.stream_decoding(self._origin, self._domain)
        self._findings: list[Finding] = []
        self._frames = 0
        self._broken = False
        """The framing itself was damaged: no frame can be found behind that."""
        self._closed = False
        self._repeated: Repeated | None = None
        """What the next bytes are if they only go on, by `_add`."""
        self._add: Callable[[str, list[Event]], None] = _nothing
        self._lessons = _LESSONS
        self._learned_at = 0
        self._open_calls: dict[int, ToolCall] = {}
        """The client's calls that have started and not ended."""
        self._arguments: dict[str, list[tuple[dict[str, Any] | None, list[Finding]]]] = {}
        """By the text of arguments: what was parsed of it, and what was reported."""

    @property
    def done(self) -> bool:
        """Whether the provider has said that it ended. Usage may still follow."""
        return self._decoding.complete

    @property
    def is_broken(self) -> bool:
        """Whether nothing more can be read of the stream: its framing is damaged, or too large."""
        return self._broken

    def feed(self, data: bytes) -> list[Event]:
        """The events that these bytes complete."""
        events: list[Event] = []
        repeated = self._repeated
        if repeated is not None:
            text = repeated.text_in(data)
            if text and self._frames < self._most_frames:
                self._frames += 1
                self._add(text, events)
                return events
        *whole, rest = data.split(b"\n\n")
        if len(whole) > 1 or (whole and rest):
            # However the bytes are split, they say the same; one by one, most only go on.
            for event in whole:
                events += self.feed(event + b"\n\n")
            return events + self.feed(rest) if rest else events
        self._read(data, events)
        return events

    def close(self) -> list[Event]:
        """The last events, with the whole reply. Call it when nothing more comes."""
        events: list[Event] = []
        if self._closed:
            return events
        self._closed = True
        self._take_all(self._framing.close, events)
        decoding = self._decoding
        decoding.end(events)
        self._note_calls(events)
        reply = self._reply(decoding.whole())
        why = decoding.error.message if decoding.error is not None else ""
        complete = decoding.complete and decoding.error is None
        events.append(StreamEnded(reply, complete, why or ("" if complete else WHY_CUT)))
        return events

    def _read(self, data: bytes, events: list[Event]) -> None:
        """Take in bytes that do more than to go on with what the bytes before did."""
        if self._repeated is not None:
            self._unlearn()
        was_between = self._framing.is_between
        frames = self._take_all(partial(self._framing.feed, data), events)
        self._note_calls(events)
        if was_between and len(frames) == len(events) == 1:
            self._learn(data, frames[0], events[0])

    def _take_all(self, find: Callable[[], list[Frame]], events: list[Event]) -> list[Frame]:
        """Take the frames in that the framing finds.

        Where it cannot go on, the stream has broken: that is told as an error, what came before
        stays, what comes behind is not looked at.
        """
        try:
            frames = [] if self._broken else find()
        except MalformedBody as error:
            self._break(error, events)
            return []
        for frame in frames:
            try:
                self._take(frame, events)
            except MalformedBody as error:
                self._break(error, events)
                return []
        return frames

    def _break(self, error: MalformedBody, events: list[Event]) -> None:
        self._broken = True
        kind = TOO_LARGE if isinstance(error, ReplyTooLarge) else DAMAGED
        broken = ErrorReported(error.what, kind)
        self._decoding.error = self._decoding.error or broken
        events.append(broken)

    def _take(self, frame: Frame, events: list[Event]) -> None:
        self._frames += 1
        name, data = frame
        if self._frames > self._most_frames or len(data) > self._small:
            self._limits.check_events(self._frames)
            self._limits.check_event(len(data))
            self._limits.check_json(data)
        try:
            value = _decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError):
            mended = mended_json(data)
            if mended is None:
                self._take_text(data.strip())
                return
            value, told = mended
            place = f"frames[{self._frames - 1}]"
            self._findings += [replace(one, where=place + one.where[1:]) for one in told]
        except RecursionError:
            self._skip("it is nested too deeply")
            return
        if isinstance(value, dict):
            try:
                self._decoding.frame(name, value, events)
            except MalformedBody as error:
                self._note_unreadable(str(error))
        else:
            self._skip("it is no JSON object")

    def _take_text(self, text: bytes) -> None:
        """Take in a frame that is no JSON."""
        if text == _DONE:
            self._decoding.complete |= self._decoding.ends_with_done
        elif text:
            self._skip("it is no JSON", text[:80].decode("utf-8", "replace"))

    def _learn(self, data: bytes, frame: Frame, event: Event) -> None:
        """Remember an event that goes on with what the one before went on with."""
        growth: Growth | None = getattr(self._decoding, "growth", None)
        if growth is None or not isinstance(event, (TextAdded, ThinkingAdded, ArgumentsAdded)):
            self._add = _nothing
        elif growth.add != self._add:
            self._add = growth.add
        elif self._lessons:
            self._lessons -= 1
            self._learned_at = self._frames
            self._repeated = Repeated.learn(data, frame.data, event.text, growth.path)

    def _unlearn(self) -> None:
        """Forget what was learnt; if it was of use, there will be more of that kind."""
        self._repeated = None
        if self._frames - self._learned_at > 2:
            self._lessons = _LESSONS

    def _skip(self, what: str, shown: str = "") -> None:
        """Leave out a frame that is no JSON object. Behind the end of the reply nothing is lost
        with it; of a frame that was cut off, the end of the stream tells."""
        if not (self._skips or self._closed or self.done):
            raise MalformedBody(f"a frame of the stream cannot be read: {what}.")
        self._note_unreadable(f"{what}: {shown!r}" if shown else what)

    def _note_unreadable(self, what: str) -> None:
        why = f"A frame of the stream cannot be read, so it was left out: {what}"
        where = f"frames[{self._frames - 1}]"
        self._findings.append(Finding("frame_dropped", where, Action.DROPPED, why, Fault.INPUT))

    def _reply(self, body: dict[str, Any]) -> Reply:
        decoding = self._decoding
        read = self._wire.decode_response(body, origin=self._origin, domain=self._domain)
        reply = with_own_names(read)
        message = reply.message
        if decoding.error is not None:
            # Hosts write their last frame behind an error as well: that does not make it whole.
            message = replace(message, finish=ERROR, partial=True)
        elif not decoding.complete:
            message = replace(message, partial=True)
        message = with_truncated_call(message)
        if self._open_calls:
            message = with_open_calls(message, self._open_calls.values())
        findings = [*self._findings, *decoding.findings, *reply.findings]
        message = message_with_arguments(message, findings, self._with_known_arguments)
        return replace(reply, message=message, findings=tuple(findings))

    def _note_calls(self, events: list[Event]) -> None:
        """Remember which calls have started and not ended. Each call gets its own name, and
        its arguments parsed where it has ended."""
        for at, event in enumerate(events):
            if type(event) is BlockStarted:
                call = event.block
                if type(call) is ToolCall and call.kind != "server":
                    self._open_calls[event.index] = own = without_tokens(call)
                    if own is not call:
                        events[at] = BlockStarted(event.index, own)
            elif type(event) is BlockEnded:
                self._open_calls.pop(event.index, None)
                if type(event.block) is ToolCall:
                    own = self._ended(without_tokens(event.block))
                    events[at] = event if own is event.block else BlockEnded(event.index, own)

    def _ended(self, call: ToolCall) -> ToolCall:
        """A call at its end, with its arguments parsed. Free text has nothing to parse."""
        if call.kind == "custom":
            return call
        reported: list[Finding] = []
        parsed = with_arguments(call, reported)
        if parsed.raw is not None:
            self._arguments.setdefault(parsed.raw, []).append((parsed.args, reported))
        return parsed

    def _with_known_arguments(self, call: ToolCall, findings: list[Finding]) -> ToolCall:
        """A call of the reply. What was parsed at the end of the call is not parsed again."""
        known = self._arguments.get(call.raw or "")
        if call.args is not None or call.kind == "custom" or not known:
            return with_arguments(call, findings)
        args, reported = known.pop(0)
        findings += reported
        return replace(call, args=args)


class StreamEncoder:
    """Writes one stream of a wire format.

    `seed` makes the ids of calls that came without one different from those of other streams.
    `created`: when the reply is made, in seconds since 1970, for the formats that tell it.
    `repeats`: the fields that it repeats of its request, for the formats that do so.
    """

    def __init__(
        self,
        format: Format | str,
        *,
        seed: str = "",
        created: int = 0,
        repeats: Mapping[str, Any] | None = None,
    ) -> None:
        self._encoding = get_format(format).stream_encoding()
        self._encoding.created = created
        self._encoding.repeats = repeats or {}
        self._write = self._encoding.event
        self._needs_ids = get_format(format).target.ids.style != "echoed"
        self._seed = seed
        self._given: set[str] = set()
        self._started: dict[int, str] = {}
        """The ids that calls began with, by the number of their block: they keep them."""
        self._renamed = False
        self._arguments = ObjectArguments()
        self._waiting = self._arguments.waiting
        self._written: dict[tuple[str, str], list[str]] = {}
        """The ids that were written for the calls that came with an id and a name, in order."""
        self._ended = False

    def completed(self, now: float) -> None:
        """Note when the reply is complete, for the formats that have a field for it.

        Call it before the end is fed.
        """
        self._encoding.completed = int(now)

    def feed(self, event: Event) -> bytes:
        """The bytes that an event becomes; none where there is nothing to write yet."""
        if type(event) is TextAdded:
            return self._write(event)
        if type(event) is ArgumentsAdded:
            seen = self._arguments.add(event) if event.index in self._waiting else event
            return b"" if seen is None else self._write(seen)
        if type(event) is BlockStarted and type(event.block) is ToolCall:
            self._arguments.start(event.index, event.block)
            event = self._with_id(event, event.block)
        elif type(event) is BlockEnded and type(event.block) is ToolCall:
            return b"".join(map(self._write, self._call_ended(event, event.block)))
        elif type(event) is StreamEnded:
            self._ended = True
            if self._renamed:
                event = replace(event, reply=self._with_same_ids(event.reply))
        elif type(event) not in _EVENTS:
            kind = type(event).__name__
            raise TypeError(f"StreamEncoder.feed takes one event, not {kind}. {_FEED_HELP}")
        return self._write(event)

    def feed_all(self, events: Iterable[Event]) -> bytes:
        """The bytes of several events."""
        return b"".join(map(self.feed, events))

    def keep_alive(self) -> bytes:
        """What shows a client that the stream is alive, between events."""
        return self._encoding.keep_alive()

    def close(self) -> bytes:
        """The end of a stream whose own end never came: clients are told that it was cut."""
        if self._ended:
            return b""
        message = Message("assistant", partial=True)
        return self.feed(StreamEnded(Reply(message), complete=False, why=WHY_CUT))

    def _with_id(self, event: BlockStarted, call: ToolCall) -> BlockStarted:
        """`event` with an id that no other call of this stream has."""
        if not self._needs_ids or call.kind == "server":
            return event
        if not call.id or call.id in self._given:
            digest = sha256(f"{self._seed}|{event.index}|{call.name}".encode()).digest()
            id = f"call_{base64url(digest)[:24]}"
            event = BlockStarted(event.index, replace(call, id=id))
            call = replace(call, id=id)
        self._given.add(call.id)
        self._started[event.index] = call.id
        return event

    def _call_ended(self, event: BlockEnded, call: ToolCall) -> list[Event]:
        """`event` with the id that its call started with, behind what was held back of the call."""
        id = self._started.get(event.index, call.id)
        self._written.setdefault((call.id, call.name), []).append(id)
        if id != call.id:
            self._renamed = True
            call = replace(call, id=id)
            event = BlockEnded(event.index, call)
        return self._arguments.end(event, call)

    def _with_same_ids(self, reply: Reply) -> Reply:
        """`reply` with the ids that were written. Its blocks need not be in the order of events."""
        written = {key: iter(ids) for key, ids in self._written.items()}
        blocks = tuple(
            replace(block, id=next(written.get((block.id, block.name), iter(())), block.id))
            if isinstance(block, ToolCall)
            else block
            for block in reply.message.blocks
        )
        return replace(reply, message=replace(reply.message, blocks=blocks))
