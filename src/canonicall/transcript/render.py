"""Rendering: a conversation becomes the transcript that one target accepts.

The order of the passes: pair by occurrence (the ledger knows), close what is open, order results as
their calls, fit blocks to the target, project ids and names, place turns. `Renderer` keeps what it
has made: after one more entry it renders that entry, and again only what was still open. A full
render is the same code from the start, so both give the same turns.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from canonicall.blocks import (
    Entry,
    Media,
    Message,
    Native,
    Summary,
    Text,
    ToolCall,
    ToolResult,
    Unknown,
)
from canonicall.conversation import Conversation
from canonicall.facts.registry import with_rule_keys
from canonicall.facts.target import Target
from canonicall.findings import Action, Fault, Finding, Place, Report
from canonicall.ledger import Interaction, Ledger
from canonicall.request import Tool
from canonicall.transcript.completion import (
    are_moved,
    completion,
    family,
    is_usual,
    split_media,
)
from canonicall.transcript.ending import finished
from canonicall.transcript.fields import is_of, kept_fields, with_good_name
from canonicall.transcript.fitting import Fitter
from canonicall.transcript.opening import with_one_opening
from canonicall.transcript.placing import Builder, Built
from canonicall.transcript.policy import DEFAULT, Policy
from canonicall.transcript.projection import NOTHING, Marked, Projection
from canonicall.transcript.server_blocks import is_sealed
from canonicall.transcript.turns import KnownTurns, Transcript


def render(conversation: Conversation, target: Target, *, policy: Policy = DEFAULT) -> Transcript:
    """The transcript of `conversation` for `target`."""
    return Renderer(target, policy=policy).render(conversation)


class _Mark(Struct, frozen=True, gc=False):
    """Where everything stood before an entry was rendered."""

    entry: Entry
    built: Built
    projected: Marked
    findings: int
    until: int
    """The last entry that what became of it depends on: that with the result of its last call."""


class Renderer:
    """Renders one growing conversation for one target, each time at the cost of what is new."""

    def __init__(self, target: Target, *, policy: Policy = DEFAULT) -> None:
        self.target = target
        self._named_as = (target.name, target.format)
        self.projection = Projection(target)
        self.policy = policy
        self._fitter = Fitter(target, policy, self.projection)
        self._builder = Builder(target, continues=policy.continues)
        self._findings: list[Finding] = []
        self._marks: list[_Mark] = []
        self._first_open: int | None = None
        self._offered: tuple[tuple[str, bool], ...] = ()
        """The names of the tools, each with whether the provider runs it."""
        self.known_turns = KnownTurns()

    def offer(self, tools: Iterable[Tool]) -> None:
        """Give the tools of a request their wire names, before any call of the history has one.

        With other tools than last time the history is rendered anew: a call may have been given
        the name that a tool has now. A tool that the provider runs has its own name, or none.
        """
        offered = tuple([(tool.name, tool.kind == "server") for tool in tools])
        if offered == self._offered:
            return
        if self._marks or self._offered:
            self._rewind(0)
            self.projection.rewind(NOTHING)
        self._offered = offered
        self._fitter.server_blocks.offered = tuple([name for name, _ in offered])
        for name, is_of_server in offered:
            if not is_of_server:
                self.projection.name(name)

    def render(self, conversation: Conversation) -> Transcript:
        """The transcript as of now. The conversation remembers which ids were given out."""
        self._rewind(self._first_stale(conversation))
        known = len(self._findings)
        settled_until = conversation.settled_until
        ledger, end = conversation.ledger, len(conversation)
        for index, entry in enumerate(conversation.entries[len(self._marks) :], len(self._marks)):
            self._mark(entry, ledger, index, end, settled_until)
            if type(entry) is Message:
                self._message(entry, conversation, index)
        conversation.ledger.remember(self._named_as, self.projection.sent)
        if len(self._findings) > known:
            self._findings[known:] = with_rule_keys(self._findings[known:], self.target)
        turns, told = finished(self._builder, self.policy, marked=self.has_marks)
        if told:
            told = with_rule_keys(told, self.target)
        return Transcript(
            turns,
            dict(self.projection.ids),
            self.projection.renamed,
            Report((*self._findings, *told)),
            self.target,
        )

    @property
    def has_marks(self) -> bool:
        """Whether some block may have a cache mark."""
        return self._fitter.kept_marks

    def placed(self, entry: int) -> list[Place]:
        """The blocks that an entry was rendered to: the turn and the position of each."""
        turns = self._builder.turns
        (first, before), (last, count) = self._end_before(entry), self._end_before(entry + 1)
        return [
            (at, position)
            for at in range(max(first, 0), last + 1)
            for position in range(
                before if at == first else 0, count if at == last else len(turns[at].blocks)
            )
        ]

    def whole_turn(self, entry: int) -> int | None:
        """The turn that begins what an entry was rendered to, if it holds several of its blocks and
        nothing else: that of a reply with calls, which its results follow. Else None.
        """
        if entry + 1 >= len(self._marks):
            return None
        before, after = self._marks[entry].built, self._marks[entry + 1].built
        turns, at = self._builder.turns, before.turns
        if after.turns < at + 2 or len(turns[at].blocks) == 1:
            return None
        return at if at == 0 or len(turns[at - 1].blocks) == before.blocks else None

    def _end_before(self, entry: int) -> Place:
        """Where the turns ended before an entry was rendered: the last turn, and its length."""
        built = self._marks[entry].built if entry < len(self._marks) else self._builder.mark()
        return (built.turns - 1, built.blocks)

    def _first_stale(self, conversation: Conversation) -> int:
        """The first entry that has to be rendered, or rendered again.

        A conversation that only grew has all known entries; one that shares a beginning with the
        last has some of them, and what depends on the others counts as not known.
        """
        known = len(self._marks)
        if known > len(conversation) or (
            known and conversation.entries[known - 1] is not self._marks[known - 1].entry
        ):
            known = self._shared_with(conversation)
        return known if self._first_open is None else min(known, self._first_open)

    def _shared_with(self, conversation: Conversation) -> int:
        pairs = enumerate(zip(self._marks, conversation.entries, strict=False))
        most = min(len(self._marks), len(conversation))
        shared = next((at for at, (ours, theirs) in pairs if ours.entry is not theirs), most)
        marks = enumerate(self._marks[:shared])
        return next((at for at, mark in marks if mark.until >= shared), shared)

    def _rewind(self, to: int) -> None:
        if to >= len(self._marks):
            return
        mark = self._marks[to]
        self._builder.rewind(mark.built)
        self.projection.rewind(mark.projected)
        del self._findings[mark.findings :]
        del self._marks[to:]
        if self._first_open is not None and self._first_open >= to:
            self._first_open = None

    def _mark(self, entry: Entry, ledger: Ledger, index: int, end: int, settled_until: int) -> None:
        until = _depends_until(entry, ledger, index, end)
        built, projected = self._builder.mark(), self.projection.mark()
        self._marks.append(_Mark(entry, built, projected, len(self._findings), until))
        # What depends on nothing behind the log is settled.
        if self._first_open is None and (
            index >= settled_until or (until == end and not _is_settled(entry, ledger, index))
        ):
            self._first_open = index

    def _message(self, message: Message, conversation: Conversation, index: int) -> None:
        kinds = set(map(type, message.blocks))
        if Unknown in kinds:
            is_first = self._builder.only_instructs()
            where = f"entries[{index}]"
            message = with_one_opening(message, where, self._findings, is_first=is_first)
        if message.role == "assistant":
            self._reply(message, conversation, index)
            if ToolResult in kinds:
                self._report_set_aside(message, conversation, index)
            return
        if ToolResult in kinds:
            self._report_set_aside(message, conversation, index)
            if len(kinds) == 1 and message.native is None:
                return  # Results are sent beside their calls.
        if Summary in kinds:
            self._reserve(message)
        blocks = self._fitter.content(message, index, self._findings)
        if not blocks and message.native is None:
            return
        where = f"entries[{index}]"
        native = self._own_native(message, where, is_sent=bool(blocks))
        if message.role not in ("system", "developer"):
            self._builder.user(blocks, native, where, self._findings)
        elif blocks:
            self._builder.instruct(message.role, blocks, native, where, self._findings)

    def _reserve(self, message: Message) -> None:
        """Keep the ids of calls that were compacted away from others."""
        for block in message.blocks:
            for tombstone in block.tombstones if type(block) is Summary else ():
                self.projection.reserve(tombstone)

    def _reply(self, message: Message, conversation: Conversation, index: int) -> None:
        where, records = f"entries[{index}]", conversation.ledger.records
        blocks = self._fitter.reply(message, conversation, index, self._findings)
        calls: list[Interaction] = []
        results: list[ToolResult] = []
        moved: list[Media | Text] = []
        for call in message.blocks:
            if type(call) is ToolCall and call.kind != "server":
                one = records[call.id]
                result, media = self._result(call, one, conversation, where)
                calls.append(one)
                results.append(result)
                moved += media
        if calls and are_moved(calls, conversation.entries, index):
            why = "The results are sent right after their calls, in the order of the calls."
            told = Finding("results_moved", where, Action.MOVED, why, Fault.RENDER)
            self._findings.append(told)
        native = message.native
        if native is not None:
            native = self._own_native(message, where, is_sent=bool(blocks))
        made_by = (message.origin, native)
        self._builder.reply(blocks, results, moved, made_by, where, self._findings)

    def _result(
        self, call: ToolCall, one: Interaction, conversation: Conversation, where: str
    ) -> tuple[ToolResult, Sequence[Media | Text]]:
        if one.result is not None and is_usual(one, one.result):
            return self._named(call, one.result, where), ()
        answered = completion(one, self.target, self.policy, self._findings)
        home = conversation.entries[one.result_entry] if one.result_entry is not None else None
        source = home if isinstance(home, Message) else Message("tool")
        result, media = self._fitted_result(answered, source, where)
        return self._named(call, result, where), media

    def _fitted_result(
        self, result: ToolResult, message: Message, where: str
    ) -> tuple[ToolResult, list[Media | Text]]:
        """A result of `message` as the target may get it, and the media that follows it."""
        fitted = self._fitter.result(result, message, where, self._findings)
        result, media = split_media(fitted, self.target)
        for part in media:
            why = f"The target takes no {family(part)} in this result; it follows the results."
            self._findings.append(
                Finding("media_moved", where, Action.MOVED, why, Fault.RENDER, rule="result_media")
            )
        seen = [self._fitter.media(part, where, self._findings) for part in media]
        return result, [part for part in seen if isinstance(part, (Media, Text))]

    def _named(self, call: ToolCall, result: ToolResult, where: str) -> ToolResult:
        """`result` under the id and the name that its call is sent with."""
        native = result.native
        if native is not None or call.native is not None:
            native = self._echoed(call, result, where)
        return replace(
            result,
            call_id=self.projection.ids[call.id],
            name=self.projection.name(call.name),
            kind=call.kind if self.target.custom_tools else "function",
            is_complete=True,
            native=native,
        )

    def _echoed(self, call: ToolCall, result: ToolResult, where: str) -> Native | None:
        """The native fields of a result, with those that it repeats from its call."""
        format, native = self.target.format, result.native
        said = call.native.fields if call.native and call.native.format == format else {}
        if native is None and not said:
            return None
        told = {name: said[name] for name in self.target.echoed_fields if name in said}
        own = native.fields if native is not None else {}
        lost = [name for name in self.target.echoed_fields if name in own and name not in told]
        if lost:
            why = f"The call that it answers does not have these fields: {', '.join(lost)}."
            findings = self._findings
            findings.append(
                Finding(
                    "fields_dropped", where, Action.DROPPED, why, Fault.RENDER, rule="echoed_fields"
                )
            )
        kept = {name: field for name, field in own.items() if name not in lost} | told
        return Native(format, kept) if kept else None

    def _report_set_aside(self, message: Message, conversation: Conversation, index: int) -> None:
        """Say which results are not sent, and send orphans as text if the policy says so.

        Results that follow what the provider keeps may answer calls that are kept there.
        """
        moved: list[Media | Text] = []
        ledger = conversation.ledger
        for position, result in enumerate(message.blocks):
            if type(result) is not ToolResult or (result.opaque and is_sealed(result)):
                continue
            one = (
                ledger.records.get(result.call_id)
                if result.bound
                else ledger.answered(result, (index, position))
            )
            if one is None and self._may_be_stored(result, ledger):
                where = f"entries[{index}]"
                fitted, media = self._fitted_result(result, message, where)
                if self._builder.stored_result(fitted, where, self._findings):
                    moved += media
                continue
            if one is not None and one.result_entry == index:
                continue
            where = f"entries[{index}].blocks[{position}]"
            as_text = one is None and self.policy.orphans == "text" and result.text
            action = Action.CHANGED if as_text else Action.DROPPED
            why = (
                "No call asked for this result."
                if one is None
                else f"{one.id} has another result, which is sent."
            )
            code = "orphan_not_sent" if one is None else "result_not_sent"
            self._findings.append(Finding(code, where, action, why, Fault.INPUT))
            if as_text:
                note = Text(text=f"[A tool result without its call]\n{result.text}")
                self._builder.user([note], None, where, self._findings)
        if moved:
            self._builder.after_results(moved, self._findings, f"entries[{index}]")

    def _may_be_stored(self, result: ToolResult, ledger: Ledger) -> bool:
        """Whether a result may answer a call that only the provider knows."""
        is_at_seam = self.policy.continues and self._builder.follows_stored
        return is_at_seam and not (result.call_id and ledger.knows(result.call_id))

    def _own_native(self, message: Message, where: str, *, is_sent: bool) -> Native | None:
        """The native fields of a message. `is_sent`: it holds something else as well."""
        if message.native is None:
            return None
        is_own = is_of(message, self.target)
        kept = kept_fields(
            message.native,
            "message",
            self.target,
            is_own=is_own,
            where=where,
            findings=self._findings,
        )
        if kept is not None and not is_sent:
            why = f"A message without content is not sent: {', '.join(kept.fields)}."
            told = Finding("fields_dropped", where, Action.DROPPED, why, Fault.RENDER)
            self._findings.append(told)
            return None
        return with_good_name(kept, self.target, where, self._findings)


def _is_settled(entry: Entry, ledger: Ledger, index: int) -> bool:
    """Whether nothing that is written later can change what an entry is sent as."""
    concerned = _calls_of(entry, ledger, index)
    return not any(one.is_open or one.is_stand_in for one in concerned if one is not None)


def _depends_until(entry: Entry, ledger: Ledger, index: int, end: int) -> int:
    """The last entry that decides what `entry` is sent as, `end` where that is to be seen."""
    until, records = index, ledger.records
    for position, block in enumerate(entry.blocks if type(entry) is Message else ()):
        one: Interaction | None
        if type(block) is ToolCall:
            one = records[block.id]
        elif type(block) is ToolResult:
            if block.bound and block.call_id in records:
                continue
            one = ledger.answered(block, (index, position))
            if one is not None and one.entry <= index:
                continue
        else:
            continue
        if one is None or one.closed or one.markers or one.result_entry is None:
            return end
        until = max(until, one.entry, one.result_entry)
    return until


def _calls_of(entry: Entry, ledger: Ledger, index: int) -> Iterator[Interaction | None]:
    """The calls in an entry and those that its results precede; None where that is to be seen."""
    for position, block in enumerate(entry.blocks if type(entry) is Message else ()):
        if type(block) is ToolCall:
            yield ledger[block.id]
        elif type(block) is ToolResult:
            one = ledger.answered(block, (index, position))
            if one is None or one.entry > index:
                yield one
