"""`canonicall providers`: the matrix, its filters, and one provider with its sources."""

import json

import pytest
from click.testing import CliRunner

from batches import each
from canonicall import get_capabilities, get_profile, provider_names
from canonicall.cli.verbs import cli


def providers(*arguments):
    return CliRunner().invoke(cli, ["providers", *arguments])


def test_the_matrix_has_every_provider():
    done = providers()
    assert done.exit_code == 0
    rows = {line.split()[0]: line for line in done.stdout.splitlines() if line.strip()}
    assert set(provider_names()) <= set(rows)
    assert "openai-chat" in rows["openai"]
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_json_is_the_library_s_matrix():
    told = json.loads(providers("--json").stdout)
    assert [one["provider"] for one in told] == list(provider_names())
    kimi = next(one for one in told if one["provider"] == "kimi")
    assert kimi["tool_choice"] == list(get_capabilities("kimi").tool_choice)
    assert kimi["provenance"]["tool_choice"]["source"]


@pytest.mark.parametrize(
    ("arguments", "fits"),
    [
        (["--has", "strict"], lambda one: get_capabilities(one).strict),
        (["--has", "subset"], lambda one: "subset" in get_capabilities(one).tool_choice),
        (["--format", "anthropic"], lambda one: "anthropic" in get_profile(one).formats),
        (
            ["--has", "parallel", "--has", "none", "--format", "gemini"],
            lambda one: "gemini" in get_profile(one).formats,
        ),
    ],
)
def test_filters_choose(arguments, fits):
    told = [one["provider"] for one in json.loads(providers(*arguments, "--json").stdout)]
    assert told == list(filter(fits, provider_names()))
    assert 0 < len(told) < len(provider_names())


def test_where_none_fits_it_says_so():
    done = providers("--format", "cohere", "--has", "subset")
    assert done.exit_code == 0
    assert "No provider is known" in done.stdout


@each("name", provider_names())
def test_a_provider_is_shown_with_every_rule_and_source(name):
    done = providers(name)
    words = "".join(done.stdout.split())
    assert done.exit_code == 0
    profile = get_profile(name)
    facts = [*profile.rules.items(), *profile.capabilities.items()]
    facts += [item for models in profile.models for item in models.rules.items()]
    for field, rule in facts:
        assert f"{field}:" in words
        assert "".join(rule.source.split()) in words
    for quirk in profile.quirks:
        assert "".join(quirk.text.split()) in words


def test_an_alias_is_a_name_too_and_json_is_the_profile():
    told = json.loads(providers("moonshot", "--json").stdout)
    assert told["name"] == "kimi"
    assert told["rules"]["ids"]["source"] == get_profile("kimi").rules["ids"].source


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["kimmi"], "Did you mean 'kimi'?"),
        (["--has", "wings"], "'wings' is not one of"),
        (["--format", "html"], "'html' is not one of"),
        (["kimi", "--has", "strict"], "leave NAME out"),
    ],
)
def test_wrong_arguments_end_with_2(arguments, said):
    done = providers(*arguments)
    assert done.exit_code == 2
    assert said in done.stderr


def test_in_a_narrow_window_nothing_is_cut_off():
    shown = CliRunner(env={"COLUMNS": "50"}).invoke(cli, ["providers"]).stdout
    assert max(map(len, shown.splitlines())) <= 50
    folded = "".join(line[2:8].strip() for line in shown.splitlines())
    assert "mirascope-router" in folded
