"""`canonicall explain`: known errors, unknown ones, and where the request breaks."""

import json

import pytest
from click.testing import CliRunner

from canonicall import Conversation, dump
from canonicall import explain as explain_error
from canonicall.cli.verbs import cli
from cli.transcripts import DAMAGED, SOUND

KNOWN = (
    "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1."
)


@pytest.fixture
def explain(tmp_path, monkeypatch):
    """Runs `explain` beside the files damaged.json and sound.json; standard input is `piped`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "damaged.json").write_text(json.dumps(DAMAGED))
    (tmp_path / "sound.json").write_text(json.dumps(SOUND))
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "stored.jsonl").write_bytes(dump(Conversation()))

    def run(*arguments, piped=""):
        return CliRunner().invoke(cli, ["explain", *arguments], input=piped)

    return run


def test_a_known_error_is_told_in_the_library_s_words(explain):
    done = explain(KNOWN)
    words = " ".join(done.stdout.split())
    assert done.exit_code == 0
    (entry,) = explain_error(KNOWN).entries
    assert entry.code in words
    assert entry.meaning in words
    assert entry.repair in words
    assert "where messages.1, toolu_1" in words


@pytest.mark.parametrize("arguments", [[], ["-"]])
def test_the_error_can_be_piped_in_as_json(explain, arguments):
    error = json.dumps({"type": "error", "error": {"message": KNOWN}})
    done = explain(*arguments, "--json", piped=error)
    told = json.loads(done.stdout)
    assert told["known"] is True
    assert told["meanings"][0]["code"] == "missing_result"
    assert told["violations"] == []


def test_an_unknown_error_is_not_guessed_at(explain):
    done = explain("The teapot is empty.")
    assert done.exit_code == 1
    assert done.stdout.startswith("Nothing is known about this error.")
    assert json.loads(explain("The teapot is empty.", "--json").stdout) == {
        "known": False,
        "meanings": [],
        "violations": [],
    }


@pytest.mark.parametrize("more", [[], ["--provider", "anthropic"]])
def test_the_place_in_the_request_is_shown(explain, more):
    done = explain(KNOWN, "--request", "damaged.json", *more)
    assert "In the request, this fits the error:" in done.stdout
    assert "$.messages[1].content[0]  missing_result" in done.stdout
    who = more[-1] if more else "PROVIDER"
    assert done.stdout.endswith(f"To repair it: canonicall fix damaged.json --as {who}\n")
    told = json.loads(explain(KNOWN, "--request", "damaged.json", *more, "--json").stdout)
    assert [one["code"] for one in told["violations"]] == ["missing_result"]
    assert told["meanings"][0]["violations"] == told["violations"]


def test_a_request_is_judged_even_where_the_error_says_nothing(explain):
    done = explain("Bad request", "--request", "damaged.json")
    assert done.exit_code == 1
    assert "The request has these faults:" in done.stdout


def test_a_sound_request_is_said_to_be_one(explain):
    done = explain(KNOWN, "--request", "sound.json", "--provider", "anthropic")
    assert "nothing was found that breaks a rule" in done.stdout


def test_without_a_provider_the_rules_are_those_of_the_format(explain):
    done = explain(KNOWN, "--request", "sound.json")
    assert done.stdout.endswith("With --provider the rules of who refused it count.\n")


def test_what_to_do_next_is_said(explain):
    assert "With --request FILE you see where the request breaks." in explain(KNOWN).stdout
    unknown = " ".join(explain("The teapot is empty.").stdout.split())
    assert "Give the whole reply, not only its first line" in unknown
    assert "With --request FILE the request itself is checked" in unknown


@pytest.mark.parametrize(
    ("error", "code"),
    [
        ("openai.RateLimitError: Error code: 429", "rate_limited"),
        ("Incorrect API key provided: sk-a.", "key_refused"),
        ("Your credit balance is too low to access the API.", "quota_exhausted"),
        ('{"type": "error", "error": {"type": "overloaded_error"}}', "provider_overloaded"),
        ("prompt is too long: 208310 tokens > 200000 maximum", "context_overflow"),
        ("The model `gpt-9` does not exist", "model_unknown"),
    ],
)
def test_what_is_not_the_request_s_fault_does_not_ask_for_it(explain, error, code):
    done = explain(error)
    assert done.exit_code == 0
    assert done.stdout.startswith(f"{code}\n")
    assert "--request" not in done.stdout
    (meaning,) = json.loads(explain(error, "--json").stdout)["meanings"]
    assert meaning["outside"] is True


def test_several_meanings_come_with_the_likeliest_first(explain):
    done = explain(KNOWN + " Each tool_use must have a single result.")
    assert "It can mean 2 things, the likeliest first:" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["x", "--request", "broken.json"], 1, "broken.json: this is not JSON"),
        (
            ["x", "--request", "damaged.json", "--provider", "openai"],
            1,
            "openai is sent openai-chat",
        ),
        (["x", "--request", "stored.jsonl"], 1, "stored.jsonl: this is a stored conversation"),
        (["x", "--request", "gone.json"], 2, "does not exist"),
        (["x", "--provider", "opnai"], 2, "Did you mean 'openai'?"),
        (["--request", "-"], 2, "cannot both be standard input"),
        ([], 2, "The text of the error is empty."),
        ([" "], 2, "The text of the error is empty."),
        (["damaged.json"], 2, "canonicall explain < damaged.json"),
    ],
)
def test_wrong_input_is_told(explain, arguments, code, said):
    done = explain(*arguments)
    assert done.exit_code == code
    assert done.stdout == ""
    assert said in done.stderr
