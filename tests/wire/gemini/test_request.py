"""Whole request bodies."""

import msgspec
import pytest

from canonicall.blocks import Message, Native, Origin, Text, ToolCall
from canonicall.conversation import Conversation
from canonicall.errors import MalformedBody
from canonicall.request import Params, Request, Tool, ToolChoice
from canonicall.transcript.render import render
from canonicall.wire.gemini import TARGET
from canonicall.wire.gemini.request import decode_request
from wire.support import written

BODY = {
    "systemInstruction": {"parts": [{"text": "Be brief."}]},
    "tools": [
        {
            "functionDeclarations": [
                {"name": "f", "parameters": {"type": "OBJECT", "properties": {"a": {}}}}
            ]
        },
        {"googleSearch": {}},
    ],
    "toolConfig": {"functionCallingConfig": {"mode": "VALIDATED"}, "retrievalConfig": {"x": 1}},
    "safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],
    "labels": {"team": "a"},
    "generationConfig": {"temperature": 1, "responseModalities": ["TEXT"]},
    "contents": [
        {"role": "user", "parts": [{"text": "Weather?"}]},
        {
            "role": "model",
            "parts": [
                {"text": "Hm.", "thought": True, "thoughtSignature": "YQ=="},
                {
                    "functionCall": {"id": "c1", "name": "f", "args": {"a": 1}},
                    "thoughtSignature": "Yg==",
                },
                {"functionCall": {"name": "f", "args": {"a": 2}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"id": "c1", "name": "f", "response": {"degrees": 20}}},
                {"functionResponse": {"name": "f", "response": {"error": "no"}}},
            ],
        },
    ],
}


def encoded(request, target=TARGET):
    return written(request, render(request.conversation, target), target)


def test_a_body_in_its_own_order_comes_back_byte_for_byte():
    request = decode_request(BODY)
    assert request.tool_choice == ToolChoice("auto")
    assert request.params == Params(temperature=1)
    body, findings = encoded(request)
    assert findings == []
    assert msgspec.json.encode(body) == msgspec.json.encode(BODY)


def test_a_snake_case_body_is_the_same_request():
    def snake(name):
        return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)

    body = {snake(name): value for name, value in BODY.items()}
    assert decode_request(body) == decode_request(BODY)


def test_the_fixed_parts_stand_before_the_contents():
    """So one more turn only adds bytes at the end."""
    body = msgspec.json.encode(encoded(decode_request(BODY))[0])
    longer = {
        **BODY,
        "contents": [*BODY["contents"], {"role": "model", "parts": [{"text": "Done."}]}],
    }
    later = {
        **longer,
        "contents": [*longer["contents"], {"role": "user", "parts": [{"text": "Go"}]}],
    }
    assert msgspec.json.encode(encoded(decode_request(later))[0]).startswith(body[:-2])


def test_the_system_instruction_is_the_first_message():
    first = next(iter(decode_request(BODY).conversation.messages))
    assert first == Message("system", (Text(text="Be brief."),))


def test_origin_and_domain_are_the_defaults_or_what_the_caller_says():
    assistant = next(m for m in decode_request(BODY).conversation.messages if m.calls)
    assert assistant.origin == Origin(provider="gemini", format="gemini")
    assert assistant.calls[0].opaque[0].domain == "gemini-api"
    origin = Origin(provider="vertex", format="gemini", model="m")
    request = decode_request(BODY, origin=origin, domain="vertex")
    assistant = next(m for m in request.conversation.messages if m.calls)
    assert assistant.origin == origin
    assert assistant.calls[0].opaque[0].domain == "vertex"


def test_the_model_is_read_where_a_body_names_it_and_never_written():
    request = decode_request({"model": "models/m", "contents": "hi"})
    assert request.model == "models/m"
    assert encoded(request)[0] == {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
    assert decode_request({"contents": "hi"}).model == ""


def test_findings_of_the_conversation_are_part_of_the_request():
    answer = {"functionResponse": {"name": "f", "response": {}}}
    body = {"contents": [{"role": "user", "parts": [answer, {}]}]}
    assert [one.code for one in decode_request(body).findings] == ["empty_part", "orphan_result"]


def test_calls_without_ids_are_matched_with_their_results_by_place():
    request = decode_request(BODY)
    assert request.conversation.ledger.open == ()
    results = [result for m in request.conversation.messages for result in m.results]
    calls = [call for m in request.conversation.messages for call in m.calls]
    assert [result.call_id for result in results] == [call.id for call in calls]


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ([], "$"),
        ({"contents": 1}, "$.contents"),
        ({"generationConfig": []}, "$.generationConfig"),
        ({"toolConfig": {"functionCallingConfig": 1}}, "$.toolConfig.functionCallingConfig"),
        ({"systemInstruction": 1}, "$.systemInstruction"),
        ({"model": 1}, "$.model"),
    ],
)
def test_wrong_kinds_are_refused_with_their_path(body, where):
    with pytest.raises(MalformedBody) as caught:
        decode_request(body)
    assert caught.value.where == where


def test_a_request_of_another_format_has_no_foreign_fields():
    conversation = Conversation()
    conversation.user("hi")
    request = Request(
        conversation,
        tools=(
            Tool("my.tool"),
            Tool("web", kind="server", native=Native("anthropic", {"type": "w"})),
        ),
        tool_choice=ToolChoice("required", ("my.tool",), parallel=False),
        native=Native("openai-chat", {"logit_bias": {}}),
    )
    transcript = render(conversation, TARGET)
    transcript = msgspec.structs.replace(transcript, names={"my_tool": "my.tool"})
    body, findings = written(request, transcript, TARGET)
    assert body == {
        "tools": [{"functionDeclarations": [{"name": "my_tool"}]}],
        "toolConfig": {
            "functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["my_tool"]}
        },
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
    }
    assert [one.code for one in findings] == ["choice_weakened", "tool_dropped", "param_dropped"]
    assert "logit_bias" in findings[-1].why


def test_the_first_call_of_another_provider_gets_the_sentinel():
    conversation = Conversation()
    conversation.user("hi")
    calls = (ToolCall(id="call_1", name="f", args={}), ToolCall(id="call_2", name="f", args={}))
    conversation.assistant(calls, origin=Origin(provider="openai", format="openai-chat"))
    conversation.result("call_1", "one")
    conversation.result("call_2", "two", error=True)
    body, _ = encoded(Request(conversation))
    _, model, answers = body["contents"]
    assert [part.get("thoughtSignature") for part in model["parts"]] == [
        "skip_thought_signature_validator",
        None,
    ]
    assert [part["functionResponse"]["response"] for part in answers["parts"]] == [
        {"output": "one"},
        {"error": "two"},
    ]
    assert all(part["functionResponse"]["name"] == "f" for part in answers["parts"])
