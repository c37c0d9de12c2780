"""The capability matrix: what is documented, with its source; conservative where nothing is."""

import pytest

from batches import each
from canonicall.facts.capabilities import Capabilities, get_capabilities
from canonicall.facts.registry import (
    provider_names,
    register_provider,
    unregister_provider,
)


def test_an_unknown_provider_gets_conservative_answers():
    assert get_capabilities("nobody") == Capabilities(
        provider="nobody",
        format="unknown",
        supports_parallel=False,
        max_tools_per_call=1,
        requires_schema=False,
        stream_support=False,
        quirks=(),
    )


@pytest.mark.parametrize("name", ["", ":", "/", "no such", "ä:ö/ü", "../openai", "x" * 5000])
def test_no_name_raises(name):
    assert get_capabilities(name).format == "unknown"


@pytest.mark.parametrize("name", ["anthropic", "openai", "xai", "deepseek"])
def test_the_providers_of_old_give_structured_calls_today(name):
    known = get_capabilities(name)
    assert known.format == "json"
    assert known.supports_parallel
    assert known.requires_schema
    assert known.stream_support


@each("name", provider_names())
def test_every_known_value_has_a_source_and_no_limit_is_made_up(name):
    known = get_capabilities(name)
    default = Capabilities(provider=name, format="json", max_tools_per_call=None)
    fields = set(Capabilities.__struct_fields__) - {
        "provider",
        "wire_format",
        "quirks",
        "provenance",
    }
    for field in fields:
        if getattr(known, field) != getattr(default, field):
            assert known.provenance[field].source
    assert known.max_tools_per_call is None
    assert all(f"quirks[{index}]" in known.provenance for index in range(len(known.quirks)))


def test_a_profile_says_what_is_documented():
    openai = get_capabilities("openai")
    assert (openai.provider, openai.wire_format, openai.max_tools) == ("openai", "openai-chat", 128)
    assert "subset" in openai.tool_choice
    assert openai.provenance["tool_choice"].confidence == "A"
    assert get_capabilities("deepseek").reasoning_replay == "required"


def test_aliases_and_targets_are_understood():
    assert get_capabilities("grok:grok-4") == get_capabilities("xai")
    assert get_capabilities("openai/openai-responses:gpt-5") == get_capabilities("openai")


def test_a_registered_provider_can_print_its_calls_in_text():
    fact = {"source": "its manual", "date": "2026-10", "confidence": "A"}
    register_provider(
        {
            "name": "tagged",
            "format": "openai-chat",
            "capabilities": {
                "format": {"value": "xml", **fact},
                "max_calls": {"value": 1, **fact},
            },
        }
    )
    try:
        known = get_capabilities("tagged")
    finally:
        unregister_provider("tagged")
    assert (known.format, known.max_tools_per_call, known.supports_parallel) == ("xml", 1, False)
    assert known.provenance["max_tools_per_call"].source == "its manual"
