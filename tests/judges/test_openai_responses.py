"""The OpenAI SDK's types for Responses judge the bodies made for OpenAI in that format."""

import pytest
from hypothesis import given, settings

from canonicall.codec.encode import encode_request
from corpus.support import needs_corpus
from judges.sources import MISSING, damaged_requests, recorded_refusals, refusals, switched_requests
from judges.typed import TypedJudge

params = pytest.importorskip("openai.types.responses.response_create_params", reason=MISSING)

TARGET = "openai/openai-responses"
WHOLE = TypedJudge(params.ResponseCreateParamsNonStreaming)
STREAMED = TypedJudge(params.ResponseCreateParamsStreaming)
# The types demand more than the API: each of these was left out in requests that were accepted.
# Where a value is not known, none is made up: an id names a stored item, and to write `strict` or
# `detail` would be to choose for the caller.
LEFT_OUT = [
    r"^tools\.\d+\.function\.strict: Field required",  # 219 recorded tools
    r"reasoning\.id: Field required",  # 30 recorded items
    # 2 recorded images. A message that fits none of its types is then compared with a reference.
    r"input_image\.detail: Field required|\.object\.ItemReference\.",
]


def judge(body):
    return (STREAMED if body.get("stream") else WHOLE)(body)


def test_after_every_switch_of_provider():
    assert refusals(judge, switched_requests(), TARGET, LEFT_OUT) == []


@settings(max_examples=60)
@given(damaged_requests)
def test_any_damaged_conversation(asked):
    assert refusals(judge, [("damaged", asked)], TARGET, LEFT_OUT) == []


@needs_corpus
def test_every_recorded_tool_conversation():
    assert recorded_refusals(judge, TARGET, LEFT_OUT) == []


def made_body():
    return encode_request(switched_requests()[0][1], TARGET).body


def test_the_judge_refuses_a_call_in_the_form_of_the_other_format():
    body = made_body()
    call = next(one for one in body["input"] if one.get("type") == "function_call")
    call["function"] = {"name": call.pop("name"), "arguments": call.pop("arguments")}
    told = " ".join(judge(body))
    assert "function_call.function: Extra inputs are not permitted" in told
    assert "function_call.arguments: Field required" in told


def test_the_judge_refuses_a_role_that_is_not_there():
    body = made_body()
    body["input"].append({"role": "tool", "content": "done"})
    assert any(line.startswith(f"input.list.{len(body['input']) - 1}") for line in judge(body))
