"""The OpenAI SDK's types for Chat Completions judge the bodies made for OpenAI."""

import pytest
from hypothesis import given, settings

from canonicall.codec.encode import encode_request
from corpus.support import needs_corpus
from judges.sources import MISSING, damaged_requests, recorded_refusals, refusals, switched_requests
from judges.typed import TypedJudge

params = pytest.importorskip("openai.types.chat.completion_create_params", reason=MISSING)

TARGET = "openai"
WHOLE = TypedJudge(params.CompletionCreateParamsNonStreaming)
STREAMED = TypedJudge(params.CompletionCreateParamsStreaming)


def judge(body):
    return (STREAMED if body.get("stream") else WHOLE)(body)


def test_after_every_switch_of_provider():
    assert refusals(judge, switched_requests(), TARGET) == []


@settings(max_examples=60)
@given(damaged_requests)
def test_any_damaged_conversation(asked):
    assert refusals(judge, [("damaged", asked)], TARGET) == []


@needs_corpus
def test_every_recorded_tool_conversation():
    assert recorded_refusals(judge, TARGET) == []


def made_body():
    return encode_request(switched_requests()[0][1], TARGET).body


def test_the_judge_refuses_a_field_that_is_not_there():
    body = made_body()
    call = body["messages"][1]["tool_calls"][0]
    call["name"] = call["function"]["name"]
    assert [line.partition(",")[0] for line in judge(body)] == [
        "messages.1.assistant.tool_calls.0.function.name: Extra inputs are not permitted"
    ]


def test_the_judge_refuses_a_result_without_its_call():
    body = made_body()
    result = next(one for one in body["messages"] if one["role"] == "tool")
    del result["tool_call_id"]
    assert "tool_call_id: Field required" in judge(body)[0]
