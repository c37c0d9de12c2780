"""Messages, entries, whole conversations and replies."""

from collections.abc import Sequence
from typing import TypeAlias

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from msgspec.structs import replace

from canonicall.blocks import CallClosed, Entry, Message, Origin, Summary, ToolCall, ToolResult
from canonicall.conversation import Conversation
from canonicall.decisions import CallAsked, CallDecided, Rule, UserWentOn
from canonicall.outcome import Outcome
from canonicall.reply import Reply, Usage
from canonicall.testing.strategies.of_blocks import (
    RAW_IDS,
    calls,
    json_objects,
    media,
    results,
    texts,
    thoughts,
    words,
)

Entries: TypeAlias = list[Entry]

_ORIGINS = st.none() | st.builds(Origin, st.sampled_from(["kimi", "openai", "gemini"]))
_TURN_KEYS = st.sampled_from(["", "", "", "turn_given", "step"])
_ASSISTANT = st.builds(
    lambda blocks, key, origin, partial: Message(
        "assistant", tuple(blocks), key, origin, partial=partial
    ),
    st.lists(texts() | thoughts() | media() | calls() | calls() | results(), max_size=5),
    _TURN_KEYS,
    _ORIGINS,
    st.booleans(),
)
_OF_RESULTS = st.builds(
    lambda role, blocks: Message(role, tuple(blocks)),
    st.sampled_from(["tool", "user"]),
    st.lists(results(), min_size=1, max_size=3),
)
_OTHERS = st.builds(
    lambda role, blocks: Message(role, tuple(blocks)),
    st.sampled_from(["user", "user", "system", "developer", "tool"]),
    st.lists(texts() | texts() | media() | calls() | results(), max_size=3),
)
_SUMMARIES = st.builds(
    lambda text, covers: Message("user", (Summary(text=text, covers=covers),)),
    words(),
    st.integers(1, 9),
)
_CLOSINGS = st.builds(CallClosed, RAW_IDS, st.sampled_from(list(Outcome)), words())
_RULES = st.builds(Rule, st.sampled_from(["f", "*", "[", "read_*"]), json_objects())
_RECORDS = (
    st.builds(CallAsked, RAW_IDS, st.sampled_from(["approval", "external"]), words())
    | st.builds(
        CallDecided,
        RAW_IDS,
        st.sampled_from(["allow", "deny"]),
        st.sampled_from(["once", "session", "rule"]),
        st.none() | _RULES,
        st.none() | json_objects(),
        words(),
    )
    | st.builds(
        UserWentOn, st.sampled_from(["wait", "supersede"]), st.lists(RAW_IDS, max_size=2).map(tuple)
    )
)
"""What was asked and decided about calls, or about none."""
_ENTRIES: SearchStrategy[Entry] = st.one_of(
    _ASSISTANT, _OF_RESULTS, _OF_RESULTS, _OTHERS, _CLOSINGS, _SUMMARIES, _RECORDS
)
_ENTRY_LISTS = st.lists(_ENTRIES, max_size=12)

_INSTRUCTIONS = st.builds(lambda block: Message("system", (block,)), texts(sound=True))
_SAID = st.one_of(texts(sound=True), texts(sound=True), media(sound=True))
_QUESTIONS = st.builds(lambda blocks: Message("user", tuple(blocks)), st.lists(_SAID, min_size=1))
_ANSWERS = st.tuples(st.lists(_SAID, max_size=2), st.booleans())

_SERVER_CALLS = st.builds(
    lambda id, args: ToolCall(id=id, name="web_search", args=args, kind="server"),
    RAW_IDS,
    json_objects(),
)
_REPLIES = st.builds(
    lambda blocks, finish, usage: Reply(
        Message(
            "assistant",
            tuple(blocks),
            origin=Origin(model="m", response_id="r"),
            finish=finish,
        ),
        usage,
    ),
    st.lists(texts() | thoughts() | calls() | calls() | media() | _SERVER_CALLS, max_size=6),
    st.sampled_from(["", "stop", "tool_calls", "length", "filter", "error", "context_overflow"]),
    st.none() | st.builds(Usage, st.integers(0, 99), st.integers(0, 99)),
)


def origins() -> SearchStrategy[Origin | None]:
    """Who made a message; None where nobody knows."""
    return _ORIGINS


def assistant_messages() -> SearchStrategy[Message]:
    """Replies as they stand in a history, with calls, and even with results in them."""
    return _ASSISTANT


def result_messages() -> SearchStrategy[Message]:
    """Results, in a message of their own or in one of the user."""
    return _OF_RESULTS


def other_messages() -> SearchStrategy[Message]:
    """What anybody but the model said, calls and results in the wrong place among it."""
    return _OTHERS


def messages() -> SearchStrategy[Message]:
    """Messages of any role."""
    return st.one_of(_ASSISTANT, _OF_RESULTS, _OTHERS, _SUMMARIES)


def entries() -> SearchStrategy[Entry]:
    """All that can be appended to a conversation: messages, closings, and records of decisions."""
    return _ENTRIES


def entry_lists() -> SearchStrategy[Entries]:
    """Up to twelve entries in any order."""
    return _ENTRY_LISTS


def conversations(*, sound: bool = False) -> SearchStrategy[Conversation]:
    """Conversations, most of them damaged.

    In sound ones every call has a name, arguments and a result, in whatever order results come.
    """
    return (_sound_entries() if sound else _ENTRY_LISTS).map(Conversation.of)


def replies() -> SearchStrategy[Reply]:
    """Replies as a provider might have sent them."""
    return _REPLIES


@st.composite
def _exchanges(draw: DrawFn, number: int) -> Entries:
    """A question, a reply and the results of its calls, which come in any order."""
    said = draw(st.lists(texts(sound=True), max_size=1))
    made = draw(st.lists(calls(sound=True), max_size=3))
    named = [replace(call, id=f"call_{number}_{index}") for index, call in enumerate(made)]
    answers = st.lists(_ANSWERS, min_size=len(made), max_size=len(made))
    in_order: Sequence[ToolCall] = draw(st.permutations(named))
    told = [
        Message("tool", (ToolResult(call_id=call.id, content=tuple(content), error=error),))
        for call, (content, error) in zip(in_order, draw(answers), strict=True)
    ]
    return [draw(_QUESTIONS), Message("assistant", (*said, *named)), *told]


@st.composite
def _sound_entries(draw: DrawFn) -> Entries:
    made: Entries = [*draw(st.lists(_INSTRUCTIONS, max_size=2))]
    for number in range(draw(st.integers(1, 3))):
        made += draw(_exchanges(number))
        made += draw(st.lists(_INSTRUCTIONS, max_size=1)) if number == 1 else []
    return made
