"""Proto JSON: two spellings of a name, null for absent, one object for a list."""

import pytest

from canonicall.blocks import Native
from canonicall.errors import MalformedBody
from canonicall.wire.gemini.fields import enum_at, fields_at, many_at, own_fields


def test_both_spellings_are_one_name_and_null_is_absent():
    body = {"inline_data": 1, "fileData": 2, "top_p": None, "_own": 3, "UPPER_CASE": 4}
    assert fields_at(body, "$") == {"inlineData": 1, "fileData": 2, "_own": 3, "UPPER_CASE": 4}


@pytest.mark.parametrize(
    "body", [{"top_p": 1, "topP": 2}, {"topP": 2, "top_p": 1}], ids=["snake first", "camel first"]
)
def test_the_camel_case_spelling_wins(body):
    assert fields_at(body, "$") == {"topP": 2}


def test_only_the_level_at_hand_is_renamed():
    assert fields_at({"function_call": {"my_arg": 1}}, "$") == {"functionCall": {"my_arg": 1}}


def test_one_object_stands_for_a_list_of_one():
    assert many_at({"a": 1}, "$") == [{"a": 1}]
    assert many_at(None, "$") == []
    with pytest.raises(MalformedBody, match=r"^\$\.tools: expected a list, got text"):
        many_at("x", "$.tools")


def test_enums_are_words_or_numbers():
    assert (enum_at("AUTO", "$"), enum_at(2, "$"), enum_at(None, "$")) == ("AUTO", "2", "")
    with pytest.raises(MalformedBody):
        enum_at(True, "$.mode")


def test_native_fields_of_another_format_are_not_ours():
    assert own_fields(Native("gemini", {"a": 1})) == {"a": 1}
    assert own_fields(Native("bedrock", {"a": 1})) == {}
    assert own_fields(None) == {}
