"""`canonicall conform`: profiles, syntaxes and endpoints, good, bad and missing."""

import json

import pytest
from click.testing import CliRunner

from canonicall.cli.verbs import cli
from canonicall.testing import Fault, Schedule, Simulator, serve

KEY = "sk-test-0123456789abcdef"
PROFILE = """
name = "house"
format = "openai-chat"

[rules.ids]
value = { style = "prefixed", prefix = "%s", pattern = "[a-z_A-Z0-9-]+", max_length = 40 }
source = "probed house.test"
date = "2026-11-16"
"""


def run(*arguments, **env):
    return CliRunner().invoke(cli, ["conform", *arguments], env={"COLUMNS": "100", **env})


@pytest.fixture
def house(tmp_path):
    path = tmp_path / "house.toml"
    path.write_text(PROFILE % "house_")
    return path


def test_a_profile_in_a_file_is_proved(house):
    done = run("--provider", str(house))
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("provider house\n")
    assert "append_only" in done.stdout
    assert "Nothing is broken." in done.stdout


def test_a_profile_at_odds_with_itself_is_told_with_evidence(house):
    """Ids begin with a sign that its own pattern does not have."""
    house.write_text(PROFILE % "house.")
    done = run("--provider", str(house))
    assert done.exit_code == 3, done.output
    assert "ids: broken" in done.stdout
    assert "is no id by the rules" in done.stdout


def test_json_has_every_check():
    done = run("--provider", "generic", "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert (told["kind"], told["subject"], told["ok"]) == ("provider", "generic", True)
    assert {one["state"] for one in told["checks"]} == {"held"}
    assert all(one["about"] and one["cases"] for one in told["checks"])


def test_a_syntax_is_proved():
    done = run("--syntax", "kimi_k2")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("syntax kimi_k2\n")


def test_what_is_open_is_said():
    done = run("--syntax", "generic_none")
    assert done.exit_code == 0, done.output
    assert "read_again: open" in done.stdout
    assert "Nothing is broken, 3 open." in done.stdout


def test_an_endpoint_is_asked_and_its_key_is_not_shown():
    with serve(Simulator("openai", keys=[KEY], call_tools="*")) as server:
        options = ("--url", server.url, "--format", "openai-chat", "--key-env", "A_KEY")
        done = run(*options, A_KEY=KEY)
    assert done.exit_code == 0, done.output
    assert f"endpoint {server.url}/v1 (openai-chat, gpt-5.2)" in done.stdout
    assert "Probing calls" in done.stderr
    assert KEY not in done.output


def test_a_faulty_endpoint_ends_with_3_and_names_the_check():
    faults = Schedule([Fault.REUSED_IDS], repeat=True)
    with serve(Simulator("anthropic", faults=faults, call_tools="*")) as server:
        options = ("--url", server.url, "--provider", "anthropic", "--key-env", "A_KEY", "--json")
        done = run(*options, A_KEY=KEY)
    assert done.exit_code == 3, done.output
    assert done.stderr == ""
    told = json.loads(done.stdout)
    assert [one["name"] for one in told["checks"] if one["state"] == "broken"] == ["ids"]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ([], 2, "Name a subject"),
        (["--provider", "nobody"], 2, "No provider is called 'nobody'"),
        (["--provider", "gone.toml"], 2, "the profile cannot be read"),
        (["--syntax", "hermse"], 2, "Did you mean 'hermes'?"),
        (["--syntax", "hermes", "--provider", "kimi"], 2, "--syntax stands alone"),
        (["--provider", "kimi", "--model", "m"], 2, "give --url"),
        (["--url", "http://x.test"], 2, "Say what the endpoint speaks"),
        (["--url", "http://x.test", "--format", "xml"], 2, "--format"),
        (["--url", "x.test", "--format", "gemini"], 1, "whole address"),
        (["--url", "http://x.test", "--format", "gemini", "--key-env", "UNSET_"], 2, "UNSET_"),
        (["--url", "http://127.0.0.1:9", "--format", "gemini"], 1, "no connection"),
    ],
)
def test_wrong_arguments_are_told(arguments, code, words, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    done = run(*arguments)
    assert done.exit_code == code
    assert words in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("content", ["", "name = 3", "\x00", "name = 'x'\nformat = 'xml'"])
def test_a_file_that_is_no_profile_is_told_in_one_line(house, content):
    house.write_text(content)
    done = run("--provider", str(house))
    assert done.exit_code == 2
    assert str(house) in done.stderr


def test_an_endpoint_on_this_machine_needs_no_key():
    with serve(Simulator("openai", call_tools="*")) as server:
        options = ("--url", server.url, "--format", "openai-chat", "--model", "gpt-4o")
        assert run(*options).exit_code == 0
        assert run(*options, "--key-env", "UNSET").exit_code == 0
    assert run("--url", "http://[", "--format", "openai-chat", "--key-env", "UNSET").exit_code != 0
