"""Conversations that change provider and return: pairs, signatures and cache marks come along."""

import pytest

from canonicall import (
    Conversation,
    Request,
    StateElsewhere,
    decode_request,
    decode_response,
    encode_request,
    get_target,
    translate,
    verify,
)

KIMI_REQUEST = {
    "model": "kimi-k2",
    "messages": [
        {"role": "user", "content": "Read both."},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {
                    "id": f"functions.read_file:{n}",
                    "type": "function",
                    "function": {"name": "read_file", "arguments": f'{{"n": {n}}}'},
                }
                for n in (0, 1)
            ],
        },
        {"role": "tool", "tool_call_id": "functions.read_file:1", "content": "second"},
        {"role": "tool", "tool_call_id": "functions.read_file:0", "content": "first"},
        {"role": "user", "content": "And now?"},
    ],
}


def reply(conversation, format, provider, body):
    decoded = decode_response(body, format, provider=provider)
    conversation.append(decoded.message)
    return decoded


def body_for(conversation, target):
    encoded = encode_request(Request(conversation, model="m"), target)
    assert not verify(encoded.body, get_target(target))
    return encoded.body


def test_kimi_to_anthropic_keeps_pairs_under_legal_ids():
    body = translate(KIMI_REQUEST, "openai-chat", "anthropic", provider="kimi").body
    assert not verify(body, "anthropic")
    calls = [block for block in body["messages"][1]["content"] if block["type"] == "tool_use"]
    results = [b for b in body["messages"][2]["content"] if b["type"] == "tool_result"]
    assert [call["input"] for call in calls] == [{"n": 0}, {"n": 1}]
    assert [r["tool_use_id"] for r in results] == [c["id"] for c in calls]
    assert all(call["id"].startswith("toolu_") for call in calls)
    assert "first" in str(results[0])
    assert "second" in str(results[1])


def test_kimi_through_anthropic_returns_to_its_own_ids():
    """What the client sees back from Kimi's side has Kimi's shape again."""
    request = decode_request(KIMI_REQUEST, "openai-chat", provider="kimi-hosted")
    again = encode_request(request, "kimi-hosted").body
    ids = [call["id"] for call in again["messages"][1]["tool_calls"]]
    assert ids == ["functions.read_file:0", "functions.read_file:1"]


def test_gemini_to_mistral_gives_calls_without_ids_nine_characters():
    gemini = {
        "contents": [
            {"role": "user", "parts": [{"text": "Weather?"}]},
            {
                "role": "model",
                "parts": [
                    {
                        "functionCall": {"name": "weather", "args": {"city": city}},
                        **({"thoughtSignature": "c2ln"} if city == "Oslo" else {}),
                    }
                    for city in ("Oslo", "Bern")
                ],
            },
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"name": "weather", "response": {"output": text}}}
                    for text in ("rain", "sun")
                ],
            },
        ],
        "tools": [{"functionDeclarations": [{"name": "weather"}]}],
    }
    body = translate(gemini, "gemini", "mistral:mistral-large", provider="gemini").body
    assert not verify(body, get_target("mistral:mistral-large"))
    calls = body["messages"][1]["tool_calls"]
    results = [message for message in body["messages"] if message["role"] == "tool"]
    assert [(r["tool_call_id"], r["content"]) for r in results] == [
        (calls[0]["id"], "rain"),
        (calls[1]["id"], "sun"),
    ]
    assert all(len(call["id"]) == 9 for call in calls)
    assert "c2ln" not in str(body)
    back = translate(gemini, "gemini", "gemini:gemini-3-pro", provider="gemini").body
    parts = back["contents"][1]["parts"]
    assert [part.get("thoughtSignature") for part in parts] == ["c2ln", None]


def responses_turn(conversation):
    conversation.user("Look it up.")
    reply(
        conversation,
        "openai-responses",
        "openai",
        {
            "id": "resp_1",
            "model": "gpt-5",
            "status": "completed",
            "output": [
                {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA"},
                {
                    "type": "function_call",
                    "id": "fc_1",
                    "call_id": "call_1",
                    "name": "look",
                    "arguments": '{"q": 1}',
                },
            ],
        },
    )
    conversation.result("call_1", "found")


def anthropic_turn(conversation):
    conversation.user("Check it.")
    reply(
        conversation,
        "anthropic",
        "anthropic",
        {
            "id": "msg_1",
            "model": "claude-sonnet-4-5",
            "role": "assistant",
            "type": "message",
            "stop_reason": "tool_use",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "EqQB"},
                {"type": "tool_use", "id": "toolu_1", "name": "check", "input": {}},
            ],
        },
    )
    conversation.result("toolu_1", "checked")


def test_responses_to_anthropic_to_responses_keeps_both_kinds_of_reasoning_at_home():
    conversation = Conversation()
    responses_turn(conversation)
    at_anthropic = body_for(conversation, "anthropic")
    assert "gAAAA" not in str(at_anthropic)
    assert "rs_1" not in str(at_anthropic)
    anthropic_turn(conversation)
    at_openai = body_for(conversation, "openai/openai-responses:gpt-5")
    items = at_openai["input"]
    reasoning = next(item for item in items if item.get("type") == "reasoning")
    assert (reasoning["id"], reasoning["encrypted_content"]) == ("rs_1", "gAAAA")
    follower = items[items.index(reasoning) + 1]
    assert (follower["type"], follower["call_id"]) == ("function_call", "call_1")
    assert "EqQB" not in str(at_openai)
    outputs = [item["call_id"] for item in items if item.get("type") == "function_call_output"]
    calls = [item["call_id"] for item in items if item.get("type") == "function_call"]
    assert outputs == calls
    back = body_for(conversation, "anthropic:claude-sonnet-4-5")
    assert {"type": "thinking", "thinking": "Hm.", "signature": "EqQB"} in back["messages"][3][
        "content"
    ]


def test_encrypted_reasoning_is_not_sent_to_another_endpoint_or_model():
    conversation = Conversation()
    responses_turn(conversation)
    assert "gAAAA" not in str(body_for(conversation, "azure"))
    assert "gAAAA" not in str(body_for(conversation, "openai/openai-responses:o4-mini"))
    assert "gAAAA" in str(body_for(conversation, "openai/openai-responses:gpt-5"))


def test_cache_marks_survive_between_formats_that_have_them():
    anthropic = {
        "model": "claude-sonnet-4-5",
        "max_tokens": 100,
        "system": [
            {
                "type": "text",
                "text": "Be brief.",
                "cache_control": {"type": "ephemeral", "ttl": "1h"},
            }
        ],
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Long.", "cache_control": {"type": "ephemeral"}}
                ],
            }
        ],
    }
    bedrock = translate(anthropic, "anthropic", "bedrock").body
    assert {"cachePoint": {"type": "default", "ttl": "1h"}} in bedrock["system"]
    assert {"cachePoint": {"type": "default"}} in bedrock["messages"][0]["content"]
    back = translate(bedrock, "bedrock", "anthropic").body
    assert back["system"] == anthropic["system"]
    assert back["messages"] == anthropic["messages"]


def test_cache_marks_are_named_where_they_are_lost():
    body = {
        "model": "m",
        "max_tokens": 10,
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Hi.", "cache_control": {"type": "ephemeral"}}
                ],
            }
        ],
    }
    assert "cache_mark_dropped" in translate(body, "anthropic", "mistral").report


CHAINED = {
    "model": "gpt-5",
    "previous_response_id": "resp_1",
    "input": [{"type": "function_call_output", "call_id": "call_1", "output": "42"}],
}


def test_an_output_for_a_call_the_provider_keeps_is_sent():
    """The call stands in the stored response, so its output is no orphan there."""
    body = translate(CHAINED, "openai-responses", "openai/openai-responses:gpt-5").body
    assert body["previous_response_id"] == "resp_1"
    assert body["input"] == CHAINED["input"]
    assert not verify(body, "openai/openai-responses:gpt-5")


def test_turns_kept_by_one_provider_are_not_made_up_for_another():
    with pytest.raises(StateElsewhere, match=r"`previous_response_id`.* anthropic"):
        translate(CHAINED, "openai-responses", "anthropic")
