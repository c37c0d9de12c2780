"""Whole Ollama requests."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from canonicall.blocks import Native, Origin
from canonicall.conversation import Conversation
from canonicall.errors import CanonicallError, MalformedBody
from canonicall.request import OutputFormat, Params, Reasoning, Request, Tool, ToolChoice
from canonicall.testing.strategies import json_values
from canonicall.wire.ollama import TARGET
from canonicall.wire.ollama.request import decode_request
from wire.support import places, put, transcript, written

BODY = {
    "model": "m",
    "stream": False,
    "think": "high",
    "options": {
        "num_ctx": 4096,
        "num_predict": 9,
        "temperature": 0.5,
        "top_p": 0.9,
        "top_k": 3,
        "seed": 7,
        "stop": ["x"],
    },
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
    "format": "json",
    "keep_alive": 0,
    "messages": [
        {"role": "system", "content": "be kind"},
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": {"a": 1}}}],
        },
        {"role": "tool", "content": "1", "tool_name": "f", "tool_call_id": "c"},
    ],
}


def encoded(**fields):
    request = Request(Conversation(), model="m", **fields)
    return written(request, transcript(request), TARGET)


def test_a_whole_request_comes_back_key_for_key():
    request = decode_request(BODY)
    body, findings = written(request, transcript(request), TARGET)
    assert body == BODY
    assert list(body) == list(BODY)
    assert findings == []
    assert request.findings == ()


def test_what_a_request_means():
    request = decode_request(BODY)
    assert request.params == Params(
        max_tokens=9,
        temperature=0.5,
        top_p=0.9,
        top_k=3,
        stop=("x",),
        seed=7,
        stream=False,
        reasoning=Reasoning(enabled=True, effort="high"),
        output=OutputFormat(),
    )
    assert request.native == Native("ollama", {"keep_alive": 0, "options": {"num_ctx": 4096}})


def test_assistant_messages_know_where_they_come_from():
    reply = list(decode_request(BODY).conversation.messages)[2]
    assert reply.origin == Origin("ollama", "ollama", model="m")
    reply = list(decode_request(BODY, origin=Origin("x")).conversation.messages)[2]
    assert reply.origin == Origin("x")


def test_streaming_is_the_default_here_and_nowhere_else():
    assert decode_request({"model": "m"}).params.stream is True
    assert encoded()[0]["stream"] is False
    assert encoded(params=Params(stream=True))[0]["stream"] is True


def test_results_that_only_name_their_tool_find_their_calls():
    calls = [{"function": {"name": name, "arguments": {}}} for name in ("f", "g")]
    results = [{"role": "tool", "content": name, "tool_name": name} for name in ("g", "f")]
    request = decode_request({"messages": [{"role": "assistant", "tool_calls": calls}, *results]})
    ledger = request.conversation.ledger
    assert ledger.open == ()
    _, *told = request.conversation.messages
    assert [ledger[message.results[0].call_id].name for message in told] == ["g", "f"]


@pytest.mark.parametrize("endless", [-1, -2])
def test_a_negative_limit_is_no_limit_for_others(endless):
    request = decode_request({"model": "m", "options": {"num_predict": endless}})
    assert request.params.max_tokens is None
    body, _ = written(request, transcript(request), TARGET)
    assert body["options"] == {"num_predict": endless}


def test_one_stop_word_may_come_bare():
    assert decode_request({"options": {"stop": "x"}}).params.stop == ("x",)


@pytest.mark.parametrize(
    ("reasoning", "think", "codes"),
    [
        (Reasoning(enabled=False), False, []),
        (Reasoning(enabled=True), True, []),
        (Reasoning(effort="low"), "low", []),
        (Reasoning(enabled=True, budget=5), True, ["param_dropped"]),
    ],
)
def test_thinking_is_on_or_off_or_an_effort(reasoning, think, codes):
    body, findings = encoded(params=Params(reasoning=reasoning))
    assert body["think"] == think
    assert [f.code for f in findings] == codes


def test_strictness_is_not_sent():
    body, findings = encoded(tools=(Tool("f", strict=True),))
    assert "strict" not in body["tools"][0]["function"]
    assert [f.code for f in findings] == ["param_dropped"]


def test_no_tools_are_sent_where_none_may_be_called():
    body, findings = encoded(tools=(Tool("f"),), tool_choice=ToolChoice("none"))
    assert "tools" not in body
    assert [f.code for f in findings] == ["choice_weakened"]


def test_wire_names_reach_the_tools():
    request = Request(Conversation(), tools=(Tool("my.tool"),))
    body, _ = written(request, transcript(request, {"my_tool": "my.tool"}), TARGET)
    assert body["tools"][0]["function"]["name"] == "my_tool"


def test_the_targets_model_is_written():
    request = decode_request(BODY)
    body, _ = written(request, transcript(request), replace(TARGET, model="other"))
    assert body["model"] == "other"


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ("x", "$"),
        ({"model": 1}, "$.model"),
        ({"messages": {}}, "$.messages"),
        ({"options": [1]}, "$.options"),
        ({"options": {"stop": {}}}, "$.options.stop"),
        ({"options": {"temperature": {"a": 1}}}, "$.options.temperature"),
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


def test_fields_of_other_formats_are_not_sent():
    body, findings = encoded(native=Native("gemini", {"safetySettings": []}))
    assert "safetySettings" not in body
    assert [(f.code, f.where) for f in findings] == [("param_dropped", "native")]
    assert "safetySettings" in findings[0].why
