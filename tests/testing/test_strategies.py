"""The public strategies: what they make is as bad as it was promised to be, or sound."""

import subprocess
import sys
from contextlib import suppress

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from canonicall import (
    CanonicallError,
    Conversation,
    Message,
    ToolCall,
    decode_request,
    encode_request,
    verify,
)
from canonicall.testing import strategies
from canonicall.testing.exchange import SimRequest
from canonicall.testing.simulator import Simulator
from canonicall.testing.strategies import (
    assistant_messages,
    conversations,
    damaged_bodies,
    entry_lists,
    messages,
    offers,
    replies,
    requests,
    tools,
)
from testing.asking import ASKED, KEY

from bodies import BASES

every_format = pytest.mark.parametrize("format", BASES)
without_shrinking = settings(max_examples=5000, phases=[Phase.generate])
"""That there is one is all that is asked, not how small it can be."""

WITHOUT = """
import sys
sys.modules["hypothesis"] = None
import canonicall.testing.strategies as strategies
from canonicall.testing import Simulator
try:
    strategies.conversations
except ImportError as error:
    print(type(error).__name__, error)
"""


def test_all_names_lead_to_strategies():
    assert set(strategies.__all__) == {*strategies._HOME, "HypothesisMissing"}
    assert strategies.__all__ == sorted(strategies.__all__)
    for name in strategies._HOME:
        assert getattr(strategies, name).__doc__


def test_other_names_are_refused_as_usual():
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = strategies.nothing


def test_hypothesis_is_loaded_only_for_strategies_and_missed_in_clear_words():
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True
    )
    assert done.stdout.split(" ")[0] == "HypothesisMissing"
    assert "pip install hypothesis" in done.stdout


def raw_ids(conversation):
    return [one.call.raw_id for one in conversation.ledger.values()]


@pytest.mark.parametrize(
    "is_so",
    [
        lambda talk: len(set(raw_ids(talk))) < len(raw_ids(talk)),
        lambda talk: talk.ledger.open != (),
        lambda talk: any(one.call.args is None for one in talk.ledger.values()),
        lambda talk: any(not one.name for one in talk.ledger.values()),
        lambda talk: "orphan_result" in talk.report,
        lambda talk: any(one.closed for one in talk.ledger.values()),
        lambda talk: any(message.partial for message in talk.messages),
    ],
    ids=["reused ids", "open", "arguments", "no name", "orphan", "closed", "partial"],
)
def test_conversations_are_damaged(is_so):
    """Every kind of damage is among them."""
    assert is_so(find(conversations(), is_so, settings=without_shrinking))


@given(conversations(sound=True))
def test_sound_conversations_are_whole(conversation):
    assert conversation.ledger.open == ()
    for one in conversation.ledger.values():
        assert one.name
        assert one.result is not None


@given(entry_lists(), messages(), assistant_messages(), replies(), tools(), offers(least=1))
def test_what_is_made_is_what_the_name_says(entries, message, reply_in_history, reply, tool, offer):
    Conversation.of(entries).append(message)
    assert isinstance(message, Message)
    assert reply_in_history.role == reply.message.role == "assistant"
    assert tool.name
    assert len({one.name for one in offer}) == len(offer) > 0


@every_format
@settings(max_examples=10)
@given(requests())
def test_any_request_renders_and_verifies_clean(format, request_made):
    """L1, with choices and parameters."""
    target = BASES[format]
    assert list(verify(encode_request(request_made, target).body, target)) == []


@every_format
@settings(max_examples=20)
@given(st.data())
def test_a_damaged_body_raises_nothing_but_our_own_errors(format, data):
    """Whatever is in it, it is judged; it is read and written again, or refused in words."""
    body, target = data.draw(damaged_bodies(format)), BASES[format]
    verify(body, target)
    with suppress(CanonicallError):
        verify(encode_request(decode_request(body, format), target).body, target)


@every_format
@settings(max_examples=10)
@given(st.data())
def test_a_damaged_body_is_answered_by_a_simulator(format, data):
    body = data.draw(damaged_bodies(format))
    provider, path, *_ = ASKED[format]
    answer = Simulator(provider).answer(SimRequest.of("POST", path, body, KEY))
    assert 200 <= answer.status < 500


def test_calls_of_every_kind_are_made():
    def has(kind):
        return lambda message: any(call.kind == kind for call in message.calls)

    for kind in ("function", "custom"):
        found = find(assistant_messages(), has(kind), settings=without_shrinking)
        assert isinstance(found.calls[0], ToolCall)
