"""Reading a profile: what is refused, and whether the error says where and what would do."""

from copy import deepcopy

import pytest

from batches import each
from canonicall.errors import InvalidValue, UnknownName
from canonicall.facts.profile import Profile, load_profile, override
from canonicall.facts.target import Target

GOOD = {
    "name": "host",
    "format": "openai-chat",
    "rules": {
        "ids": {"value": {"max_length": 12}, "source": "manual", "date": "2026-10"},
        "media": {"value": ["image"], "source": "manual", "date": "2026-10-03", "confidence": "A"},
        "reasoning_placeholder": {"unset": True, "source": "manual", "date": "2026-10"},
    },
    "models": [{"match": "BIG-*", "rules": {}}],
    "capabilities": {
        "parallel": {"value": True, "source": "manual", "date": "2026-10"},
        "quirks": [{"text": "odd", "source": "manual", "date": "2026-10"}],
    },
}


def changed(**keys: object) -> dict[str, object]:
    return {**deepcopy(GOOD), **keys}


def rule(**keys: object) -> dict[str, object]:
    return {"value": 5, "source": "manual", "date": "2026-10", **keys}


def test_a_mapping_becomes_a_profile():
    profile = load_profile(GOOD, "host.toml")
    assert isinstance(profile, Profile)
    assert (profile.title, profile.domain, profile.formats) == ("host", "host", ("openai-chat",))
    assert profile.rules["media"].value == ("image",)
    assert profile.rules["reasoning_placeholder"].value is None
    assert profile.models[0].match == ("big-*",)
    assert profile.quirks[0].text == "odd"
    assert profile.quirks[0].confidence == "U"


def test_text_and_bytes_are_read_alike():
    text = 'name = "host"\nformat = "cohere"\ntitle = "Höst"'
    assert load_profile(text, "x") == load_profile(text.encode(), "x")


def test_rules_override_fields_and_entries_of_tables():
    target = override(Target(format="openai-chat"), load_profile(GOOD, "x").rules)
    assert target.ids.max_length == 12
    assert target.ids.prefix == "call_"
    assert target.media == ("image",)


@pytest.mark.parametrize("data", ["name = ", b"\xff\xfe", 'name = "a"\nname = "b"'])
def test_what_is_not_toml_is_refused_with_its_origin(data):
    with pytest.raises(InvalidValue, match=r"host\.toml: this is not TOML"):
        load_profile(data, "host.toml")


@each(
    ("data", "where", "what"),
    [
        (changed(rules={"max_tool": rule()}), "h: rules", "Did you mean 'max_tools'"),
        (changed(rules={"provider": rule()}), "h: rules", "no field of Target"),
        (changed(rules={"ids": rule(value={"length": 9})}), "h: rules.ids", "'max_length'"),
        (changed(rules={"ids": rule(value={"style": "x"})}), "h: rules.ids.value.style", "'x'"),
        (changed(rules={"max_tools": rule(value="5")}), "h: rules.max_tools.value", "'5'"),
        (changed(rules={"max_tools": 5}), "h: rules.max_tools", "a table belongs here"),
        (changed(rules={"max_tools": {"value": 5, "date": "2026-10"}}), "h: rules.max_tools", "`source` is missing"),
        (changed(rules={"max_tools": {"value": 5, "source": "m"}}), "h: rules.max_tools", "`date` is missing"),
        (changed(rules={"max_tools": rule(source="")}), "h: rules.max_tools", "`source` has to be text"),
        (changed(rules={"max_tools": rule(date="October")}), "h: rules.max_tools.date", "2026-09"),
        (changed(rules={"max_tools": rule(date="2026-13")}), "h: rules.max_tools.date", "2026-09"),
        (changed(rules={"max_tools": rule(confidence="D")}), "h: rules.max_tools.confidence", "'D'"),
        (changed(rules={"max_tools": rule(unset=True)}), "h: rules.max_tools", "either `value` or"),
        (changed(rules={"max_tools": {"source": "m", "date": "2026-10"}}), "h: rules.max_tools", "either `value` or"),
        (changed(rules={"max_tools": {"unset": True, "source": "m", "date": "2026-10"}}), "h: rules.max_tools.value", "None"),
        (changed(rules={"text_forms": rule(value=[{"name": "f"}])}), "h: rules.text_forms.value", "`opening`"),
        (changed(rules={"text_forms": rule(value=[{"name": "f", "opening": " "}])}), "h: rules.text_forms.value", "not blank"),
        (changed(models=[{"rules": {}}]), "h: models[0]", "no `match`"),
        (changed(models=[{"match": "*", "rules": {"idz": rule()}}]), "h: models[0].rules", "'ids'"),
        (changed(models={"match": "*"}), "h: models", "does not fit"),
        (changed(capabilities={"paralel": rule()}), "h: capabilities", "'parallel'"),
        (changed(capabilities={"parallel": rule()}), "h: capabilities.parallel.value", "5 does not fit"),
        (changed(capabilities={"quirks": [{"text": "odd"}]}), "h: capabilities.quirks[0]", "`source`"),
        (changed(name="Has Space"), "h: name", "cannot be a provider's name"),
        (changed(titel="T"), "h", "Did you mean 'title'"),
        ({"format": "cohere"}, "h", "`name` is missing"),
        ({"name": "host"}, "h", "`format` is missing"),
    ],
)  # fmt: skip
def test_a_fault_is_refused_with_its_place(data, where, what):
    with pytest.raises(InvalidValue) as caught:
        load_profile(data, "h")
    assert caught.value.where == where
    assert what in str(caught.value)


@pytest.mark.parametrize(
    "data",
    [
        changed(format="openai"),
        changed(formats=["antropic"]),
        changed(models=[{"match": "*", "format": "anthropic", "rules": {}}]),
    ],
)
def test_a_format_that_does_not_exist_is_named(data):
    with pytest.raises(UnknownName, match=r"openai-chat|anthropic"):
        load_profile(data, "h")
