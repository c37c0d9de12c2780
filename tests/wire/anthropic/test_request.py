"""Whole requests."""

import json

import pytest
from msgspec.structs import replace

from canonicall import Conversation, Message, Origin, Report, Text
from canonicall.blocks import Native, ToolResult
from canonicall.errors import MalformedBody
from canonicall.facts.registry import get_target
from canonicall.request import Params, Reasoning, Request, Tool, ToolChoice
from canonicall.transcript.turns import Transcript, Turn
from canonicall.wire.anthropic import TARGET
from canonicall.wire.anthropic.request import DEFAULT_MAX_TOKENS, decode_request
from wire.support import written

BODY = {
    "model": "claude-x",
    "max_tokens": 4000,
    "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
    "tools": [
        {"name": "f", "description": "d", "input_schema": {"type": "object", "properties": {}}},
        {"type": "web_search_20250305", "name": "web_search"},
    ],
    "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
    "thinking": {"type": "enabled", "budget_tokens": 2048, "display": "omitted"},
    "output_config": {"effort": "high"},
    "temperature": 1,
    "top_p": 0.9,
    "top_k": 5,
    "stop_sequences": ["END"],
    "stream": False,
    "cache_control": {"type": "ephemeral", "ttl": "1h"},
    "metadata": {"user_id": "u"},
    "container": "container_1",
    "messages": [
        {"role": "user", "content": "What is f?"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "", "signature": "sig"},
                {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": "42"},
                {"type": "text", "text": "And?"},
            ],
        },
    ],
}


def as_transcript(conversation, names=None):
    """Every message as a turn with the raw ids it came with; results and user words together."""
    turns = []
    for message in conversation.messages:
        blocks = tuple(with_raw_id(block) for block in message.blocks)
        if turns and turns[-1].role == "tool" and message.role == "user":
            turns[-1] = replace(turns[-1], blocks=turns[-1].blocks + blocks)
        else:
            turns.append(Turn(message.role, blocks, native=message.native))
    return Transcript(tuple(turns), {}, names or {}, Report())


def with_raw_id(block):
    if isinstance(block, ToolResult):
        return replace(block, call_id=block.raw_id or block.call_id)
    return replace(block, id=block.raw_id or block.id) if hasattr(block, "raw_id") else block


def encoded(request, target=TARGET, **fields):
    return written(request, as_transcript(request.conversation, **fields), target)


def asked(**fields):
    return Request(Conversation.of([Message("user", (Text(text="hi"),))]), **fields)


def test_a_whole_request_survives():
    request = decode_request(BODY)
    assert request.findings == ()
    body, findings = encoded(request)
    assert body == BODY
    assert findings == []


def test_what_a_request_says_is_canonical():
    request = decode_request(BODY)
    assert request.model == "claude-x"
    assert [tool.kind for tool in request.tools] == ["function", "server"]
    assert request.tool_choice == ToolChoice("auto", parallel=False)
    assert request.params == Params(
        max_tokens=4000,
        temperature=1,
        top_p=0.9,
        top_k=5,
        stop=("END",),
        stream=False,
        reasoning=Reasoning(enabled=True, effort="high", budget=2048),
    )
    roles = [message.role for message in request.conversation.messages]
    assert roles == ["system", "user", "assistant", "tool", "user"]
    assert request.conversation.ledger.open == ()
    assert list(request.native.fields) == [
        "cache_control",
        "metadata",
        "container",
        "thinking",
    ]


def test_the_assistants_origin_and_domain_can_be_given():
    origin = Origin(provider="vertex", format="anthropic", model="m")
    request = decode_request(BODY, origin=origin, domain="elsewhere")
    reply = list(request.conversation.messages)[2]
    assert reply.origin == origin
    assert reply.blocks[0].opaque[0].domain == "elsewhere"
    default = list(decode_request(BODY).conversation.messages)[2]
    assert default.origin == Origin(provider="anthropic", format="anthropic", model="claude-x")


def test_messages_stand_last_and_the_order_of_fields_is_fixed():
    """A longer conversation then only adds to the end of the body."""
    body, _ = encoded(decode_request(dict(reversed(BODY.items()))))
    assert list(body)[:3] == ["model", "max_tokens", "system"]
    assert list(body)[-1] == "messages"
    more = [{"role": "assistant", "content": "So."}, {"role": "user", "content": "Go on."}]
    longer = BODY | {"messages": [*BODY["messages"], *more]}
    short, _ = encoded(decode_request(BODY))
    long, _ = encoded(decode_request(longer))
    assert json.dumps(long).startswith(json.dumps(short).removesuffix("]}"))


def test_nothing_empty_is_written():
    body, _ = encoded(asked(model="m", params=Params(max_tokens=5)))
    assert body == {
        "model": "m",
        "max_tokens": 5,
        "messages": [{"role": "user", "content": "hi"}],
    }


def test_zero_is_not_nothing():
    body, _ = encoded(asked(params=Params(max_tokens=5, temperature=0, top_k=0, stream=False)))
    assert (body["temperature"], body["top_k"], body["stream"]) == (0, 0, False)


def test_the_targets_model_counts():
    body, _ = encoded(asked(model="a"), replace(TARGET, model="b"))
    assert body["model"] == "b"


def test_instructions_go_to_the_top_where_the_target_has_one():
    messages = [Message("system", (Text(text="A"),)), Message("user", (Text(text="hi"),))]
    request = Request(Conversation.of(messages))
    assert encoded(request)[0]["system"] == "A"
    inline = encoded(request, replace(TARGET, system="inline"))[0]
    assert "system" not in inline
    assert inline["messages"][0] == {"role": "system", "content": "A"}


def test_later_instructions_stay_in_place():
    body = {
        "model": "m",
        "max_tokens": 5,
        "messages": [{"role": "user", "content": "hi"}, {"role": "system", "content": "B"}],
    }
    assert encoded(decode_request(body))[0] == body


def test_a_missing_limit_is_added_and_reported():
    body, findings = encoded(asked())
    assert body["max_tokens"] == DEFAULT_MAX_TOKENS
    assert [(one.code, one.action) for one in findings] == [("param_added", "added")]
    body, _ = encoded(asked(params=Params(reasoning=Reasoning(budget=10_000))))
    assert body["max_tokens"] > body["thinking"]["budget_tokens"]


@pytest.mark.parametrize(
    ("params", "field", "code"),
    [
        (Params(5, temperature=1.5), {"temperature": 1}, "param_changed"),
        (Params(5, stop=("\n", "x")), {"stop_sequences": ["x"]}, "param_dropped"),
        (Params(5, seed=3), {}, "param_dropped"),
    ],
)
def test_parameters_the_api_refuses_are_changed_and_reported(params, field, code):
    body, findings = encoded(asked(model="m", params=params))
    del body["messages"]
    assert body == {"model": "m", "max_tokens": 5} | field
    assert [one.code for one in findings] == [code]


def test_fields_of_another_format_are_left_out_and_named():
    native = Native("openai-chat", {"logit_bias": {}, "store": True})
    body, findings = encoded(asked(params=Params(5), native=native))
    assert "store" not in body
    assert [one.code for one in findings] == ["param_dropped"]
    assert "logit_bias, store" in findings[0].why


def test_the_version_of_the_api_is_said_where_the_body_has_to_say_it():
    """Vertex wants it in the body, everybody else in a header."""
    request = decode_request({**BODY, "anthropic_version": "bedrock-2023-05-31"})
    body, _ = written(request, Transcript((), {}, {}, Report()), TARGET)
    assert "anthropic_version" not in body
    vertex = get_target("vertex/anthropic:claude-sonnet-4-6")
    body, _ = written(request, Transcript((), {}, {}, Report()), vertex)
    assert body["anthropic_version"] == "vertex-2023-10-16"


def test_a_choice_without_tools_is_left_out():
    """The API refuses it; only a forced choice is a loss."""
    params = Params(5)
    body, findings = encoded(asked(tool_choice=ToolChoice("auto"), params=params))
    assert ("tool_choice" in body, findings) == (False, [])
    body, findings = encoded(asked(tool_choice=ToolChoice("required"), params=params))
    assert "tool_choice" not in body
    assert [one.code for one in findings] == ["choice_weakened"]


def test_a_forced_choice_gives_way_to_thinking():
    body, findings = encoded(
        asked(
            tools=(Tool("f"),),
            tool_choice=ToolChoice("required", ("f",)),
            params=Params(5, reasoning=Reasoning(enabled=True)),
        )
    )
    assert body["tool_choice"] == {"type": "auto"}
    assert [one.code for one in findings] == ["choice_weakened"]


def test_wire_names_reach_tools_and_choice():
    request = asked(tools=(Tool("a.b"),), tool_choice=ToolChoice("required", ("a.b",)))
    body, _ = encoded(request, names={"a_b": "a.b"})
    assert body["tools"][0]["name"] == "a_b"
    assert body["tool_choice"] == {"type": "tool", "name": "a_b"}


def test_an_unknown_choice_is_left_out_and_reported():
    body = {
        "model": "m",
        "max_tokens": 5,
        "tools": BODY["tools"],
        "tool_choice": {"type": "of_tomorrow"},
        "messages": [],
    }
    request = decode_request(body)
    assert [one.code for one in request.findings] == ["unknown_choice"]
    assert encoded(request)[0] == {key: one for key, one in body.items() if key != "tool_choice"}


def test_findings_tell_of_the_wire_and_of_the_conversation():
    body = {
        "messages": [
            {"role": "assistant", "content": [{"type": "tool_use", "name": "f", "input": "{}"}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "gone"}]},
        ]
    }
    codes = [one.code for one in decode_request(body).findings]
    assert codes == ["arguments_as_text", "missing_call_id", "orphan_result"]


@pytest.mark.parametrize(
    ("fields", "where"),
    [
        ({"model": 1}, "$.model"),
        ({"messages": "hi"}, "$.messages"),
        ({"system": {}}, "$.system"),
        ({"max_tokens": "5"}, "$.max_tokens"),
        ({"temperature": True}, "$.temperature"),
        ({"stop_sequences": "x"}, "$.stop_sequences"),
        ({"stop_sequences": [1]}, "$.stop_sequences[0]"),
        ({"tools": "x"}, "$.tools"),
        ({"tool_choice": "auto"}, "$.tool_choice"),
    ],
)
def test_wrong_kinds_are_refused_with_their_path(fields, where):
    with pytest.raises(MalformedBody) as error:
        decode_request(BODY | fields)
    assert error.value.where == where
