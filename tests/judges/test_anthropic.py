"""The Anthropic SDK's types judge the bodies made for Anthropic.

Recorded conversations are judged by the types of its beta API: they say all that the others say,
and also what a request may have that was sent with a beta header, as some of those were.
"""

import pytest
from hypothesis import given, settings

from canonicall.codec import encode_request
from judges.sources import (
    MISSING,
    damaged_requests,
    each_known,
    known_refusals,
    needs_corpus,
    recorded_refusals,
    refusals,
    switched_requests,
)
from judges.typed import TypedJudge

params = pytest.importorskip("anthropic.types.message_create_params", reason=MISSING)
beta = pytest.importorskip("anthropic.types.beta.message_create_params", reason=MISSING)

TARGET = "anthropic"
WHOLE = TypedJudge(params.MessageCreateParamsNonStreaming)
STREAMED = TypedJudge(params.MessageCreateParamsStreaming)
BETA_WHOLE = TypedJudge(beta.MessageCreateParamsNonStreaming)
BETA_STREAMED = TypedJudge(beta.MessageCreateParamsStreaming)
KNOWN = {
    r"^(temperature|top_p): Extra": "version 2 of the SDK has no sampling parameters any more",
    r"^output_format: Extra": "a beta field that has become `output_config.format` is sent on",
    r"^anthropic_version: Extra": "a field that only Vertex and Bedrock know is sent on as it is",
}


def judge(body):
    return (STREAMED if body.get("stream") else WHOLE)(body)


def beta_judge(body):
    return (BETA_STREAMED if body.get("stream") else BETA_WHOLE)(body)


def test_after_every_switch_of_provider():
    assert refusals(judge, switched_requests(), TARGET, KNOWN) == []


@settings(max_examples=60)
@given(damaged_requests)
def test_any_damaged_conversation(asked):
    assert refusals(judge, [("damaged", asked)], TARGET, KNOWN) == []


@needs_corpus
def test_every_recorded_tool_conversation():
    assert recorded_refusals(beta_judge, TARGET, KNOWN) == []


@needs_corpus
@each_known(KNOWN)
def test_what_is_refused_today(pattern):
    assert known_refusals(beta_judge, TARGET, pattern) == []


def made_body():
    return encode_request(switched_requests()[0][1], TARGET).body


@pytest.mark.parametrize("judge", [judge, beta_judge])
def test_the_judge_refuses_a_result_that_names_its_tool(judge):
    body = made_body()
    result = next(
        block
        for message in body["messages"]
        for block in message["content"]
        if isinstance(block, dict) and block["type"] == "tool_result"
    )
    result["name"] = "search"
    assert "tool_result.name: Extra inputs are not permitted" in judge(body)[0]


@pytest.mark.parametrize("judge", [judge, beta_judge])
def test_the_judge_refuses_a_message_of_a_tool(judge):
    body = made_body()
    body["messages"].append({"role": "tool", "content": "done"})
    assert "Input tag 'tool'" in judge(body)[0]
