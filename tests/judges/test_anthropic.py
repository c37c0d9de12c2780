"""The Anthropic SDK's types judge the bodies made for Anthropic.

Recorded conversations are judged by the types of its beta API: they say all that the others say,
and also what a request may have that was sent with a beta header, as some of those were.
"""

import pytest
from hypothesis import given, settings

from canonicall.codec.encode import encode_request
from corpus.support import needs_corpus
from judges.sources import MISSING, damaged_requests, recorded_refusals, refusals, switched_requests
from judges.typed import TypedJudge

params = pytest.importorskip("anthropic.types.message_create_params", reason=MISSING)
beta = pytest.importorskip("anthropic.types.beta.message_create_params", reason=MISSING)

OLDER = "anthropic:claude-sonnet-4-6"
NEWEST = "anthropic:claude-opus-5"
every_model = pytest.mark.parametrize("target", [OLDER, NEWEST])
WHOLE = TypedJudge(params.MessageCreateParamsNonStreaming)
STREAMED = TypedJudge(params.MessageCreateParamsStreaming)
BETA_WHOLE = TypedJudge(beta.MessageCreateParamsNonStreaming)
BETA_STREAMED = TypedJudge(beta.MessageCreateParamsStreaming)
# What the SDK cannot know: its version 2 describes what the newest models take, and they take no
# sampling parameters. Models up to 4.6 do, as recorded traffic shows, so there they are sent.
OF_OLDER_MODELS = {OLDER: [r"^(temperature|top_p|top_k): Extra"], NEWEST: []}


def judge(body):
    return (STREAMED if body.get("stream") else WHOLE)(body)


def beta_judge(body):
    return (BETA_STREAMED if body.get("stream") else BETA_WHOLE)(body)


@every_model
def test_after_every_switch_of_provider(target):
    assert refusals(judge, switched_requests(), target) == []


@every_model
@settings(max_examples=60)
@given(damaged_requests)
def test_any_damaged_conversation(target, asked):
    assert refusals(judge, [("damaged", asked)], target) == []


@needs_corpus
@every_model
def test_every_recorded_tool_conversation(target):
    assert recorded_refusals(beta_judge, target, OF_OLDER_MODELS[target]) == []


def made_body():
    return encode_request(switched_requests()[0][1], NEWEST).body


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
