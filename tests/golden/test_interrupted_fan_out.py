"""One reply with five calls, one of them answered, then the provider changes.

    user -> [thinking] call C1 -> result C1 -> [thinking] calls C2..C6 -> result C3 -> user

C1 and C3 are real, C2, C4, C5 and C6 are told as interrupted, in call order, with the target's ids.
"""

import pytest

from canonicall import Conversation, Origin, Outcome, Text, Thinking, ToolCall, wording
from canonicall.codec import encode_request
from canonicall.facts.registry import get_target
from canonicall.request import Request
from canonicall.verify import verify

LOST = wording(Outcome.RESULT_LOST)
INTERRUPTED = wording(Outcome.UNKNOWN)


def conversation(*, closed=False):
    chat = Conversation()
    chat.user("Look into it.")
    chat.assistant(
        [Thinking("First one file."), ToolCall(id="hist_tool_1", name="read_file", args={"n": 1})],
        origin=Origin("gemini", "gemini"),
    )
    chat.result("hist_tool_1", "one")
    chat.assistant(
        [
            Thinking("Now the rest."),
            *(ToolCall(id=f"hist_tool_{n}", name="read_file", args={"n": n}) for n in range(2, 7)),
        ],
        origin=Origin("gemini", "gemini"),
    )
    chat.result("hist_tool_3", "three")
    if closed:
        chat.close_open(Outcome.UNKNOWN)
    chat.user("And?")
    return chat


def body_for(target, **options):
    encoded = encode_request(Request(conversation(**options), model="m"), target)
    assert not verify(encoded.body, get_target(target))
    return encoded.body


def test_openai():
    messages = body_for("openai")["messages"]
    assert [message["role"] for message in messages] == [
        "user", "assistant", "tool", "assistant", *["tool"] * 5, "user",
    ]  # fmt: skip
    assert [call["id"] for call in messages[3]["tool_calls"]] == [f"call_{n}" for n in range(2, 7)]
    assert [(one["tool_call_id"], one["content"]) for one in messages[4:9]] == [
        ("call_2", f"Error: {LOST}"),
        ("call_3", "three"),
        ("call_4", f"Error: {LOST}"),
        ("call_5", f"Error: {LOST}"),
        ("call_6", f"Error: {LOST}"),
    ]
    assert messages[2]["content"] == "one"


def test_anthropic():
    messages = body_for("anthropic", closed=True)["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant"] * 2 + ["user"]
    results = messages[4]["content"]
    assert [block["type"] for block in results] == ["tool_result"] * 5 + ["text"]
    assert [block["tool_use_id"] for block in results[:5]] == [f"toolu_{n}" for n in range(2, 7)]
    assert [block.get("is_error", False) for block in results[:5]] == [
        True,
        False,
        True,
        True,
        True,
    ]
    texts = [
        block["content"] if isinstance(block["content"], str) else block["content"][0]["text"]
        for block in results[:5]
    ]
    assert texts == [INTERRUPTED, "three", INTERRUPTED, INTERRUPTED, INTERRUPTED]


@pytest.mark.parametrize("target", ["kimi", "kimi-hosted"])
def test_kimi(target):
    messages = body_for(target)["messages"]
    calls = [call["id"] for message in messages for call in message.get("tool_calls", ())]
    results = [message["tool_call_id"] for message in messages if message["role"] == "tool"]
    assert calls == results == [f"functions.read_file:{n}" for n in range(6)]


def test_mistral():
    messages = body_for("mistral")["messages"]
    calls = [call["id"] for message in messages for call in message.get("tool_calls", ())]
    results = [message["tool_call_id"] for message in messages if message["role"] == "tool"]
    assert calls == results
    assert len(set(calls)) == 6
    assert all(len(id) == 9 and id.isalnum() for id in calls)


@pytest.mark.parametrize("target", ["openai", "anthropic", "kimi", "mistral", "gemini"])
def test_reasoning_of_another_provider_is_not_sent(target):
    assert "First one file." not in str(body_for(target))


def test_the_words_of_the_model_are_kept_in_order():
    chat = conversation()
    chat.assistant([Text("Done.")])
    chat.user("Thanks.")
    body = encode_request(Request(chat, model="m"), "anthropic").body
    assert [message["role"] for message in body["messages"]] == ["user", "assistant"] * 3 + ["user"]
