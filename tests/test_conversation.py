"""The conversation's own surface: ways to append, forks, equality, what it says of itself."""

import pytest

from canonicall import (
    CallClosed,
    Conversation,
    InvalidValue,
    Media,
    Message,
    Outcome,
    Text,
    ToolCall,
    ToolResult,
    UnknownCall,
    dump,
    load,
)


def test_each_way_to_append_goes_through_the_one_boundary():
    """The shortcuts write exactly what `append` writes for the entry they stand for."""
    short, long = Conversation(), Conversation()
    image = Media(media_type="image/png", data="aGk=")
    short.system("Be brief.")
    long.append(Message("system", (Text(text="Be brief."),)))
    short.user("Hello")
    long.append(Message("user", (Text(text="Hello"),)))
    short.user([Text(text="See:"), image])
    long.append(Message("user", (Text(text="See:"), image)))
    calls = short.assistant(ToolCall(id="c", name="f")).calls
    long.append(Message("assistant", (ToolCall(id="c", name="f"),)))
    short.close(calls[0].id, Outcome.DENIED, why="no")
    long.append(CallClosed(calls[0].id, Outcome.DENIED, "no"))
    assert short == long
    assert dict(short.ledger) == dict(long.ledger)


def test_results_take_text_a_block_or_blocks():
    image = Media(media_type="image/png", data="aGk=")
    conversation = Conversation()
    conversation.assistant([ToolCall(id=id, name="f") for id in "abc"])
    conversation.result("a", "text")
    conversation.result("b", image)
    conversation.result("c", [Text(text="x"), image], error=True)
    contents = [one.result.content for one in conversation.ledger.values()]
    assert contents == [(Text(text="text"),), (image,), (Text(text="x"), image)]
    assert [one.outcome for one in conversation.ledger.values()] == [
        Outcome.COMPLETED,
        Outcome.COMPLETED,
        Outcome.FAILED,
    ]


def test_a_refused_entry_leaves_ids_and_keys_as_they_were():
    """After a failed append the conversation goes on as if nothing had been tried."""
    tried, untouched = Conversation(), Conversation()
    with pytest.raises(InvalidValue):
        tried.assistant([ToolCall(id="c", name="f"), ToolCall(id="d", name="f", args={"x": {1}})])
    for conversation in (tried, untouched):
        conversation.assistant([ToolCall(id="c", name="f")])
    assert tried == untouched
    assert dict(tried.ledger) == dict(untouched.ledger)


def test_it_says_what_it_is():
    conversation = Conversation()
    conversation.user("Hi")
    conversation.assistant([ToolCall(id="c", name="f"), ToolCall(id="d", name="f")])
    conversation.result("c", "x")
    assert repr(conversation) == "<Conversation: 3 entries, 2 tool calls, 1 open>"
    assert [message.role for message in conversation.messages] == ["user", "assistant", "tool"]
    assert conversation != "something else"
    with pytest.raises(TypeError):
        hash(conversation)


def test_message_views():
    message = Message(
        "assistant",
        (Text(text="one"), ToolCall(id="c", name="f"), Text(text="two")),
    )
    assert message.text == "one\ntwo"
    assert [call.name for call in message.calls] == ["f"]
    assert message.results == ()


def test_an_orphan_closing_is_kept_and_reported():
    conversation = Conversation()
    appended = conversation.close("call_9", Outcome.DENIED)
    assert [one.code for one in appended.findings] == ["orphan_closing"]
    assert len(conversation) == 1
    assert "orphan_closing" in conversation.report


def opened(**options):
    conversation = Conversation(**options)
    (call,) = conversation.assistant(ToolCall(id="call_1", name="f")).calls
    return conversation, call


@pytest.mark.parametrize(
    "entry",
    [
        Message("tool", (ToolResult(call_id="call_2", content=()),)),
        Message("tool", (ToolResult(call_id="hist_tool_gone", content=(), bound=True),)),
        Message("tool", tuple(ToolResult(call_id=id, content=()) for id in ("call_1", "call_2"))),
        Message("tool", (ToolResult(content=()), ToolResult(content=()))),
        Message("user", (Text(text="Here:"), ToolResult(call_id="call_2", content=()))),
        CallClosed("call_2", Outcome.DENIED),
        CallClosed("hist_tool_gone", Outcome.DENIED, bound=True),
    ],
)
def test_a_strict_conversation_refuses_results_of_unknown_calls(entry):
    """Nothing is written; the error names the id, and the calls that wait."""
    strict, call = opened(strict=True)
    before = dict(strict.ledger)
    with pytest.raises(UnknownCall, match="entries\\[1\\]: ") as caught:
        strict.append(entry)
    assert caught.value.known == (call.id,)
    assert f"Open calls: {call.id} (call_1)." in str(caught.value)
    assert caught.value.id in str(caught.value)
    assert (len(strict), dict(strict.ledger), len(strict.report)) == (1, before, 0)
    lenient, _ = opened()
    assert {"orphan_result", "orphan_closing"} & {
        one.code for one in lenient.append(entry).findings
    }


def test_a_strict_conversation_takes_what_belongs_to_its_calls():
    strict, call = opened(strict=True)
    lenient, _ = opened()
    for conversation in (strict, lenient):
        conversation.result("call_1", "one")
        conversation.result(call.id, "again")
        conversation.assistant([ToolCall(name="f"), ToolCall(name="g")])
        conversation.append(Message("tool", (ToolResult(content=(), name="g"), ToolResult())))
    assert strict == lenient
    assert strict.report == lenient.report


def test_a_fork_of_a_strict_conversation_is_strict():
    strict, _ = opened(strict=True)
    with pytest.raises(UnknownCall, match="call_2"):
        strict.fork().result("call_2", "?")


def test_a_strict_conversation_says_so_where_no_call_waits():
    with pytest.raises(UnknownCall, match=r"no call has the id 'call_2'. No call is open."):
        Conversation(strict=True).result("call_2", "?")


def test_what_was_placed_for_good_is_written_when_a_later_result_finds_no_call():
    """Entries written at once are those that are read back one by one."""
    conversation = Conversation.of(
        [
            Message("assistant", (ToolCall(name="f", args={}),)),
            Message("tool", (ToolResult(content=(Text(text="1"),)), ToolResult(name="g"))),
            Message("assistant", ()),
        ]
    )
    first, loose = conversation.entries[1].blocks
    assert (first.placed, loose.placed) == (True, False)
    assert load(dump(conversation)).conversation == conversation
