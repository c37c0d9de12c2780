"""Sessions of coding agents: what is read of each, and that every provider accepts it."""

import contextlib
import json

import pytest

from canonicall import (
    MalformedBody,
    Media,
    Thinking,
    decode_request,
    dump,
    encode_request,
    read_document,
    verify,
)
from canonicall.importing.documents import kind_of
from canonicall.importing.pieces import pieces
from importing.session_files import AGENTS, PNG, as_export, as_lines
from importing.sessions_read import PROVIDERS, codes, conversation, told

EVERY = pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)
OF_LINES = pytest.mark.parametrize(
    "agent", [one for one in AGENTS.values() if one.is_lines], ids=lambda one: one.name
)


@EVERY
def test_a_session_is_known_by_its_beginning(agent):
    data = agent.session()
    assert kind_of(data).name == read_document(data).format == agent.name
    (piece,) = pieces(data.splitlines(keepends=True))
    assert (piece.data, piece.line) == (data, 0)


@pytest.mark.parametrize("interrupted", [False, True])
@EVERY
def test_what_an_agent_sends_next_is_its_history_as_it_is(agent, interrupted):
    """Nothing is repaired in it: an open call stays open."""
    document = read_document(agent.session(interrupted=interrupted))
    sent = document.sent
    if agent.name in ("opencode", "pi"):
        assert sent is None
        return
    read = decode_request(sent.body, sent.format)
    *history, prompt = read.conversation.messages
    assert (prompt.role, prompt.text) == ("user", "Go on.")
    said = list(document.request.conversation.messages)
    assert [one.role for one in history] == [one.role for one in said]
    assert [one.text for one in history] == [one.text for one in said]
    calls, own = read.conversation.ledger, document.request.conversation.ledger
    assert [(one.call.raw_id, one.outcome) for one in calls.values()] == [
        (one.call.raw_id, one.outcome) for one in own.values()
    ]
    assert len(calls.open) == interrupted
    assert read.model == document.request.model


@EVERY
def test_half_of_a_character_is_replaced_and_told(agent):
    data = agent.session().replace(b"2 passed", rb"2 passed \ud83d")
    assert kind_of(data).name == agent.name
    assert "2 passed \ufffd" in dump(conversation(data)).decode()
    assert "lone_surrogate" in codes(data)
    assert "lone_surrogate" not in codes(data.replace(rb"\ud83d", rb"\ud83d\ude00"))


@EVERY
def test_all_that_was_said_is_read(agent):
    data = agent.session()
    asked, called, answered, said = conversation(data).messages
    assert [one.role for one in (asked, called, answered, said)] == [
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    assert (asked.text, said.text) == ("Run the tests.", "They pass.")
    thought, call = called.blocks
    assert isinstance(thought, Thinking)
    assert thought.text.endswith("Run them.")
    assert (call.raw_id, call.args["command"]) in (("first", "pytest"), ("first", ["pytest"]))
    (result, *_) = answered.results
    assert "2 passed" in result.text
    assert PNG in [
        block.data
        for message in conversation(data).messages
        for one in (*message.blocks, *(result.content or ()))
        for block in (one, *(getattr(one, "content", None) or ()))
        if isinstance(block, Media)
    ]
    assert called.origin.model == said.origin.model
    assert read_document(data).request.model == said.origin.model != ""
    assert not conversation(data).ledger.open


@pytest.mark.parametrize(
    ("name", "domain", "kind"),
    [
        ("claude-code", "anthropic", "signature"),
        ("codex", "openai", "encrypted"),
        ("opencode", "anthropic", "signature"),
        ("pi", "anthropic", "signature"),
    ],
)
def test_a_signature_is_kept_with_its_domain(name, domain, kind):
    called = list(conversation(AGENTS[name].session()).messages)[1]
    (seal,) = called.blocks[0].opaque
    assert (seal.domain, seal.kind) == (domain, kind)


@EVERY
@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("interrupted", [False, True])
def test_every_provider_accepts_what_is_rendered(agent, provider, interrupted):
    request = read_document(agent.session(interrupted=interrupted)).request
    encoded = encode_request(request, provider)
    assert not verify(encoded.body, provider)
    assert ("result_made_up" in encoded.report) == interrupted


@EVERY
def test_an_interrupted_session_has_an_open_call(agent):
    (one,) = conversation(agent.session(interrupted=True)).ledger.open
    assert one.call.raw_id == "second"


@OF_LINES
def test_a_damaged_line_is_left_out(agent):
    """Wherever the damage is, the other lines are read."""
    first, *rest = agent.session().splitlines(keepends=True)
    data = b"".join([first, b'{"type": "user", \xff\n', b"[1]\n", *rest])
    assert codes(data).count("unreadable_line") == 2
    assert told(data) == told(agent.session())


@OF_LINES
def test_a_last_line_that_was_cut_is_told(agent):
    data = agent.session(interrupted=True)[:-5]
    assert "truncated_line" in codes(data)
    assert [text for _, text in told(data)][-1] == "Again."


@EVERY
@pytest.mark.parametrize("data", [b"", b"\n\n"])
def test_an_empty_file_is_no_session(agent, data):
    with pytest.raises(MalformedBody):
        read_document(data, agent.name)


@OF_LINES
def test_a_session_in_which_nothing_was_said_is_said_to_be_one(agent):
    first = agent.session().partition(b"\n")[0]
    with pytest.raises(MalformedBody, match=f"no message in this session of {agent.name}"):
        read_document(first, agent.name)


@EVERY
@pytest.mark.parametrize("value", [None, 7, "x", [], [7], {"type": 7}, {"message": {"role": 1}}])
def test_fields_of_any_shape_raise_nothing_of_their_own(agent, value):
    """Each field of each entry in turn is something else. Only the project's errors come out."""
    entries = agent.healthy()
    for at, entry in enumerate(entries):
        for name in entry:
            damaged = [*entries[:at], {**entry, name: value}, *entries[at + 1 :]]
            data = as_lines(damaged) if agent.is_lines else as_export(damaged)
            with contextlib.suppress(MalformedBody):
                encode_request(read_document(data, agent.name).request, "anthropic")
            write_back = kind_of(data, agent.name).write_back
            if write_back is not None:
                write_back(data + as_lines(agent.second_call()))


def test_bodies_are_not_taken_for_sessions():
    body = {"messages": [{"role": "user", "content": '"sessionId" "session" "info"'}]}
    for extra in ({}, {"instructions": "x"}, {"metadata": {"sessionId": "x", "type": "user"}}):
        assert not kind_of(json.dumps({**extra, **body}).encode()).is_session
    items = {"input": [], "instructions": "x", "id": "y", "timestamp": "z"}
    assert not kind_of(json.dumps(items).encode()).is_session
