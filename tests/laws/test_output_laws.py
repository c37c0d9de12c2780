"""The format of the reply on its way through every format and to every target."""

from hypothesis import given, settings
from hypothesis import strategies as st

from batches import each
from canonicall import (
    Conversation,
    OutputFormat,
    Params,
    Request,
    Tool,
    decode_request,
    encode_request,
    verify,
)
from laws.test_schema_laws import schemas

from bodies import every_target

MODELS = {
    "openai-chat": "openai:gpt-5",
    "openai-responses": "openai/openai-responses:gpt-5",
    "anthropic": "anthropic:claude-sonnet-4-5",
    "gemini": "gemini:gemini-3-pro",
    "bedrock": "bedrock:anthropic.claude-sonnet-4-5-20250929-v1:0",
    "cohere": "cohere:command-a",
    "ollama": "ollama/ollama:qwen3",
}
"""A model of each format that can be asked for a schema."""
NAMED = ("openai-chat", "openai-responses", "bedrock")
"""The formats with a place for a name and a description."""
OBJECTS = [name for name in MODELS if name not in ("anthropic", "bedrock")]

_LEAVES = st.sampled_from(["string", "integer", "number", "boolean"]).map(lambda t: {"type": t})


def _closed(inner):
    fields = st.dictionaries(st.sampled_from(["city", "days", "at"]), inner, min_size=1, max_size=3)
    return fields.map(
        lambda one: {
            "type": "object",
            "properties": one,
            "required": list(one),
            "additionalProperties": False,
        }
    )


def _deeper(inner):
    return _closed(inner) | inner.map(lambda one: {"type": "array", "items": one})


portable = _closed(st.recursive(_LEAVES, _deeper, max_leaves=4))
"""Schemas that every format can say exactly."""
outputs = st.builds(
    OutputFormat,
    schema=portable,
    name=st.sampled_from(["", "place", "a-b_1"]),
    description=st.sampled_from(["", "Where it is."]),
    strict=st.sampled_from([None, True, False]),
)
any_outputs = st.builds(
    OutputFormat,
    schema=st.none() | schemas(),
    name=st.text(max_size=80),
    description=st.text(max_size=5),
    strict=st.sampled_from([None, True, False]),
)


def asked(output, words="Where? Answer in JSON.", tools=()):
    talk = Conversation()
    talk.user(words)
    return Request(talk, tools=tools, params=Params(output=output))


@settings(max_examples=40)
@given(outputs)
@each("other", MODELS)
@each("format", MODELS)
def test_a_format_of_the_reply_survives_two_formats(format, other, output):
    """What both can say comes out as it went in, and neither provider refuses what it is sent."""
    first = encode_request(asked(output), MODELS[format])
    second = encode_request(decode_request(first.body, format), MODELS[other])
    came = decode_request(second.body, other).params.output
    assert came.schema == output.schema
    if format in NAMED and other in NAMED:
        assert came.description == output.description
        # One that is missing is made where it has to be there.
        assert came.name == output.name or not output.name
    assert not verify(first.body, MODELS[format])
    assert not verify(second.body, MODELS[other])


@each("other", OBJECTS)
@each("format", OBJECTS)
def test_any_object_survives_two_formats(format, other):
    first = encode_request(asked(OutputFormat()), MODELS[format])
    second = encode_request(decode_request(first.body, format), MODELS[other])
    assert decode_request(second.body, other).params.output == OutputFormat()


@settings(max_examples=40)
@given(any_outputs, st.booleans(), st.booleans())
@every_target
def test_whatever_is_asked_for_the_judge_takes_what_is_rendered(target, output, says, offers):
    """Any schema, with the word that some hosts want and without it, alone and beside a tool."""
    tool = Tool("look", parameters={"type": "object", "properties": {}}, strict=True)
    words = "Answer in JSON." if says else "Where?"
    made = encode_request(asked(output, words, (tool,) if offers else ()), target)
    assert [(one.code, one.where) for one in verify(made.body, target)] == []
    told = [one for one in made.report if one.where.startswith(("params.output", "$."))]
    read = decode_request(made.body, target.format).params.output
    assert told or read is not None
