"""What several providers share is written once: families of models, and what hosts are like."""

from importlib.resources import files

import pytest

from batches import each
from canonicall import get_rule, get_target, register_provider, unregister_provider
from canonicall.errors import InvalidValue, UnknownName
from canonicall.facts.profile import load_family, load_likeness, load_profile
from canonicall.facts.registry import get_profile, provider_names
from canonicall.facts.syntaxes import printed_syntaxes
from canonicall.syntax.detection import syntax_of_model
from canonicall.syntax.registry import get_syntax, syntax_names

FAMILIES = sorted(
    file.name.removesuffix(".toml")
    for file in files("canonicall.facts").joinpath("families").iterdir()
)
MINE = {"name": "mine", "format": "anthropic", "families": ["claude"]}


@each("name", FAMILIES)
def test_every_family_with_rules_is_named_by_a_provider(name):
    is_named = any(name in get_profile(one).families for one in provider_names())
    assert is_named == bool(load_family(name))


@each("name", FAMILIES)
def test_every_entry_holds_somewhere_and_excepts_only_providers_that_serve_it(name):
    serving = [one for one in map(get_profile, provider_names()) if name in one.families]
    for entry in load_family(name):
        hosts = {one.name for one in serving if entry.format in one.formats}
        assert hosts - set(entry.unknown_at), entry.match
        assert set(entry.unknown_at) <= {one.name for one in serving}, entry.match
        assert entry.rules or entry.served


@each("name", FAMILIES)
def test_every_rule_of_a_family_has_a_source_and_is_found_by_its_key(name):
    for entry in load_family(name):
        model = entry.match[0].replace("*", "")
        for field, rule in entry.rules.items():
            assert len(rule.source) > 10
            assert rule.stated_by == f"families/{name}"
            found = get_rule(f"families/{name}.{field}", format=entry.format, model=model)
            assert found.source


@each(
    "target",
    [
        "anthropic:claude-opus-4-6",
        "vertex/anthropic:claude-opus-4-6",
        "bedrock:us.anthropic.claude-opus-4-6-v1:0",
    ],
)
def test_a_model_of_a_family_is_the_same_at_every_host(target):
    assert get_target(target).efforts == ("low", "medium", "high", "max")


def test_a_provider_of_ones_own_takes_a_family_and_puts_it_right():
    said = {"source": "a page", "date": "2026-10"}
    entry = {"match": "claude-opus-4-6*", "rules": {"efforts": {"value": ["low"], **said}}}
    register_provider({**MINE, "rules": {"efforts": {"value": [], **said}}, "models": [entry]})
    try:
        assert get_target("mine:claude-opus-4-6").efforts == ("low",)
        assert get_target("mine:claude-opus-4-5").efforts == ("low", "medium", "high")
        assert get_target("mine:another").efforts == ()
    finally:
        unregister_provider("mine")


def test_what_holds_for_all_models_of_a_provider_counts_less_than_a_family():
    said = {"source": "a page", "date": "2026-10"}
    entry = {"match": "*", "rules": {"efforts": {"value": ["high"], **said}}}
    register_provider({**MINE, "models": [entry]})
    try:
        assert get_target("mine:another").efforts == ("high",)
        assert get_target("mine:claude-opus-4-6").efforts == ("low", "medium", "high", "max")
    finally:
        unregister_provider("mine")


def test_the_names_of_a_family_are_those_of_its_maker():
    prefixed = load_profile({**MINE, "model_prefix": "acme/"}, "here")
    own = load_profile(MINE, "here")
    assert [one.match[0] for one in prefixed.models] == [
        glob if glob.startswith("*") else f"acme/{glob}"
        for glob in (one.match[0] for one in own.models)
    ]


def test_a_host_is_like_others_where_it_states_nothing():
    said = {"source": "a page", "date": "2026-10"}
    table = {"name": "mine", "format": "openai-chat", "like": "openai-compatible"}
    profile = load_profile({**table, "rules": {"choice_names": {"value": "one", **said}}}, "here")
    assert profile.rules["choice_names"].value == "one"
    assert profile.rules["developer"] == load_likeness("openai-compatible")["developer"]
    rule = get_rule("formats/openai-compatible.developer")
    assert (rule.value, rule.confidence) == (False, "U")


def test_the_finding_names_the_file_that_states_the_rule():
    rule = get_rule("families/claude.efforts", format="anthropic", model="claude-opus-4-6")
    assert rule.value == ("low", "medium", "high", "max")
    assert get_rule("families/claude.efforts", model="us.anthropic.claude-opus-4-6-v1:0") == rule


@each("key", ["families/claude.nothing", "families/nobody.ids", "formats/nothing.ids", "a/b.ids"])
def test_a_key_of_a_shared_file_that_leads_nowhere_is_refused(key):
    with pytest.raises(UnknownName):
        get_rule(key)


@each(
    "change",
    [{"families": ["nobody"]}, {"families": ["../hosts/xai"]}, {"like": "nobody"}],
)
def test_what_is_shared_has_to_exist(change):
    with pytest.raises(UnknownName):
        load_profile({**MINE, **change}, "here")


def test_only_a_family_says_where_something_is_not_known():
    entry = {"match": "x", "unknown_at": ["openai"], "rules": {}}
    with pytest.raises(InvalidValue):
        load_profile({**MINE, "models": [entry]}, "here")


def test_families_name_known_syntaxes_and_say_why_text_may_follow_a_call():
    printed = printed_syntaxes()
    assert printed.keys() <= set(syntax_names())
    for name, one in printed.items():
        assert get_syntax(name).models == one.match
        assert get_syntax(name).text_after_calls == one.text_after_calls
        assert bool(one.source) == one.text_after_calls


def test_the_syntaxes_of_several_families_are_one():
    assert {"*toolace*", "*gemma-3*"} == set(printed_syntaxes()["pythonic"].match)
    assert syntax_of_model("google/gemma-3-27b-it") == "pythonic"
