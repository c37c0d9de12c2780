"""The base target says what the documents of the API say."""

import re

import pytest

from canonicall.facts.registry import get_target
from canonicall.facts.target import field_tree
from canonicall.wire.gemini.target import TARGET


@pytest.mark.parametrize("name", ["a", "_x", "get_weather", "a-b", "x" * 64])
def test_names_the_api_takes_fit(name):
    assert re.fullmatch(TARGET.names.pattern, name)
    assert len(name) <= TARGET.names.max_length


@pytest.mark.parametrize("name", ["", "1st", "-x", "a.b", "a b", "ä"])
def test_names_that_are_not_portable_do_not_fit(name):
    assert not re.fullmatch(TARGET.names.pattern, name)


def test_ids_are_only_echoed_and_vertex_is_another_domain():
    assert TARGET.ids.style == "echoed"
    assert TARGET.domain == "gemini-api"
    assert TARGET.signature_sentinel == "skip_thought_signature_validator"


def names_in(place, *path):
    """The fields that one of the two services has there."""
    found = set()
    for provider in ("gemini", "vertex"):
        tree = field_tree(getattr(get_target(provider).fields, place))
        for step in path:
            tree = tree[step]
        found |= set(tree)
    return found


@pytest.mark.parametrize(
    ("kind", "place", "path"),
    [
        ("Blob", "part", ["inlineData"]),
        ("FileData", "part", ["fileData"]),
        ("FunctionCall", "call", ["functionCall"]),
        ("FunctionResponse", "part", ["functionResponse"]),
        ("FunctionResponsePart", "part", ["functionResponse", "parts"]),
        ("ThinkingConfig", "request", ["generationConfig", "thinkingConfig"]),
        ("ToolConfig", "request", ["toolConfig"]),
        ("FunctionCallingConfig", "request", ["toolConfig", "functionCallingConfig"]),
    ],
)
def test_the_fields_are_those_of_the_sdk(kind, place, path):
    assert names_in(place, *path) == aliases(kind)


def test_the_fields_of_a_part_and_of_the_config_are_those_of_the_sdk():
    assert names_in("part") == {*aliases("Part"), "response"}
    # The SDK calls it otherwise than the API; the API has one of the schemas under a second name,
    # and one of these from the config of a request.
    renamed = aliases("GenerationConfig") - {"modelSelectionConfig"} | {"modelConfig"}
    assert names_in("request", "generationConfig") == {
        *renamed,
        "_responseJsonSchema",
        "imageConfig",
    }


def aliases(kind):
    """The fields of a type of the SDK, as they are on the wire."""
    types = pytest.importorskip("google.genai.types")
    return {field.alias or name for name, field in getattr(types, kind).model_fields.items()}
