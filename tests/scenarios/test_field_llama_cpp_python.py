"""llama-cpp-python's server: every call twice, a string beside calls, and a choice by name."""

import json

import pytest

from canonicall import (
    Agent,
    BlockStarted,
    StreamDecoder,
    ToolCallAccumulator,
    decode_request,
    decode_response,
    tool,
    translate,
    verify,
)
from canonicall.folding import events_of
from scenarios.field_support import USER

HOST = "llama-cpp-python"
TEXT = '{"amount": 5}'
CALL = {
    "id": "call__0_pay_cmpl-1",
    "type": "function",
    "function": {"name": "pay", "arguments": TEXT},
}
BOTH = {"function_call": CALL["function"], "tool_calls": [CALL]}
REPLY = {
    "id": "chatcmpl-1",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": None, **BOTH},
            "finish_reason": "tool_calls",
        }
    ],
}
TOOLS = [
    {
        "type": "function",
        "function": {"name": "pay", "parameters": {"type": "object", "properties": {}}},
    }
]


def frames(*pieces, legacy=None):
    """The chunks of a streamed call: each piece is in both fields, with the name and the id."""
    deltas = [{"role": "assistant", "content": None, "function_call": None, "tool_calls": None}]
    for piece in pieces:
        function = {"name": "pay", "arguments": piece}
        told = [{"index": 0, **CALL, "function": function}]
        deltas.append(
            {"role": None, "content": None, "function_call": legacy or function, "tool_calls": told}
        )
    chunks = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    chunks.append({"index": 0, "delta": deltas[0], "finish_reason": "tool_calls"})
    return b"".join(
        b"data: %b\n\n" % json.dumps({"id": "chatcmpl-1", "choices": [one]}).encode()
        for one in chunks
    )


def decoded(data):
    decoder = StreamDecoder("openai-chat")
    return decoder.feed(data) + decoder.close()


def test_a_call_in_both_fields_of_a_whole_reply_is_one_call():
    reply = decode_response(REPLY, "openai-chat")
    (call,) = reply.calls
    assert (call.id, call.name, call.args) == (CALL["id"], "pay", {"amount": 5})
    assert [one.code for one in reply.findings] == ["call_twice"]


@pytest.mark.parametrize(
    "pieces", [[TEXT], ['{"amount"', ": 5}"], list(TEXT), [TEXT, ""], ["", TEXT]]
)
def test_a_call_in_both_fields_of_a_stream_is_one_call(pieces):
    data = frames(*pieces)
    events = decoded(data)
    assert sum(isinstance(event, BlockStarted) for event in events) == 1
    (call,) = events[-1].reply.calls
    assert (call.id, call.raw, call.args) == (CALL["id"], TEXT, {"amount": 5})
    accumulator = ToolCallAccumulator("openai-chat")
    accumulator.add_chunk(data)
    accumulator.close()
    assert len(accumulator.get_completed()) == 1


def test_a_stream_that_breaks_off_has_one_call_too():
    events = decoded(b"\n\n".join(frames('{"amount"').split(b"\n\n")[:2]) + b"\n\n")
    (call,) = events[-1].reply.calls
    assert call.truncated


def test_a_call_in_both_fields_of_a_history_is_one_call():
    body = {
        "model": "m",
        "messages": [
            USER,
            {"role": "assistant", "content": None, **BOTH},
            {"role": "tool", "tool_call_id": CALL["id"], "content": "paid"},
            {"role": "user", "content": "Thanks."},
        ],
    }
    request = decode_request(body, "openai-chat")
    assert len(request.conversation.ledger) == 1
    for target in (HOST, "anthropic", "openai"):
        encoded = translate(body, "openai-chat", target)
        assert "result_made_up" not in encoded.report
        assert json.dumps(encoded.body).count("paid") == 1


@pytest.mark.parametrize(
    "legacy", [{"name": "ask", "arguments": "{}"}, {"name": "pay", "arguments": "{}"}]
)
def test_another_call_in_the_legacy_field_is_another_call(legacy):
    message = {"role": "assistant", "content": None, "tool_calls": [CALL], "function_call": legacy}
    reply = decode_response({"choices": [{"message": message}]}, "openai-chat")
    assert [call.name for call in reply.calls] == ["pay", legacy["name"]]
    streamed = decoded(frames(TEXT, legacy=legacy))
    assert [call.name for call in streamed[-1].reply.calls] == ["pay", legacy["name"]]
    assert sum(isinstance(event, BlockStarted) for event in streamed) == 2


@pytest.mark.parametrize("is_streamed", [False, True])
async def test_an_agent_pays_once(is_streamed):
    paid = []

    @tool
    def pay(amount: int) -> str:
        """Pay an amount."""
        paid.append(amount)
        return "paid"

    done = decode_response(
        {
            "choices": [
                {"message": {"role": "assistant", "content": "Done."}, "finish_reason": "stop"}
            ]
        },
        "openai-chat",
    )

    whole = events_of(decode_response(REPLY, "openai-chat"))
    replies = [decoded(frames(*TEXT)) if is_streamed else whole, events_of(done)]

    class Model:
        async def ask(self, request, target, *, notice=None):
            for event in replies.pop(0):
                yield event

    session = Agent(Model(), HOST, tools=[pay]).session()
    last = [event async for event in session.send("Pay 5.")][-1]
    assert (last.reason, paid) == ("answered", [5])


def test_a_message_with_calls_alone_has_an_empty_string():
    """Null is refused: "Input should be a valid string"."""
    body = {
        "model": "m",
        "messages": [
            USER,
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": CALL["id"], "content": "paid"},
        ],
        "tools": TOOLS,
    }
    assert "empty_message" in verify(body, HOST)
    encoded = translate(body, "openai-chat", HOST)
    assert encoded.body["messages"][1]["content"] == ""
    assert not verify(encoded.body, HOST)


@pytest.mark.parametrize("source", ["openai-chat", "anthropic"])
def test_a_choice_by_name_is_sent_as_it_is(source):
    chosen = {"type": "function", "function": {"name": "pay"}}
    body = {"model": "m", "messages": [USER], "tools": TOOLS, "tool_choice": chosen}
    if source == "anthropic":
        offered = {"name": "pay", "input_schema": {"type": "object"}}
        body |= {
            "max_tokens": 9,
            "tools": [offered],
            "tool_choice": {"type": "tool", "name": "pay"},
        }
    encoded = translate(body, source, HOST)
    assert encoded.body["tool_choice"] == chosen
    assert "choice_weakened" not in encoded.report
