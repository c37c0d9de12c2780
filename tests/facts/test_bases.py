"""The base of a format says what the documents of the API say, and where each rule was read."""

import re

import pytest

from canonicall.errors import UnknownName
from canonicall.facts.bases import base_rule, base_target
from canonicall.facts.registry import get_target
from canonicall.facts.target import FORMATS, field_tree
from canonicall.wire.gemini import TARGET


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


@pytest.mark.parametrize("format", FORMATS)
def test_a_base_is_the_target_of_its_format(format):
    target = base_target(format)
    assert target.format == format
    assert target.domain
    assert get_target(format).provider == target.provider


def test_a_rule_has_its_own_source_or_that_of_its_file():
    stated = base_rule("anthropic", "cache_marks")
    assert stated.value == 4
    assert stated.source == '"A maximum of 4 blocks with cache_control may be provided."'
    other = base_rule("anthropic", "seed_field")
    assert other.value == "seed"
    assert other.source.startswith("platform.claude.com")
    assert (stated.date, stated.confidence) == (other.date, other.confidence) == ("2026-11", "A")


def test_the_rule_of_a_table_is_the_whole_table():
    assert base_rule("openai-responses", "ids").value == base_target("openai-responses").ids


def test_what_has_no_base_is_refused():
    with pytest.raises(UnknownName):
        base_target("telegraph")
    with pytest.raises(UnknownName):
        base_rule("anthropic", "idz")
