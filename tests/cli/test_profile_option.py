"""`--profile FILE`: a provider that only a file knows, for every verb that takes one."""

import json

import pytest
from click.testing import CliRunner

from canonicall.cli.chunks import CHUNK_LINES
from canonicall.cli.overview import FOUND
from canonicall.cli.verbs import cli

PROFILE = """
name = "house"
format = "openai-chat"

[rules.developer]
value = false
source = "probed house.test"
date = "2026-11-16"
"""
ASKED = {"model": "m", "messages": [{"role": "developer", "content": "Be brief."}]}
ASKED["messages"].append({"role": "user", "content": "Hello?"})


@pytest.fixture
def house(tmp_path):
    path = tmp_path / "house.toml"
    path.write_text(PROFILE)
    return str(path)


@pytest.fixture
def request_file(tmp_path):
    path = tmp_path / "request.json"
    path.write_text(json.dumps(ASKED))
    return str(path)


def run(*arguments, **options):
    return CliRunner().invoke(cli, list(arguments), **options)


def test_a_request_is_checked_by_the_rules_of_the_file(house, request_file):
    done = run("check", request_file, "--as", "house:m", "--profile", house)
    assert done.exit_code == FOUND
    assert "unknown_role" in done.output


def test_a_request_is_fixed_by_the_rules_of_the_file(house, request_file):
    done = run("fix", request_file, "--profile", house, "--as", "house:m")
    assert [one["role"] for one in json.loads(done.stdout)["messages"]] == ["system", "user"]


def test_a_long_file_is_converted_by_several_processes(house, tmp_path):
    """Each of them knows the provider, though only the first has read the file."""
    lines = tmp_path / "many.jsonl"
    lines.write_text((json.dumps(ASKED) + "\n") * (3 * CHUNK_LINES))
    out = tmp_path / "out.jsonl"
    done = run(
        "convert", str(lines), "--to", "house:m", "--profile", house, "-o", str(out), "--jobs", "2"
    )
    assert done.exit_code == 0, done.output
    roles = {json.loads(line)["messages"][0]["role"] for line in out.read_text().splitlines()}
    assert roles == {"system"}


def test_a_question_is_asked_by_the_rules_of_the_file(house, tmp_path):
    script = tmp_path / "script.jsonl"
    script.write_text('"Hello."\n')
    options = ["--model", "house:m", "--profile", house, "--script", str(script)]
    done = run("run", "Hello?", *options, "--store", ":memory:")
    assert (done.exit_code, done.stdout) == (0, "Hello.\n")


@pytest.mark.parametrize("verb", ["check", "fix", "convert", "sim", "run", "chat"])
def test_every_verb_that_takes_a_provider_takes_the_file_of_one(verb):
    assert "--profile FILE" in run(verb, "--help").output


@pytest.mark.parametrize(
    ("text", "words"),
    [("name =", "this is not TOML"), ('name = "x"\nformat = "y"\n', "'y'")],
)
def test_what_is_wrong_with_the_file_is_told(house, request_file, tmp_path, text, words):
    broken = tmp_path / "broken.toml"
    broken.write_text(text)
    done = run("check", request_file, "--as", "house", "--profile", str(broken))
    assert done.exit_code == 2
    shown = " ".join(done.output.split())
    assert words in shown
    assert "broken.toml" in shown
