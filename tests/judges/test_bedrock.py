"""botocore's model of the Converse operation judges the bodies made for Bedrock.

botocore checks names, kinds, unions and least lengths. What its model says about patterns, enums
and greatest lengths it leaves to the service; those are checked here, from the same model.
"""

import re
from base64 import b64decode

import pytest
from hypothesis import given, settings

from canonicall.codec.encode import encode_request
from corpus.support import needs_corpus
from judges.sources import MISSING, damaged_requests, recorded_refusals, refusals, switched_requests

loaders = pytest.importorskip("botocore.loaders", reason=MISSING)
model = pytest.importorskip("botocore.model", reason=MISSING)
validate = pytest.importorskip("botocore.validate", reason=MISSING)

TARGET = "bedrock"
SERVICE = model.ServiceModel(loaders.Loader().load_service_model("bedrock-runtime", "service-2"))
SHAPE = SERVICE.operation_model("Converse").input_shape


def judge(body):
    body = with_bytes(body, SHAPE)
    report = validate.ParamValidator().validate(body, SHAPE).generate_report()
    return [*report.splitlines(), *beyond_limits(body, SHAPE, "$")]


def with_bytes(value, shape):
    """`value` as a program would pass it: bytes where JSON has them in base64."""
    match shape.type_name:
        case "structure" if isinstance(value, dict) and not shape.is_document_type:
            members = shape.members
            return {
                name: with_bytes(one, members[name]) if name in members else one
                for name, one in value.items()
            }
        case "list" if isinstance(value, list):
            return [with_bytes(one, shape.member) for one in value]
        case "blob":
            return b64decode(value, validate=True)
    return value


def beyond_limits(value, shape, where):
    """Where a value is not what the model says of its text or its length."""
    limits = shape.metadata
    match shape.type_name:
        case "structure" if not shape.is_document_type:
            for name in value.keys() & shape.members.keys():
                yield from beyond_limits(value[name], shape.members[name], f"{where}.{name}")
        case "list":
            for index, one in enumerate(value):
                yield from beyond_limits(one, shape.member, f"{where}[{index}]")
        case "string":
            if "pattern" in limits and not re.fullmatch(limits["pattern"], value):
                yield f"{where}: {value!r} does not match {limits['pattern']}"
            if limits.get("enum") and value not in limits["enum"]:
                yield f"{where}: {value!r} is none of {limits['enum']}"
    if shape.type_name in ("list", "string") and len(value) > limits.get("max", len(value)):
        yield f"{where}: longer than {limits['max']}"


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


def a_block(body, kind):
    return next(b[kind] for m in body["messages"] for b in m["content"] if kind in b)


def test_the_judge_refuses_a_field_that_is_not_there():
    body = made_body()
    a_block(body, "toolResult")["name"] = "search"
    assert 'Unknown parameter in messages[2].content[0].toolResult: "name"' in judge(body)[0]


def test_the_judge_refuses_a_block_of_two_kinds():
    body = made_body()
    body["messages"][0]["content"][0] |= {"toolUse": a_block(body, "toolUse")}
    assert any("messages[0].content[0]" in line for line in judge(body))


@pytest.mark.parametrize("id", ["call 0", "x" * 65])
def test_the_judge_refuses_an_id_beyond_the_limits_of_the_model(id):
    body = made_body()
    a_block(body, "toolUse")["toolUseId"] = id
    assert "toolUseId" in judge(body)[0]
