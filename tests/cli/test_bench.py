"""`canonicall bench`: what it measures, for which files. Times are never asserted."""

import json

import pytest
from click.testing import CliRunner

from canonicall import Conversation, dump
from canonicall.cli.measuring import side_by_side
from canonicall.cli.verbs import cli

STEPS = ["json", "decode", "encode", "verify", "translate", "one_more_turn", "calls_json", "parse"]
BODY = {"model": "m", "messages": [{"role": "user", "content": "Hello?"}]}


def run(*arguments, **options):
    return CliRunner().invoke(cli, ["bench", "--seconds", "0", *arguments], **options)


def told(*arguments, **options):
    done = run(*arguments, "--json", **options)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_without_a_file_a_transcript_is_made():
    one = told()
    assert (one["format"], one["target"], one["entries"]) == ("openai-chat", "anthropic", 161)
    assert [step["name"] for step in one["steps"]] == STEPS
    for step in one["steps"]:
        assert step["microseconds"] > 0
        assert step["ratio"] > 0
        assert step["runs"] > 0


def test_floors_are_their_own_measure():
    ratios = {step["name"]: step["ratio"] for step in told()["steps"]}
    assert ratios["json"] == ratios["calls_json"] == 1


def test_people_see_a_table():
    done = run("--as", "gemini")
    assert done.exit_code == 0, done.output
    for name in STEPS:
        assert f"  {name} " in done.stdout
    assert "for gemini" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_a_body_is_measured_in_its_own_format(tmp_path):
    path = tmp_path / "request.json"
    body = {"model": "m", "max_tokens": 9, "messages": BODY["messages"], "system": "Be brief."}
    path.write_text(json.dumps(body))
    one = told(str(path), "--from", "anthropic", "--as", "openai:gpt-5.2")
    assert (one["format"], one["target"], one["entries"]) == ("anthropic", "openai:gpt-5.2", 2)
    assert one["transcript"] == str(path)


def test_of_a_file_with_many_the_first_is_taken(tmp_path):
    path = tmp_path / "log.jsonl"
    longer = {**BODY, "messages": BODY["messages"] * 5}
    path.write_text(f"{json.dumps(BODY)}\n{json.dumps(longer)}\n")
    assert told(str(path))["entries"] == 1


def test_a_stored_conversation_is_measured_as_the_request_that_it_becomes():
    talk = Conversation()
    talk.user("Hello?")
    one = told("-", input=dump(talk))
    assert (one["transcript"], one["format"], one["entries"]) == (
        "standard input",
        "openai-chat",
        1,
    )


@pytest.mark.parametrize("content", ["", "{", '{"x": 1}', "[]x", '{"messages": 3}'])
def test_what_is_no_transcript_is_told_in_one_line(content):
    done = run("-", input=content)
    assert done.exit_code == 1
    assert done.stderr.startswith("canonicall: error: standard input: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["gone.json"], "gone.json"),
        (["--as", "nobody"], "No provider is called 'nobody'"),
        (["--seconds", "-1"], "--seconds"),
    ],
)
def test_wrong_arguments_are_told(arguments, words):
    done = run(*arguments)
    assert done.exit_code == 2
    assert words in done.stderr


class Watch:
    """A clock that only work moves."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def work(self, *seconds):
        """Work that takes these seconds, the last of them from then on."""
        left = list(seconds)

        def run():
            self.now += left.pop(0) if len(left) > 1 else left[0]

        return run


def test_the_best_run_counts():
    """Whatever disturbed the others; the first is not counted at all."""
    watch = Watch()
    works = {"a": watch.work(99.0, 4.0, 3.0, 2.0, 5.0), "b": watch.work(7.0)}
    measured = side_by_side(works, 0, watch)
    assert (measured["a"].seconds, measured["b"].seconds) == (2.0, 7.0)
    assert (measured["a"].runs, measured["b"].runs) == (3, 3)


def test_short_work_is_done_many_times():
    watch = Watch()
    measured = side_by_side({"a": watch.work(2**-20)}, 0, watch)["a"]
    assert measured.seconds == pytest.approx(2**-20)
    assert measured.runs > 3 * 1000


def test_it_takes_as_long_as_was_asked_for():
    watch = Watch()
    side_by_side({"a": watch.work(1.0)}, 20, watch)
    assert 20 <= watch.now <= 22
