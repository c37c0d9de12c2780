"""The Google Gen AI SDK's models judge the bodies made for Gemini.

The SDK has one flat object for all settings; it spreads them over the body itself. Here the body is
gathered into that object, read by the SDK, and given to the SDK's own conversion for this API.
"""

import json
from base64 import b64encode

import pytest
from hypothesis import given, settings

from canonicall.codec.encode import encode_request
from corpus.support import needs_corpus
from judges.sources import (
    MISSING,
    damaged_requests,
    recorded_refusals,
    recorded_requests,
    refusals,
    switched_requests,
)

genai = pytest.importorskip("google.genai", reason=MISSING)
models = pytest.importorskip("google.genai.models", reason=MISSING)
types = pytest.importorskip("google.genai.types", reason=MISSING)

TARGET = "gemini"
CLIENT = genai.Client(api_key="none")._api_client
SETTINGS = (
    *("systemInstruction", "tools", "toolConfig", "safetySettings"),
    *("cachedContent", "labels", "serviceTier"),
)
"""What the SDK takes with the settings and puts beside `generationConfig`."""


def judge(body):
    """What the models have against a body, or else what the conversion has."""
    told, contents, config = read_body(body)
    return told or converted(contents, config)


def models_judge(body):
    """The models alone: most of the time goes into the conversion."""
    return read_body(body)[0]


def read_body(body):
    settings = {name: body[name] for name in SETTINGS if name in body}
    settings |= body.get("generationConfig", {})
    unknown = body.keys() - {*SETTINGS, "contents", "generationConfig"}
    told = [f"{name}: unknown field" for name in sorted(unknown)]
    config, wrong = read(types.GenerateContentConfig, settings)
    told += wrong
    contents = []
    for index, content in enumerate(body["contents"]):
        made, wrong = read(types.Content, sealed(content))
        contents.append(made)
        told += [f"contents.{index}.{line}" for line in wrong]
    return told, contents, config


def sealed(content):
    """`content` with signatures in base64, as all real ones are; those of our tests are words."""
    parts = [
        part | {"thoughtSignature": b64encode(part["thoughtSignature"].encode()).decode()}
        if "thoughtSignature" in part
        else part
        for part in content["parts"]
    ]
    return content | {"parts": parts}


def read(model, value):
    """`value` read as JSON, which is where the SDK expects base64, and what is wrong with it."""
    try:
        return model.model_validate_json(json.dumps(value)), []
    except ValueError as error:
        return None, [
            f"{'.'.join(map(str, one['loc']))}: {one['msg']}, got {one['input']!r:.80}"
            for one in error.errors()
        ]


def converted(contents, config):
    """What the SDK's conversion for the Gemini API has against settings of the other API."""
    asked = types._GenerateContentParameters(model="model", contents=contents, config=config)
    try:
        models._GenerateContentParameters_to_mldev(CLIENT, asked)
    except ValueError as error:
        return [str(error)]
    return []


def test_after_every_switch_of_provider():
    assert refusals(judge, switched_requests(), TARGET) == []


@settings(max_examples=60)
@given(damaged_requests)
def test_any_damaged_conversation(asked):
    assert refusals(judge, [("damaged", asked)], TARGET) == []


@needs_corpus
def test_every_recorded_tool_conversation():
    assert recorded_refusals(models_judge, TARGET) == []


@needs_corpus
def test_every_fifth_recorded_tool_conversation_is_converted():
    assert refusals(judge, recorded_requests()[::5], TARGET) == []


def made_body():
    return encode_request(switched_requests()[0][1], TARGET).body


def test_the_judge_refuses_a_field_that_is_not_there():
    body = made_body()
    body["contents"][0]["parts"][0]["type"] = "text"
    assert "parts.0.type: Extra inputs are not permitted" in judge(body)[0]


def test_the_judge_refuses_a_setting_that_is_not_there():
    assert (
        "max_tokens: Extra inputs"
        in judge(made_body() | {"generationConfig": {"max_tokens": 1}})[0]
    )


def test_the_judge_refuses_a_setting_of_the_other_api():
    assert "not in Gemini" in judge(made_body() | {"generationConfig": {"audioTimestamp": True}})[0]
