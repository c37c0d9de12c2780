"""Ids in responses, whoever answered and whoever asked: A5, A18 to A20 of the field catalogue."""

import re

import pytest

from batches import each
from canonicall.codec.decode import decode_response
from canonicall.codec.encode import encode_response
from scenarios.ids_support import ids

RESPONSES = {
    "openai-chat": {
        "choices": [{"message": {"role": "assistant", "tool_calls": [
            {"id": "call_X1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        ]}, "finish_reason": "tool_calls"}]
    },
    "anthropic": {
        "content": [{"type": "tool_use", "id": "toolu_X1", "name": "f", "input": {}}],
        "stop_reason": "tool_use",
    },
    "openai-responses": {
        "output": [
            {"type": "function_call", "id": "fc_1", "call_id": "call_X1", "name": "f", "arguments": "{}"}
        ],
        "status": "completed",
    },
    "bedrock": {
        "output": {"message": {"role": "assistant", "content": [
            {"toolUse": {"toolUseId": "tooluse_X1", "name": "f", "input": {}}}
        ]}},
        "stopReason": "tool_use",
    },
    "gemini": {
        "candidates": [{"content": {"role": "model", "parts": [
            {"functionCall": {"id": "X1", "name": "f", "args": {}}, "thoughtSignature": "U0lH"}
        ]}, "finishReason": "STOP"}]
    },
}  # fmt: skip


@each("front", RESPONSES)
@each("back", RESPONSES)
def test_a18_a_response_keeps_its_ids_through_every_front(back, front):
    """Whoever answered and whoever asked: the id is there, and nothing else is in it."""
    reply = decode_response(RESPONSES[back], back, provider=back.partition("-")[0])
    (given,), _ = ids(RESPONSES[back])
    assert ids(encode_response(reply, front))[0] == [given]


NO_IDS = {
    "openai-chat": {"choices": [{"message": {"role": "assistant", "tool_calls": [
        {"function": {"name": "f", "arguments": "{}"}}, {"function": {"name": "f", "arguments": "{}"}}
    ]}, "finish_reason": "tool_calls"}]},
    "gemini": {"candidates": [{"content": {"role": "model", "parts": [
        {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "U0lH"}, {"functionCall": {"name": "f", "args": {}}}
    ]}, "finishReason": "STOP"}]},
}  # fmt: skip


@pytest.mark.parametrize("back", NO_IDS)
@pytest.mark.parametrize(
    "front",
    [
        "openai-responses",
        "openai-chat",
        "anthropic",
        "bedrock",
    ],
)
def test_a19_calls_without_ids_reach_the_client_with_ids(back, front):
    """Two calls without ids: the client sees two, with different ids, the same every time."""
    first, again = (
        ids(encode_response(decode_response(NO_IDS[back], back), front))[0] for _ in range(2)
    )
    assert first == again
    assert len(set(first)) == 2
    assert all(first)


def test_a5_an_anthropic_client_of_gemini_sees_a_clean_id():
    """The whole response, not the stream: an id Claude's clients know, without the signature."""
    reply = decode_response(NO_IDS["gemini"], "gemini", provider="gemini")
    calls, _ = ids(encode_response(reply, "anthropic"))
    assert all(re.fullmatch("[A-Za-z0-9_-]{1,64}", id) for id in calls)
    assert "U0lH" not in str(calls)


def test_a20_items_made_for_a_client_have_the_prefix_of_their_type():
    """A thought, words and a call of Claude, shown to a Responses client."""
    content = [
        {"type": "thinking", "thinking": "Hm.", "signature": "sig"},
        {"type": "text", "text": "So."},
        {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}},
    ]
    reply = decode_response({"content": content, "stop_reason": "tool_use"}, "anthropic")
    items = encode_response(reply, "openai-responses")["output"]
    assert [(one["type"], one["id"].partition("_")[0]) for one in items] == [
        ("reasoning", "rs"),
        ("message", "msg"),
        ("function_call", "fc"),
    ]
