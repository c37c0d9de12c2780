"""Whole Converse requests."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from canonicall.blocks import Native, Origin, Text, ToolCall
from canonicall.conversation import Conversation
from canonicall.errors import CanonicallError, MalformedBody
from canonicall.findings import Report
from canonicall.request import Params, Reasoning, Request, Tool, ToolChoice
from canonicall.testing.strategies import json_values
from canonicall.transcript.turns import Transcript, Turn
from canonicall.wire.bedrock import TARGET
from canonicall.wire.bedrock.request import decode_request
from wire.support import places, put, written

BODY = {
    "modelId": "m",
    "system": [{"text": "be kind"}, {"cachePoint": {"type": "default"}}],
    "toolConfig": {
        "tools": [{"toolSpec": {"name": "f", "inputSchema": {"json": {"type": "object"}}}}],
        "toolChoice": {"any": {}},
        "newField": 1,
    },
    "inferenceConfig": {
        "newField": 2,
        "maxTokens": 9,
        "temperature": 0.5,
        "topP": 1,
        "stopSequences": ["x"],
    },
    "additionalModelRequestFields": {
        "thinking": {"type": "adaptive", "display": "summarized"},
        "top_k": 3,
    },
    "guardrailConfig": {"guardrailIdentifier": "g"},
    "messages": [
        {"role": "user", "content": [{"text": "hi"}]},
        {
            "role": "assistant",
            "content": [{"toolUse": {"toolUseId": "t", "name": "f", "input": {}}}],
        },
        {
            "role": "user",
            "content": [{"toolResult": {"toolUseId": "t", "content": [{"text": "1"}]}}],
        },
    ],
}


def transcript(request, names=None):
    turns = []
    for message in request.conversation.messages:
        blocks = []
        for block in message.blocks:
            if isinstance(block, ToolCall):
                blocks.append(replace(block, id=block.raw_id))
            elif hasattr(block, "raw_id"):
                blocks.append(replace(block, call_id=block.raw_id))
            else:
                blocks.append(block)
        turns.append(Turn("user" if message.role == "tool" else message.role, tuple(blocks)))
    return Transcript(tuple(turns), {}, names or {}, Report())


def encoded(**fields):
    return written(Request(Conversation(), **fields), transcript(Request(Conversation())), TARGET)


def test_a_whole_request_comes_back_key_for_key():
    request = decode_request(BODY)
    body, findings = written(request, transcript(request), TARGET)
    assert body == BODY
    assert list(body) == list(BODY)
    assert findings == []
    assert request.findings == ()


def test_what_a_request_means():
    request = decode_request(BODY)
    assert request.model == "m"
    assert request.params == Params(
        max_tokens=9, temperature=0.5, top_p=1, stop=("x",), reasoning=Reasoning(enabled=True)
    )
    assert request.tool_choice == ToolChoice("required")
    system, *_ = request.conversation.messages
    assert system.blocks == (Text(text="be kind", cache="default"),)


def test_the_targets_model_is_written():
    request = decode_request(BODY)
    body, _ = written(request, transcript(request), replace(TARGET, model="other"))
    assert body["modelId"] == "other"


def test_assistant_messages_know_where_they_come_from():
    _, _, reply, _ = decode_request(BODY).conversation.messages
    assert reply.origin == Origin("bedrock", "bedrock", model="m")
    origin = Origin("elsewhere")
    _, _, reply, _ = decode_request(BODY, origin=origin).conversation.messages
    assert reply.origin == origin


def test_signatures_belong_to_the_domain_given():
    thought = {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s"}}}
    body = {"messages": [{"role": "assistant", "content": [thought]}]}
    (message,) = decode_request(body).conversation.messages
    assert message.blocks[0].opaque[0].domain == "anthropic"
    (message,) = decode_request(body, domain="nova").conversation.messages
    assert message.blocks[0].opaque[0].domain == "nova"


@pytest.mark.parametrize(
    ("reasoning", "more"),
    [
        (
            Reasoning(enabled=True, budget=2000),
            {"thinking": {"type": "enabled", "budget_tokens": 2000}},
        ),
        (Reasoning(enabled=False), {"thinking": {"type": "disabled"}}),
        (Reasoning(enabled=True), {"thinking": {"type": "adaptive"}}),
        (
            Reasoning(enabled=True, effort="high"),
            {"thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}},
        ),
    ],
)
def test_claudes_thinking_goes_both_ways(reasoning, more):
    body, findings = encoded(params=Params(reasoning=reasoning))
    assert body["additionalModelRequestFields"] == more
    assert findings == []
    assert decode_request(body).params.reasoning == reasoning


def test_thinking_that_was_changed_replaces_the_old_fields():
    native = Native(
        "bedrock", {"additionalModelRequestFields": {"thinking": {"type": "adaptive"}, "top_k": 3}}
    )
    body, _ = encoded(params=Params(reasoning=Reasoning(enabled=False)), native=native)
    assert body["additionalModelRequestFields"] == {"top_k": 3, "thinking": {"type": "disabled"}}


def test_a_model_without_a_switch_is_not_switched():
    """What was fitted away is not brought back by the native rest."""
    more = {"thinking": {"type": "disabled"}, "output_config": {"effort": "max", "format": 1}}
    native = Native("bedrock", {"additionalModelRequestFields": more})
    body, _ = encoded(params=Params(reasoning=Reasoning(effort="low")), native=native)
    told = {"output_config": {"format": 1, "effort": "low"}}
    assert body["additionalModelRequestFields"] == told


def test_thinking_is_not_sent_to_a_model_that_is_not_claude():
    request = Request(Conversation(), params=Params(reasoning=Reasoning(enabled=True)))
    body, findings = written(request, transcript(request), replace(TARGET, domain="nova"))
    assert body == {"messages": []}
    assert [f.code for f in findings] == ["param_dropped"]


def test_parameters_without_a_field_are_reported():
    body, findings = encoded(params=Params(top_k=1, seed=2, stream=True))
    assert body == {"messages": []}
    assert [f.code for f in findings] == ["param_dropped"] * 2


def test_strictness_of_other_formats_is_not_sent():
    """Most models behind Converse refuse it."""
    body, findings = encoded(tools=(Tool("f", strict=True),))
    assert "strict" not in body["toolConfig"]["tools"][0]["toolSpec"]
    assert [f.code for f in findings] == ["param_dropped"]


def test_fields_of_other_formats_are_not_sent():
    body, findings = encoded(native=Native("cohere", {"safety_mode": "OFF"}))
    assert body == {"messages": []}
    assert [(f.code, f.where) for f in findings] == [("param_dropped", "native")]
    assert "safety_mode" in findings[0].why


def test_without_tools_there_is_no_tool_config():
    body, findings = encoded(tool_choice=ToolChoice("required"))
    assert body == {"messages": []}
    assert [one.code for one in findings] == ["choice_weakened"]
    assert encoded()[1] == []


def test_wire_names_reach_tools_and_choice():
    request = Request(
        Conversation(), tools=(Tool("my.tool"),), tool_choice=ToolChoice("required", ("my.tool",))
    )
    body, _ = written(request, transcript(request, {"my_tool": "my.tool"}), TARGET)
    assert body["toolConfig"]["tools"][0]["toolSpec"]["name"] == "my_tool"
    assert body["toolConfig"]["toolChoice"] == {"tool": {"name": "my_tool"}}


def test_a_damaged_conversation_is_reported():
    result = {"toolResult": {"toolUseId": "x", "content": []}}
    request = decode_request({"messages": [{"role": "user", "content": [result]}]})
    assert [f.code for f in request.findings] == ["orphan_result"]


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ([], "$"),
        ({"messages": {}}, "$.messages"),
        ({"system": "be kind"}, "$.system"),
        ({"toolConfig": [1]}, "$.toolConfig"),
        ({"inferenceConfig": {"stopSequences": [1]}}, "$.inferenceConfig.stopSequences"),
        ({"inferenceConfig": {"temperature": "hot"}}, "$.inferenceConfig.temperature"),
        ({"additionalModelRequestFields": False}, "$.additionalModelRequestFields"),
        ({"modelId": 1}, "$.modelId"),
    ],
)
def test_a_wrong_shape_is_refused_with_its_path(body, where):
    with pytest.raises(MalformedBody) as caught:
        decode_request(body)
    assert caught.value.where == where


@given(st.sampled_from(list(places(BODY))), json_values())
def test_any_value_in_any_place_is_read_or_refused_by_name(path, value):
    try:
        request = decode_request(put(BODY, path, value))
    except CanonicallError:
        return
    written(request, transcript(request), TARGET)
