"""Whole request bodies, both ways."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from canonicall import Conversation, Message, Native, Text, ToolResult
from canonicall.errors import MalformedBody
from canonicall.facts.registry import get_target
from canonicall.findings import Report
from canonicall.request import OutputFormat, Params, Reasoning, Request, Tool, ToolChoice
from canonicall.testing.strategies import json_values
from canonicall.transcript.turns import Transcript, Turn
from canonicall.wire.openai_chat import FORMAT, TARGET
from canonicall.wire.openai_chat.request import decode_request
from wire.support import places, put, written

HOST = replace(TARGET, provider="host", domain="host")
OPENAI = get_target("openai")
MISTRAL = get_target("mistral")
USER = {"role": "user", "content": "Hi"}
TURNS = (Turn("user", (Text(text="Hi"),)),)


def decode(**fields) -> Request:
    return decode_request({"model": "m", "messages": [USER], **fields})


def encode(request: Request, target=TARGET, names=None):
    return written(request, Transcript(TURNS, {}, names or {}, Report()), target)


def asked(**fields) -> Request:
    return Request(Conversation(), model="m", **fields)


CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
FULL = {
    "model": "m",
    "messages": [
        {"role": "system", "content": "Be brief."},
        USER,
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "call_1", "content": "42"},
    ],
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
    "tool_choice": {"type": "function", "function": {"name": "f"}},
    "parallel_tool_calls": False,
    "max_completion_tokens": 5,
    "temperature": 0.5,
    "top_p": 0.9,
    "stop": ["a"],
    "seed": 7,
    "stream": True,
    "reasoning_effort": "low",
    "n": 1,
    "response_format": {"type": "json_object"},
}


def test_a_request_is_read():
    request = decode_request(FULL)
    assert [message.role for message in request.conversation.messages] == [
        "system",
        "user",
        "assistant",
        "tool",
    ]
    *_, asking, answering = request.conversation.messages
    assert asking.calls[0].raw_id == "call_1"
    assert answering.results[0].call_id == asking.calls[0].id
    assert request.model == "m"
    assert request.tools == (Tool("f", parameters={"type": "object"}),)
    assert request.tool_choice == ToolChoice("required", ("f",), parallel=False)
    assert request.params == Params(
        *(5, 0.5, 0.9, None, ("a",), 7),
        stream=True,
        reasoning=Reasoning(effort="low"),
        output=OutputFormat(),
    )
    assert request.native.fields["n"] == 1
    assert request.findings == ()


def test_assistant_messages_have_the_origin_of_the_request():
    request = decode_request(FULL)
    (origin,) = (m.origin for m in request.conversation.messages if m.role == "assistant")
    assert (origin.provider, origin.format, origin.model) == ("openai", FORMAT, "m")


def test_opaque_state_belongs_to_the_given_domain():
    wire = {"role": "assistant", "content": "a", "reasoning_details": [{"type": "x"}]}
    request = decode_request({"messages": [wire]}, domain="openrouter")
    (message,) = request.conversation.messages
    assert message.blocks[0].opaque[0].domain == "openrouter"


def test_a_request_is_written_as_it_was():
    request = decode_request(FULL)
    body, findings = encode(request)
    assert findings == []
    assert body == {**FULL, "messages": [USER]}
    assert (next(iter(body)), list(body)[-1]) == ("model", "messages")


def test_bytes_do_not_depend_on_the_order_of_the_input():
    shuffled = dict(sorted(FULL.items(), reverse=True))
    known = [name for name in FULL if name != "n"]
    one, other = (encode(decode_request(body))[0] for body in (FULL, shuffled))
    assert json.dumps({k: one[k] for k in known}) == json.dumps({k: other[k] for k in known})
    assert [k for k in other if k in known] == [k for k in one if k in known]


def test_nothing_is_written_for_what_is_not_said():
    assert encode(asked()) == ({"model": "m", "messages": [USER]}, [])


def test_the_model_of_the_target_counts():
    assert encode(asked(), replace(TARGET, model="other"))[0]["model"] == "other"


def test_azure_has_the_model_in_its_address():
    assert "model" not in encode(Request(Conversation()))[0]


def test_findings_of_the_conversation_are_among_those_of_the_request():
    request = decode_request({"messages": [{"role": "tool", "content": "42"}]})
    assert [finding.code for finding in request.findings] == ["orphan_result"]
    assert request.conversation.entries == [
        Message(
            "tool", (ToolResult(content=(Text(text="42"),), is_complete=True, outcome="completed"),)
        )
    ]


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_the_limit_keeps_its_name_where_either_will_do(name):
    request = decode(**{name: 5})
    assert request.params.max_tokens == 5
    assert request.native is None
    assert encode(request, HOST)[0] == {"model": "m", "messages": [USER], name: 5}
    changed = replace(request, params=replace(request.params, max_tokens=9))
    assert encode(changed)[0][name] == 9
    assert encode(request, OPENAI)[0]["max_completion_tokens"] == 5
    assert encode(request, MISTRAL)[0]["max_tokens"] == 5


def test_a_limit_from_elsewhere_has_the_name_that_the_target_knows():
    request = asked(params=Params(max_tokens=5))
    assert encode(request, OPENAI)[0]["max_completion_tokens"] == 5
    assert encode(request, HOST)[0]["max_tokens"] == 5


def test_of_two_limits_the_newer_name_counts():
    request = decode(max_tokens=5, max_completion_tokens=6)
    assert [finding.code for finding in request.findings] == ["two_limits"]
    body, _ = encode(request)
    assert (body.get("max_tokens"), body["max_completion_tokens"]) == (None, 6)
    assert decode(max_tokens=5, max_completion_tokens=5).findings == ()


def test_a_single_stop_is_a_list_of_one():
    assert encode(decode(stop="a"))[0]["stop"] == ["a"]
    assert "stop" not in encode(decode(stop=[]))[0]


def test_the_seed_of_mistral():
    request = decode(random_seed=7)
    assert request.params.seed == 7
    assert encode(request)[0] == {"model": "m", "messages": [USER], "seed": 7}
    assert encode(request, MISTRAL)[0]["random_seed"] == 7
    assert decode(seed=0, random_seed=7).params.seed == 0


@pytest.mark.parametrize(
    ("fields", "reasoning"),
    [
        ({"reasoning_effort": "high"}, Reasoning(effort="high")),
        ({"reasoning_effort": "none"}, Reasoning(enabled=False, effort="none")),
        ({"thinking": {"type": "enabled"}}, Reasoning(enabled=True)),
        ({"thinking": {"type": "disabled"}}, Reasoning(enabled=False)),
        (
            {"thinking": {"type": "enabled", "budget_tokens": 9, "clear_thinking": False}},
            Reasoning(enabled=True, budget=9),
        ),
        ({"enable_thinking": False}, Reasoning(enabled=False)),
        ({"enable_thinking": True, "thinking_budget": 9}, Reasoning(enabled=True, budget=9)),
        ({"reasoning": {"effort": "low", "exclude": True}}, Reasoning(effort="low")),
        ({"reasoning": {"max_tokens": 9, "enabled": True}}, Reasoning(enabled=True, budget=9)),
        ({"reasoning": None, "thinking": None}, None),
        ({"thinking": {"clear_thinking": False}}, None),
    ],
)
def test_every_way_to_ask_for_reasoning(fields, reasoning):
    request = decode(**fields)
    assert request.params.reasoning == reasoning
    said = {name: field for name, field in fields.items() if field is not None}
    assert encode(request)[0] == {"model": "m", "messages": [USER], **said}


def test_changed_reasoning_is_written_as_effort():
    request = decode(thinking={"type": "disabled"})
    params = replace(request.params, reasoning=Reasoning(effort="high"))
    body, _ = encode(replace(request, params=params))
    assert body == {"model": "m", "messages": [USER], "reasoning_effort": "high"}
    params = replace(request.params, reasoning=None)
    assert encode(replace(request, params=params))[0] == {"model": "m", "messages": [USER]}


@pytest.mark.parametrize("reasoning", [Reasoning(budget=9), Reasoning(enabled=False)])
def test_reasoning_that_cannot_be_said_is_reported(reasoning):
    body, findings = encode(asked(params=Params(reasoning=reasoning)))
    assert body == {"model": "m", "messages": [USER]}
    assert [(one.code, one.where) for one in findings] == [("param_dropped", "params.reasoning")]


def test_a_switch_that_the_target_does_not_have_is_named():
    (finding,) = encode(asked(params=Params(reasoning=Reasoning(enabled=True))))[1]
    assert (finding.code, finding.where) == ("param_dropped", "params.reasoning")


def test_a_way_to_ask_for_reasoning_that_the_target_lacks_is_not_used():
    """Effort can be said everywhere; a switch is left out with a finding, once."""
    body, findings = encode(decode(reasoning={"effort": "low"}), OPENAI)
    assert body == {"model": "m", "messages": [USER], "reasoning_effort": "low"}
    assert findings == []
    body, findings = encode(decode(thinking={"type": "disabled"}), OPENAI)
    assert body == {"model": "m", "messages": [USER]}
    assert [(one.code, one.where) for one in findings] == [("param_dropped", "params.reasoning")]
    deaf = replace(OPENAI, fields=replace(OPENAI.fields, request=("messages",)))
    body, findings = encode(decode(reasoning_effort="low"), deaf)
    assert body == {"model": "m", "messages": [USER]}
    assert [(one.code, one.where) for one in findings] == [("param_dropped", "params.reasoning")]


def test_what_stands_beside_the_reasoning_is_native():
    request = decode(reasoning={"effort": "low", "exclude": True}, thinking={"type": "enabled"})
    assert request.native == Native(FORMAT, {"reasoning": {"exclude": True}})
    assert set(request.spelled.fields) == {"reasoning", "thinking"}


def test_openai_has_no_top_k():
    request = decode(top_k=3)
    assert encode(request, HOST)[0]["top_k"] == 3
    body, findings = encode(request, OPENAI)
    assert "top_k" not in body
    assert [(one.code, one.where) for one in findings] == [("param_dropped", "params.top_k")]


def test_fields_of_another_format_are_left_out_and_named():
    body, findings = encode(asked(native=Native("anthropic", {"container": "c"})))
    assert body == {"model": "m", "messages": [USER]}
    assert [one.code for one in findings] == ["fields_dropped"]
    assert "container" in findings[0].why


def test_names_are_those_of_the_wire():
    request = asked(
        tools=(Tool("über.tool"), Tool("f")), tool_choice=ToolChoice("required", ("über.tool",))
    )
    body, _ = encode(request, names={"uber_tool": "über.tool"})
    assert [tool["function"]["name"] for tool in body["tools"]] == ["uber_tool", "f"]
    assert body["tool_choice"]["function"]["name"] == "uber_tool"


def test_there_is_no_choice_where_all_tools_were_dropped():
    foreign = Tool("search", kind="server", native=Native("anthropic", {"type": "web_search"}))
    body, findings = encode(asked(tools=(foreign,), tool_choice=ToolChoice("required")))
    assert body == {"model": "m", "messages": [USER]}
    assert [one.code for one in findings] == ["choice_weakened", "tool_dropped"]


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({}, "$.messages"),
        ({"messages": {}}, "$.messages"),
        ({"messages": [], "model": 1}, "$.model"),
        ({"messages": [], "tools": {}}, "$.tools"),
        ({"messages": [], "tools": [1]}, "$.tools[0]"),
        ({"messages": [], "tools": [{"function": 1}]}, "$.tools[0].function"),
        ({"messages": [], "functions": [1]}, "$.functions[0]"),
        ({"messages": [], "tool_choice": 1}, "$.tool_choice"),
        ({"messages": [], "parallel_tool_calls": "no"}, "$.parallel_tool_calls"),
        ({"messages": [], "temperature": "hot"}, "$.temperature"),
        ({"messages": [], "temperature": True}, "$.temperature"),
        ({"messages": [], "max_tokens": float("inf")}, "$.max_tokens"),
        ({"messages": [], "stop": [1]}, "$.stop[0]"),
        ({"messages": [], "thinking": "on"}, "$.thinking"),
        ({"messages": [], "reasoning": {"max_tokens": "1"}}, "$.reasoning.max_tokens"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_path(body, where):
    with pytest.raises(MalformedBody) as caught:
        decode_request(body)
    assert caught.value.where == where


RICH = {
    **FULL,
    "messages": [
        *FULL["messages"],
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "a", "cache_control": {"type": "ephemeral", "ttl": "5m"}},
                {"type": "image_url", "image_url": {"url": "https://x.test/a", "detail": "low"}},
                {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "mp3"}},
                {"type": "file", "file": {"file_data": "aGk=", "filename": "a", "file_id": "b"}},
            ],
        },
        {
            "role": "assistant",
            "content": [{"type": "thinking", "thinking": [{"type": "text", "text": "a"}]}],
            "reasoning_content": "a",
            "reasoning_details": [{"type": "reasoning.text", "text": "a"}],
            "refusal": "a",
            "audio": {"id": "a", "data": "b", "transcript": "c"},
            "images": [{"type": "image_url", "image_url": {"url": "https://x.test/a"}}],
            "function_call": {"name": "f", "arguments": "{}"},
            "tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "g", "input": "x"}}],
        },
    ],
    "tools": [*FULL["tools"], {"type": "custom", "custom": {"name": "g", "format": {}}}],
    "functions": [{"name": "f", "description": "a", "parameters": {}}],
    "tool_choice": {
        "type": "allowed_tools",
        "allowed_tools": {
            "mode": "auto",
            "tools": [{"type": "function", "function": {"name": "f"}}],
        },
    },
    "function_call": {"name": "f"},
    "thinking": {"type": "enabled", "budget_tokens": 1},
    "reasoning": {"effort": "low", "max_tokens": 1, "enabled": True},
}


@given(st.sampled_from([path for path in places(RICH) if path]), json_values())
def test_any_value_at_any_place_is_read_or_refused_with_its_path(path, graft):
    """Only MalformedBody comes out, whatever comes in; what is read can be written."""
    body = put(RICH, path, graft)
    try:
        request = decode_request(body)
    except MalformedBody as refused:
        where = refused.where
    else:
        turns = tuple(Turn(m.role, m.blocks, m.origin) for m in request.conversation.messages)
        made, _ = written(request, Transcript(turns, {}, {}, Report()), HOST)
        where = "$." if made["messages"] or not body["messages"] else "lost"
    assert where.startswith("$.")
