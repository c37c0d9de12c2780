"""Laws of reading again: a request costs less the second time, and says the same."""

import copy

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from canonicall import decode_request, encode_request
from canonicall.errors import CanonicallError
from canonicall.facts.registry import get_target
from canonicall.rereading import Rereader
from canonicall.testing.strategies import conversations
from canonicall.transcript.render import Renderer

from bodies import TOOLS, encoded

FORMATS = {"openai-chat": "openai:gpt-4o", "anthropic": "anthropic:claude-sonnet-4-5"}
TARGETS = [get_target(name) for name in ("anthropic:claude-x", "gemini:gemini-3-pro", "mistral:m")]


def marked(message):
    """The same message with a cache mark, as clients move it on."""
    changed = copy.deepcopy(message)
    content = changed.get("content")
    if isinstance(content, str):
        content = changed["content"] = [{"type": "text", "text": content}]
    if content and isinstance(content[-1], dict):
        content[-1]["cache_control"] = {"type": "ephemeral"}
    return changed


def states(body, cuts):
    """The same conversation as a client sends it at several points, now and then with marks."""
    messages = body["messages"]
    for cut, is_marked in cuts:
        known = messages[: max(1, min(cut, len(messages)))]
        if is_marked:
            known = [*known[:-1], marked(known[-1])]
        yield {**body, "messages": copy.deepcopy(known)}


@pytest.mark.parametrize("format", FORMATS)
@settings(max_examples=25)
@given(
    conversations(),
    st.lists(st.tuples(st.integers(1, 12), st.booleans()), min_size=2, max_size=6),
)
def test_reading_again_says_the_same(format, conversation, cuts):
    reader, renderers = Rereader(format), {target: Renderer(target) for target in TARGETS}
    whole = encoded(conversation, get_target(FORMATS[format]), TOOLS).body
    for body in states(whole, cuts):
        fresh = decode_request(copy.deepcopy(body), format)
        again = reader.decode(body)
        assert again.conversation == fresh.conversation
        assert dict(again.conversation.ledger) == dict(fresh.conversation.ledger)
        assert again.findings == fresh.findings
        assert again.tools == fresh.tools
        for target, renderer in renderers.items():
            expected = encode_request(fresh, target)
            made = encode_request(again, target, renderer=renderer)
            assert made.data == expected.data
            assert made.report == expected.report


@pytest.mark.parametrize("messages", [[], [{"role": "user", "content": "Hi."}]])
def test_what_stands_before_the_messages_is_read_once(messages):
    """Also while there is no message, or a single one, as in the first request of a session."""
    body = {"model": "m", "max_tokens": 9, "system": "Be brief.", "messages": messages}
    reader = Rereader("anthropic")
    for _ in range(2):
        expected = decode_request(body, "anthropic").conversation
        assert reader.decode(body).conversation == expected
        assert [one.text for one in expected.messages][:1] == ["Be brief."]


@pytest.mark.parametrize("format", FORMATS)
def test_a_conversation_that_was_changed_by_its_user_is_not_known_any_more(format):
    reader = Rereader(format)
    body = {"model": "m", "messages": [{"role": "user", "content": "One."}], "max_tokens": 9}
    reader.decode(body).conversation.user("Put in by somebody else.")
    longer = {**body, "messages": [*body["messages"], {"role": "assistant", "content": "Two."}]}
    assert reader.decode(longer).conversation == decode_request(longer, format).conversation


OTHERS = [
    {},
    {"temperature": 1},
    {"temperature": 1.0},
    {"temperature": 0.5, "x-unknown": 1},
    {"temperature": 0.5, "x-unknown": True},
    {"tool_choice": {"type": "surprise"}},
    {"model": "other"},
]


@pytest.mark.parametrize("format", FORMATS)
@given(st.lists(st.sampled_from(OTHERS), min_size=2, max_size=6))
def test_settings_that_change_in_the_midst_are_read_anew(format, changes):
    """Also where the old ones and the new ones are equal, but not written alike."""
    reader = Rereader(format)
    body = {"model": "m", "messages": [{"role": "user", "content": "One."}], "max_tokens": 9}
    for change in changes:
        asked = {**body, **change}
        fresh, again = decode_request(asked, format), reader.decode(asked)
        for target in TARGETS:
            expected = encode_request(fresh, target)
            assert encode_request(again, target).data == expected.data
            assert encode_request(again, target).report == expected.report
        # Numbers that are equal are not yet the same.
        assert repr(again) == repr(fresh)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    "messages", [None, "hello", 7, [None], [{"role": "nobody"}], [{"role": "user", "content": 7}]]
)
def test_what_cannot_be_read_is_told_in_the_same_words(format, messages):
    body = {"model": "m", "messages": messages}

    def outcome(decode):
        try:
            return msgspec.to_builtins([one.code for one in decode().findings])
        except CanonicallError as error:
            return str(error)

    reader = Rereader(format)
    assert outcome(lambda: reader.decode(body)) == outcome(lambda: decode_request(body, format))


def test_formats_whose_items_belong_together_are_read_whole():
    body = {"model": "m", "input": [{"role": "user", "content": "Hello."}]}
    reader = Rereader("openai-responses")
    assert reader.decode(body).conversation == decode_request(body, "openai-responses").conversation
