"""Laws of growing bodies: what was sent stays sent, and reuse changes nothing. L4 and L9."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from canonicall import Conversation, Message, Text, ToolCall
from canonicall.testing.conformance.growth import is_prefix, shared
from canonicall.testing.strategies import entry_lists
from canonicall.transcript.render import Renderer

from bodies import TOOLS, encoded, every_kind

offers = st.sampled_from([(), TOOLS[:2], TOOLS])
SHORTEST = [Message("user", (Text(text="Hello."),)), Message("assistant", (Text(text="Hi."),))]
TO_BE_TRIMMED = [*SHORTEST[:1], Message("assistant", (Text(text="Hi. "),)), SHORTEST[0]]
OPEN_CALL = [Message("assistant", (ToolCall(id="call_0", name="f", args={}),)), SHORTEST[0]]


def states(conversation):
    """How each call ended, as far as it is known."""
    return {
        id: (one.outcome, one.result, one.closed, one.why)
        for id, one in conversation.ledger.items()
    }


def growth(appended, target, tools):
    """The bodies before and after each entry that changes nothing about the calls before it."""
    conversation = Conversation()
    before, known = encoded(conversation, target, tools), {}
    for entry in appended:
        conversation.append(entry)
        after, told = encoded(conversation, target, tools), states(conversation)
        if known.items() <= told.items():
            yield before, after
        before, known = after, told


@settings(max_examples=40)
@given(entry_lists(), offers)
@every_kind
def test_a_longer_conversation_begins_with_the_messages_of_the_shorter(target, appended, tools):
    """L4 on the list of messages.

    Words of the same role may join the last message at its end, where the target wants one message
    in place of two.
    """
    for before, after in growth(appended, target, tools):
        assert shared(before, after) is not None


@settings(max_examples=40)
@example(SHORTEST, TOOLS)
@example(TO_BE_TRIMMED, ())
@given(entry_lists(), offers)
@every_kind
def test_a_longer_conversation_begins_with_the_bytes_of_the_shorter(target, appended, tools):
    """L4 on bytes: once something was said, everything before the new message is the same.

    Tools declared because the history calls them stand before the messages: the finding says so.
    """
    for before, after in growth(appended, target, tools):
        assert is_prefix(before, after)


@settings(max_examples=40)
@example(OPEN_CALL, [(), TOOLS])
@given(entry_lists(), st.lists(offers, min_size=1))
@every_kind
def test_a_renderer_that_is_used_again_gives_the_same_bytes(target, appended, offered):
    """L9 on whole bodies, after every single entry, whatever tools are offered meanwhile."""
    conversation, renderer = Conversation(), Renderer(target)
    for index, entry in enumerate(appended):
        conversation.append(entry)
        tools = offered[index % len(offered)]
        fresh = encoded(conversation, target, tools)
        again = encoded(conversation, target, tools, renderer)
        assert again.data == fresh.data
        assert again.report == fresh.report


@settings(max_examples=40)
@given(entry_lists(), st.lists(st.tuples(st.integers(0, 8), entry_lists()), max_size=4))
@every_kind
def test_a_renderer_of_conversations_that_begin_alike_gives_the_same_bytes(target, first, others):
    """L9 where a client goes on from an earlier point, with other words, again and again."""
    renderer = Renderer(target)
    conversation = Conversation.of(first)
    encoded(conversation, target, TOOLS, renderer)
    for at, more in others:
        # Entries up to a point are shared as they are, the rest is another.
        shared_part = conversation.entries[: min(at, len(conversation))]
        conversation = Conversation.of(shared_part)
        conversation._entries[:] = shared_part
        conversation.extend(more)
        fresh = encoded(conversation, target, TOOLS)
        again = encoded(conversation, target, TOOLS, renderer)
        assert again.data == fresh.data
        assert again.report == fresh.report
