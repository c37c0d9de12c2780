"""Whatever stands where a schema should, in whichever format: the judge answers and does not raise."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonicall.facts.registry import get_target
from canonicall.verify import verify

ASKED = [{"role": "user", "content": "Go."}]
WORDS = (
    *(
        "type",
        "properties",
        "required",
        "items",
        "anyOf",
        "oneOf",
        "enum",
        "$ref",
        "$defs",
        "const",
    ),
    *("additionalProperties", "format", "minItems", "minimum", "definitions", "not", "any_of"),
)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-2, 9)
    | st.floats()
    | st.sampled_from(["object", "array", "string", "#", "#/$defs/a", "#/properties/a/x", "a", ""])
)
anything = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from((*WORDS, "a")), inner, max_size=5)
    ),
    max_leaves=25,
)
objects = st.builds(
    lambda properties, others: {**others, "type": "object", "properties": properties},
    st.dictionaries(st.sampled_from(["a", "b c"]), anything, max_size=2),
    st.dictionaries(st.sampled_from(WORDS), anything, max_size=4),
)
schemas = anything | objects


def chat(schema):
    function = {"name": "get", "parameters": schema, "strict": True}
    tool = {"type": "function", "function": function}
    return {"messages": ASKED, "tools": [tool], "strict_tools": True}


def responses(schema):
    tool = {"type": "function", "name": "get", "parameters": schema, "strict": True}
    return {"input": ASKED, "tools": [tool]}


def claude(schema):
    tool = {"name": "get", "input_schema": schema, "strict": True}
    return {"max_tokens": 9, "messages": ASKED, "tools": [tool]}


def gemini(schema):
    declared = [
        {"name": "get", "parameters": schema},
        {"name": "b", "parametersJsonSchema": schema},
    ]
    contents = [{"role": "user", "parts": [{"text": "Go."}]}]
    return {"contents": contents, "tools": [{"functionDeclarations": declared}]}


def bedrock(schema):
    spec = {"name": "get", "inputSchema": {"json": schema}}
    messages = [{"role": "user", "content": [{"text": "Go."}]}]
    return {"messages": messages, "toolConfig": {"tools": [{"toolSpec": spec}]}}


@pytest.mark.parametrize(
    ("target", "body"),
    [
        ("openai", chat),
        ("openai/openai-responses", responses),
        ("mistral", chat),
        ("anthropic", claude),
        ("gemini", gemini),
        ("bedrock", bedrock),
        ("cohere", chat),
        ("ollama", chat),
    ],
)
@given(schema=schemas)
def test_any_value_in_place_of_a_schema(target, body, schema):
    for one in verify(body(schema), get_target(target)):
        assert one.where.startswith("$")
        assert one.source
