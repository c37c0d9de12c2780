"""The base target says what the documents of the API say."""

import re

import pytest

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
