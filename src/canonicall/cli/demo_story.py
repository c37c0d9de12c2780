"""The story `canonicall demo` tells: one conversation, from its first call to its stored form.

Out: a `Story`, facts only. Every number in it is read from the objects, none is written down here,
and the checks at the end compare what was promised with what is there. `demo.py` prints it.
"""

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from canonicall.blocks import Message, Origin, Text, ToolCall, ToolResult
from canonicall.cli.demo_travel import Hop, travel
from canonicall.compaction import cut_points, shorten, summarise
from canonicall.conversation import Appended, Conversation
from canonicall.findings import Finding
from canonicall.ids import is_canonical_tool_id
from canonicall.ledger import Interaction
from canonicall.outcome import Outcome, wording
from canonicall.persisted import dump, load

RESULT_LIMIT = 400
BYTES_CUT = 25

_KIMI = Origin("kimi", format="openai-chat")
_GEMINI = Origin("gemini", format="gemini")
_LOG = "\n".join(f"step {number:03}: ok" for number in range(1, 400)) + "\nstep 400: FAILED"
_FILES = "code.py notes.md test.py"
_CANCELLED = "the user cancelled"


class CallRow(Struct, frozen=True):
    """One call: what the provider wrote, and what it is called here."""

    turn: int
    provider: str
    raw_id: str
    tool: str
    id: str
    outcome: str


class Told(Struct, frozen=True):
    """A call that ended without a result, and what a model reads about it."""

    tool: str
    outcome: str
    text: str


class Damage(Struct, frozen=True):
    """What arrived, and what was found about it."""

    arrived: str
    finding: Finding


class Size(Struct, frozen=True):
    """How big a conversation is, and how many of its calls lack an end."""

    entries: int
    calls: int
    bytes: int
    open_calls: int


class Shrunk(Struct, frozen=True):
    """A compaction: where it was asked to cut, what it did, and the sizes."""

    cut_points: tuple[int, ...]
    asked: int
    findings: tuple[Finding, ...]
    before: Size
    after: Size


class Reloaded(Struct, frozen=True):
    """A stored conversation whose last line was cut off, read again."""

    entries_stored: int
    bytes_missing: int
    entries_read: int
    finding: Finding
    lost: Told


class Check(Struct, frozen=True):
    """Something the demo claims, and whether it holds."""

    claim: str
    holds: bool


class Story(Struct, frozen=True):
    """All of it, in the order it is told."""

    calls: tuple[CallRow, ...]
    ids: tuple[Finding, ...]
    cancelled: tuple[Told, ...]
    damaged: tuple[Damage, ...]
    shrunk: Shrunk
    reloaded: Reloaded
    hops: tuple[Hop, ...]
    outcomes: dict[str, int]
    checks: tuple[Check, ...]
    summary: str


def tell() -> Story:
    """Live through the whole conversation."""
    talk = Conversation()
    two_providers(talk)
    calls, ids = call_rows(talk), tuple(talk.report)
    cancelled = cancel(talk)
    damaged = damage(talk)
    take_over(talk)
    shrunk, whole = shrink(talk)
    reloaded, same = reload(talk)
    hops = travel(talk)
    checks = (
        Check("every call has an id of its own", _ids_are_unique(talk)),
        Check("every call has exactly one outcome", not talk.ledger.open),
        Check("no damaged message changed an outcome", _ended_as_told(talk, cancelled)),
        Check("compaction split no call from its result", whole),
        Check("reloading lost the cut line and nothing else", same),
        Check(f"the judge accepts what {len(hops)} providers would be sent", _accepted(hops)),
    )
    outcomes = dict(Counter(str(one.outcome) for one in talk.ledger.values()))
    told = summary(talk, outcomes)
    return Story(calls, ids, cancelled, damaged, shrunk, reloaded, hops, outcomes, checks, told)


def two_providers(talk: Conversation) -> None:
    """Kimi uses an id twice and answers come out of order; Gemini sends no ids at all."""
    talk.system("You look after a small software project.")
    talk.user("The nightly build fails. Please find out why, and fix it.")
    read_test = ToolCall(id="functions.read_file:0", name="read_file", args={"path": "test.py"})
    read_code = ToolCall(id="functions.read_file:1", name="read_file", args={"path": "code.py"})
    talk.assistant((Text(text="I will read both files."), read_test, read_code), origin=_KIMI)
    answer(talk, "functions.read_file:1", "def last_day(month): ...")
    answer(talk, "functions.read_file:0", "assert last_day(2) == 28")
    read_notes = ToolCall(id="functions.read_file:0", name="read_file", args={"path": "notes.md"})
    search = ToolCall(id="functions.search:1", name="search", args={"text": "leap year"})
    talk.assistant((read_notes, search), origin=_KIMI)
    answer(talk, "functions.read_file:0", "Known problem: leap years.")
    answer(talk, "functions.search:1", "code.py:12")
    read_log = ToolCall(name="read_log", args={"build": "nightly"})
    list_dir = ToolCall(name="list_dir", args={"folder": "."})
    talk.assistant((read_log, list_dir), origin=_GEMINI)
    results = (
        ToolResult(name="read_log", content=(Text(text=_LOG),)),
        ToolResult(name="list_dir", content=(Text(text=_FILES),)),
    )
    talk.append(Message("tool", results))


def cancel(talk: Conversation) -> tuple[Told, ...]:
    """The user stops two calls: one is running, the other has not begun."""
    patch = ToolCall(id="functions.apply_patch:0", name="apply_patch", args={"file": "code.py"})
    push = ToolCall(id="functions.push_branch:1", name="push_branch", args={"branch": "fix"})
    running, waiting = talk.assistant((patch, push), origin=_KIMI).calls
    talk.close(running.id, Outcome.UNKNOWN, why=_CANCELLED)
    talk.close(waiting.id, Outcome.NOT_RUN, why=_CANCELLED)
    return tuple(_told(talk.ledger[call.id]) for call in (running, waiting))


def damage(talk: Conversation) -> tuple[Damage, ...]:
    """Results that answer nothing, answer twice, or come too late."""
    by_tool = {one.name: one.id for one in talk.ledger.values()}
    return (
        Damage("a result that no call asked for", *answer(talk, "call_lost", "42").findings),
        Damage("the same result once more", *answer(talk, by_tool["list_dir"], _FILES).findings),
        Damage(
            "a result after the cancellation",
            *answer(talk, "functions.apply_patch:0", "patched").findings,
        ),
    )


def take_over(talk: Conversation) -> None:
    """The other model reads what happened and checks the actual state."""
    talk.user("Please check whether the fix is in.")
    call = ToolCall(name="run_tests", args={})
    (recorded,) = talk.assistant((call,), origin=_GEMINI).calls
    talk.result(recorded.id, "all tests passed")


def shrink(talk: Conversation) -> tuple[Shrunk, bool]:
    """Summarise the old part, shorten what is long. The cut asked for lies inside a call.

    The second value says whether every call that is still there ended as it had before.
    """
    by_tool = {one.name: one for one in talk.ledger.values()}
    asked = by_tool["read_log"].entry + 1
    first = summarise(talk, asked, "The files were read; leap years are the problem.")
    second = shorten(first.conversation, RESULT_LIMIT)
    findings = [
        finding
        for finding in (*first.report, *second.report)
        if finding.code in ("cut_moved", "compacted", "shortened")
    ]
    after = second.conversation
    whole = all(one.outcome is talk.ledger[id].outcome for id, one in after.ledger.items())
    sizes = (size_of(talk), size_of(after))
    return Shrunk(cut_points(talk), asked, tuple(findings), *sizes), whole


def reload(talk: Conversation) -> tuple[Reloaded, bool]:
    """Store it, lose the last bytes, read it again, and say the truth about the open call.

    The second value says whether all but the last entry came back as it was.
    """
    loaded = load(dump(talk)[:-BYTES_CUT])
    again = loaded.conversation
    read, same = len(again), list(again.entries) == list(talk.entries[:-1])
    (finding,) = (one for one in loaded.report if one.code == "truncated_line")
    (unanswered,) = again.ledger.open
    again.close(unanswered.id, Outcome.RESULT_LOST)
    lost = _told(again.ledger[unanswered.id])
    return Reloaded(len(talk), BYTES_CUT, read, finding, lost), same


def summary(talk: Conversation, outcomes: dict[str, int]) -> str:
    """The whole story in one sentence."""
    providers = {message.origin.provider for message in talk.messages if message.origin}
    ends = ", ".join(f"{count} {outcome}" for outcome, count in outcomes.items())
    return (
        f"{len(talk.ledger)} tool calls from {len(providers)} providers: {ends};"
        f" {len(talk.report)} findings."
    )


def answer(talk: Conversation, call_id: str, text: str) -> Appended:
    """A result as it comes from outside: with the id the provider wrote."""
    return talk.append(Message("tool", (ToolResult(call_id=call_id, content=(Text(text=text),)),)))


def call_rows(talk: Conversation) -> tuple[CallRow, ...]:
    """The ledger as a table, in call order."""
    origins = {
        message.turn_key: (turn, message.origin.provider if message.origin else "")
        for turn, message in enumerate(_turns(talk), 1)
    }
    return tuple(
        CallRow(
            *origins[one.turn_key], one.call.raw_id, one.name, one.id, str(one.outcome or "open")
        )
        for one in talk.ledger.values()
    )


def size_of(talk: Conversation) -> Size:
    """What there is to send and to store."""
    return Size(len(talk), len(talk.ledger), len(dump(talk)), len(talk.ledger.open))


def _turns(talk: Conversation) -> Sequence[Message]:
    return [message for message in talk.messages if message.role == "assistant"]


def _told(one: Interaction) -> Told:
    outcome = Outcome(str(one.outcome))
    return Told(one.name, outcome, wording(outcome, one.why))


def _ids_are_unique(talk: Conversation) -> bool:
    """Each call block in the log has a canonical id that no other one has."""
    ids = [call.id for message in talk.messages for call in message.calls]
    return len(set(ids)) == len(ids) and all(map(is_canonical_tool_id, ids))


def _accepted(hops: tuple[Hop, ...]) -> bool:
    return bool(hops) and not any(hop.refused for hop in hops)


def _ended_as_told(talk: Conversation, cancelled: tuple[Told, ...]) -> bool:
    """The calls that were cancelled still have the ends the model was told about."""
    return {_told(one) for one in talk.ledger.values() if one.result is None} == set(cancelled)
