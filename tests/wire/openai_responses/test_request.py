"""Whole requests, both ways."""

import pytest
from msgspec.structs import replace

from canonicall.blocks import Message, Native, Opaque, Origin, Text, ToolCall, ToolResult
from canonicall.codec.translate import translate
from canonicall.conversation import Conversation
from canonicall.errors import MalformedBody
from canonicall.findings import Report
from canonicall.request import OutputFormat, Params, Reasoning, Request, Tool, ToolChoice
from canonicall.transcript.turns import Transcript, Turn
from canonicall.wire.openai_responses import FORMAT, TARGET
from canonicall.wire.openai_responses.request import decode_request
from wire.support import written

TOOL = {"type": "function", "name": "f", "parameters": {"type": "object", "properties": {}}}
BODY = {
    "model": "gpt-5",
    "instructions": "Be brief.",
    "tools": [TOOL],
    "tool_choice": {"type": "function", "name": "f"},
    "parallel_tool_calls": False,
    "reasoning": {"effort": "low", "summary": "auto"},
    "max_output_tokens": 99,
    "temperature": 0.5,
    "top_p": 0.9,
    "stream": True,
    "store": False,
    "include": ["reasoning.encrypted_content"],
    "previous_response_id": "resp_1",
    "text": {"format": {"type": "json_object"}},
    "input": [{"role": "user", "content": "hi"}],
}


def transcript(*turns, names=None):
    return Transcript(turns, {}, names or {}, Report())


def encode(request, *turns, target=TARGET, names=None):
    return written(request, transcript(*turns, names=names), target)


def turns_of(request):
    return tuple(
        Turn(one.role, one.blocks, one.origin, one.native) for one in request.conversation.messages
    )


def test_a_request_is_read():
    request = decode_request(BODY)
    system, user = request.conversation.messages
    assert (system.role, system.text, user.role, user.text) == ("system", "Be brief.", "user", "hi")
    assert request.model == "gpt-5"
    assert [tool.name for tool in request.tools] == ["f"]
    assert request.tool_choice == ToolChoice("required", ("f",), parallel=False)
    assert request.params == Params(
        max_tokens=99,
        temperature=0.5,
        top_p=0.9,
        stream=True,
        reasoning=Reasoning(effort="low"),
        output=OutputFormat(),
    )
    assert request.native == Native(
        FORMAT,
        {
            "reasoning": {"summary": "auto"},
            "store": False,
            "include": ["reasoning.encrypted_content"],
        },
    )
    assert request.spelled == Native(FORMAT, {"text": {"format": {"type": "json_object"}}})
    assert request.continues == Native(FORMAT, {"previous_response_id": "resp_1"})
    assert request.findings == ()


def test_a_request_comes_back_with_the_input_last():
    request = decode_request(BODY)
    body, findings = encode(request, *turns_of(request))
    assert body == BODY
    assert findings == []
    assert next(iter(body)) == "model"
    assert list(body)[-1] == "input"


def test_the_smallest_request():
    request = decode_request({"model": "m", "input": "hi", "tools": [], "instructions": None})
    assert encode(request, *turns_of(request)) == (
        {"model": "m", "input": [{"role": "user", "content": "hi"}]},
        [],
    )


def test_a_prompt_needs_no_input():
    request = decode_request({"model": "m", "prompt": {"id": "p"}})
    assert len(request.conversation) == 0
    assert request.continues.fields == {"prompt": {"id": "p"}}


def test_replies_have_the_origin_and_domain_of_the_request():
    items = [{"type": "reasoning", "summary": [], "encrypted_content": "e"}]
    (message,) = decode_request({"model": "m", "input": items}).conversation.messages
    assert message.origin == Origin(provider="openai", format=FORMAT, model="m")
    assert message.blocks[0].opaque == (Opaque("openai", "encrypted", "e"),)
    origin = Origin(provider="azure", format=FORMAT)
    (message,) = decode_request(
        {"model": "m", "input": items}, origin=origin, domain="azure"
    ).conversation.messages
    assert message.origin == origin
    assert message.blocks[0].opaque == (Opaque("azure", "encrypted", "e"),)


def test_results_find_their_calls():
    request = decode_request(
        {
            "model": "m",
            "input": [
                {"type": "function_call", "call_id": "call_0", "name": "f", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "call_0", "output": "1"},
            ],
        }
    )
    (one,) = request.conversation.ledger.values()
    assert one.result.text == "1"
    assert request.findings == ()


def test_findings_of_the_conversation_are_reported():
    item = {"type": "function_call_output", "call_id": "call_9", "output": "1"}
    request = decode_request({"model": "m", "input": [item]})
    assert [one.code for one in request.findings] == ["orphan_result"]


def test_findings_of_the_body_are_reported_with_their_path():
    body = {
        "model": "m",
        "input": [{"type": "dream"}],
        "tools": [{"type": "function", "function": {"name": "f"}}],
    }
    assert [(one.code, one.where) for one in decode_request(body).findings] == [
        ("unknown_item", "$.input[0]"),
        ("tool_nested", "$.tools[0].function"),
    ]


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"input": 1}, "$.input"),
        ({"model": 1}, "$.model"),
        ({"instructions": []}, "$.instructions"),
        ({"tools": {}}, "$.tools"),
        ({"tool_choice": []}, "$.tool_choice"),
        ({"reasoning": "high"}, "$.reasoning"),
        ({"max_output_tokens": "many"}, "$.max_output_tokens"),
        ({"temperature": True}, "$.temperature"),
    ],
)
def test_wrong_shapes_are_refused_with_their_path(body, where):
    with pytest.raises(MalformedBody) as caught:
        decode_request(body)
    assert caught.value.where == where


# Encoding what other formats brought.


def request_of(**fields):
    return Request(conversation=Conversation(), **fields)


def test_one_system_message_becomes_the_instructions():
    system = Turn("system", (Text(text="a"), Text(text="b")))
    later = Turn("system", (Text(text="c"),))
    body, _ = encode(request_of(model="m"), system, later, Turn("user", (Text(text="d"),)))
    assert body["instructions"] == "a\n\nb"
    assert [item["role"] for item in body["input"]] == ["system", "user"]


def test_instructions_stay_items_where_the_target_wants_that():
    target = replace(TARGET, system="inline")
    body, _ = encode(request_of(model="m"), Turn("system", (Text(text="a"),)), target=target)
    assert body == {"model": "m", "input": [{"role": "system", "content": "a"}]}


def test_developer_messages_are_items():
    body, _ = encode(request_of(model="m"), Turn("developer", (Text(text="a"),)))
    assert body == {"model": "m", "input": [{"role": "developer", "content": "a"}]}


def test_a_whole_exchange():
    call = ToolCall(id="call_1", name="f", args={"a": 1})
    result = ToolResult(call_id="call_1", content=(Text(text="1"),))
    body, _ = encode(
        request_of(model="m"),
        Turn("user", (Text(text="go"),)),
        Turn("assistant", (Text(text="ok"), call)),
        Turn("tool", (result,)),
    )
    assert body["input"] == [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "ok"},
        {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": '{"a":1}'},
        {"type": "function_call_output", "call_id": "call_1", "output": "1"},
    ]


def test_the_model_of_the_target_is_asked():
    body, _ = encode(request_of(model="other"), target=replace(TARGET, model="gpt-5"))
    assert body["model"] == "gpt-5"


@pytest.mark.parametrize(
    ("params", "where"),
    [
        (Params(top_k=1), "params.top_k"),
        (Params(stop=("x",)), "params.stop"),
        (Params(seed=0), "params.seed"),
        (Params(reasoning=Reasoning(enabled=True, budget=2048)), "params.reasoning"),
        (Params(reasoning=Reasoning(enabled=False)), "params.reasoning"),
    ],
)
def test_params_without_a_place_are_reported(params, where):
    body, findings = encode(request_of(model="m", params=params))
    assert body == {"model": "m", "input": []}
    assert [(one.code, one.where, one.action) for one in findings] == [
        ("param_dropped", where, "dropped")
    ]


def test_fields_of_another_format_are_reported():
    native = Native("anthropic", {"metadata": {"user_id": "x"}})
    body, findings = encode(request_of(model="m", native=native))
    assert "metadata" not in body
    assert [(one.code, one.where) for one in findings] == [("param_dropped", "native")]


def test_names_differ_on_the_wire():
    request = request_of(
        model="m", tools=(Tool(name="a.b"),), tool_choice=ToolChoice("required", ("a.b",))
    )
    body, _ = encode(request, names={"a_b": "a.b"})
    assert body["tools"][0]["name"] == "a_b"
    assert body["tool_choice"] == {"type": "function", "name": "a_b"}


def test_the_choice_of_a_hosted_tool_comes_back():
    wire = {
        "model": "m",
        "tools": [{"type": "web_search"}],
        "tool_choice": {"type": "web_search"},
        "parallel_tool_calls": True,
        "input": [],
    }
    assert encode(decode_request(wire)) == (wire, [])


def test_no_choice_is_made_among_tools_that_cannot_be_offered():
    tools = (Tool(name="bash", kind="server", native=Native("anthropic", {"type": "bash"})),)
    request = request_of(model="m", tools=tools, tool_choice=ToolChoice("required"))
    body, findings = encode(request)
    assert body == {"model": "m", "input": []}
    assert [one.code for one in findings] == ["choice_weakened", "tool_dropped"]
    _, findings = encode(request_of(model="m", tools=tools))
    assert [one.code for one in findings] == ["tool_dropped"]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("auto", []),
        ("required", [("choice_weakened", "changed")]),
        ({"type": "web_search"}, [("choice_weakened", "dropped")]),
    ],
)
def test_a_choice_without_any_tools_is_not_written(asked, told):
    body, findings = encode(decode_request({"model": "m", "tool_choice": asked, "input": []}))
    assert body == {"model": "m", "input": []}
    assert [(one.code, one.action) for one in findings] == told


def test_a_choice_among_tools_of_the_input_is_written():
    """Recorded traffic: the tools stand in an item, the choice beside it is accepted."""
    more = {"type": "additional_tools", "role": "developer", "tools": [TOOL]}
    wire = {"model": "m", "tool_choice": "auto", "input": [more]}
    request = decode_request(wire)
    turns = [Turn(one.role, one.blocks) for one in request.conversation.messages]
    assert encode(request, *turns) == (wire, [])


def test_a_choice_among_tools_that_the_provider_keeps_is_written():
    wire = {"model": "m", "tool_choice": "required", "prompt": {"id": "pmpt_1"}, "input": []}
    assert encode(decode_request(wire)) == (wire, [])


def test_instructions_with_a_cache_mark_are_an_item():
    """`instructions` is a string: only a part can carry the mark."""
    turn = Turn("system", (Text(text="Be brief.", cache="default"),))
    body, findings = encode(request_of(model="m"), turn)
    part = {"type": "input_text", "text": "Be brief."}
    marked = part | {"prompt_cache_breakpoint": {"mode": "explicit"}}
    assert body == {"model": "m", "input": [{"role": "system", "content": [marked]}]}
    assert findings == []


def test_encoding_is_deterministic_and_only_adds_to_the_end():
    request = request_of(model="m", params=Params(max_tokens=1))
    turns = (Turn("user", (Text(text="a"),)), Turn("assistant", (Text(text="b"),)))
    short, _ = encode(request, *turns[:1])
    long, _ = encode(request, *turns)
    assert list(short) == list(long)
    assert long["input"][:1] == short["input"]


def test_system_messages_are_written_as_they_were_said():
    messages = decode_request({"model": "m", "input": [{"role": "system", "content": "a"}]})
    assert list(messages.conversation.messages) == [Message("system", (Text(text="a"),))]


def test_a_part_whose_type_is_no_text_is_no_error_of_ours():
    body = {"model": "m", "input": [{"role": "user", "content": [{"type": ["x"], "text": "Hi"}]}]}
    encoded = translate(body, FORMAT, "openai/openai-responses:gpt-5")
    assert encoded.body["input"] == [{"role": "user", "content": "Hi"}]
    assert [finding.code for finding in encoded.report] == ["foreign_part"]


CODEX = replace(TARGET, unstored=True, instructions_required=True)
ASKED = Turn("user", (Text(text="hi"),))
SEALED = "reasoning.encrypted_content"


@pytest.mark.parametrize(
    ("native", "codes", "include"),
    [
        ({}, ["param_added"], [SEALED]),
        (
            {"store": True, "include": ["x"]},
            ["param_changed", "param_added"],
            ["x", SEALED],
        ),
        ({"store": False, "include": [SEALED, "x"]}, [], [SEALED, "x"]),
        ({"store": False, "include": "x"}, ["param_added"], [SEALED]),
    ],
)
def test_a_host_that_stores_nothing_is_told_so_and_asked_for_sealed_reasoning(
    native, codes, include
):
    asked = Request(Conversation(), native=Native(FORMAT, native) if native else None)
    body, findings = encode(asked, ASKED, target=CODEX)
    assert body["store"] is False
    assert body["include"] == include
    assert [(one.code, one.where) for one in findings] == [(one, "native.store") for one in codes]
    assert "store" not in encode(Request(Conversation()), ASKED)[0]


def test_the_field_for_instructions_is_there_where_a_host_wants_it():
    assert encode(Request(Conversation()), ASKED, target=CODEX)[0]["instructions"] == ""
    told = Turn("system", (Text(text="Be brief."),))
    body, _ = encode(Request(Conversation()), told, ASKED, target=CODEX)
    assert body["instructions"] == "Be brief."
    assert "instructions" not in encode(Request(Conversation()), ASKED)[0]
