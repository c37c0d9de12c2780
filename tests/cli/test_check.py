"""`canonicall check`: what it finds, where, and how it ends."""

import json

import pytest
from click.testing import CliRunner

from canonicall import Conversation, ToolCall, dump, provider_names, verify
from canonicall.cli.verbs import cli
from cli.transcripts import ANSWER, DAMAGED, PLAIN, SOUND, as_lines


@pytest.fixture
def check(tmp_path, monkeypatch):
    """Runs `check` on a file with this content, or on standard input where it is named so."""

    monkeypatch.chdir(tmp_path)

    def run(content, *arguments, name="talk.json"):
        content = content if isinstance(content, (str, bytes)) else json.dumps(content)
        data = content.encode() if isinstance(content, str) else content
        (tmp_path / name).write_bytes(data)
        return CliRunner().invoke(cli, ["check", name, *arguments], input=data)

    return run


def records(done):
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_sound_body_has_nothing_to_refuse(check):
    done = check(SOUND, "--as", "anthropic")
    assert done.exit_code == 0
    assert "judged as it is, for anthropic (claude-sonnet-4-6)" in done.stdout
    assert "Nothing to refuse." in done.stdout
    assert done.stderr == ""


def test_a_violation_is_shown_with_all_that_is_known(check):
    """Place, code, the provider's words, the repair and the source, as the judge has them."""
    done = check(DAMAGED, "--as", "anthropic")
    words = " ".join(done.stdout.split())
    assert done.exit_code == 3
    (violation,) = verify(DAMAGED, "anthropic:claude-sonnet-4-6")
    for shown in (violation.where, violation.code, violation.why, violation.error):
        assert shown in words
    assert violation.repair in words
    assert violation.source in words
    assert "1 violation: this would be refused." in words
    assert words.endswith("To repair it: canonicall fix talk.json --as anthropic")


def test_json_holds_what_the_judge_says(check):
    (record,) = records(check(DAMAGED, "--as", "anthropic", "--json"))
    (verdict,) = record["verdicts"]
    (violation,) = verify(DAMAGED, "anthropic:claude-sonnet-4-6")
    assert record["line"] is None
    assert record["formats"] == ["anthropic"]
    assert verdict["judged"] == "as it is"
    assert verdict["model"] == "claude-sonnet-4-6"
    assert verdict["violations"][0]["code"] == violation.code
    assert verdict["violations"][0]["error"] == violation.error


def test_another_format_is_judged_as_it_would_be_sent(check):
    done = check(DAMAGED, "--as", "openai")
    assert done.exit_code == 0
    assert "read as anthropic, judged as it would be sent to openai" in " ".join(
        done.stdout.split()
    )
    assert "result_made_up" in done.stdout
    (record,) = records(check(DAMAGED, "--as", "openai", "--json"))
    assert record["verdicts"][0]["judged"] == "as rendered"
    (change,) = record["verdicts"][0]["changes"]
    assert (change["code"], change["went"]) == ("result_made_up", "$.messages[2]")


def test_the_model_that_is_named_counts_before_that_of_the_body(check):
    """Claude 4.7 and later refuse sampling parameters, 4.6 does not."""
    warm = {**SOUND, "temperature": 0.5}
    assert check(warm, "--as", "anthropic").exit_code == 0
    assert check(warm, "--as", "anthropic:claude-opus-4-7").exit_code == 3
    assert check({**warm, "model": "claude-opus-4-7"}, "--as", "anthropic").exit_code == 3


def test_a_body_that_fits_the_provider_too_is_judged_as_it_is(check):
    """Plain text is not rendered for Anthropic only because it could be OpenAI's."""
    (record,) = records(
        check({**PLAIN, "max_tokens": 9, "model": "m"}, "--as", "anthropic", "--json")
    )
    assert record["formats"][0] == "openai-chat"
    assert record["verdicts"][0]["judged"] == "as it is"
    assert record["verdicts"][0]["violations"] == []


def test_a_body_too_broken_to_decode_is_still_judged(check):
    (record,) = records(check({**SOUND, "messages": [7]}, "--as", "anthropic", "--json"))
    assert [one["code"] for one in record["verdicts"][0]["violations"]] == ["malformed_body"]


def test_arguments_too_deep_to_store_are_judged_where_they_are_and_told_elsewhere(check):
    nested = "[" * 400 + "]" * 400
    deep = json.dumps(SOUND).replace('"tea"', nested)
    assert check(deep, "--as", "anthropic").exit_code == 0
    done = check(deep, "--as", "openai")
    assert done.exit_code == 1
    assert "nested more than 256 levels deep" in done.stderr
    assert len(done.stderr) < 1000


def test_a_stored_conversation_is_judged_as_rendered(check):
    chat = Conversation()
    chat.user("Hi")
    chat.assistant(ToolCall(id="x", name="f", args={}))
    (record,) = records(check(dump(chat), "--as", "gemini", "--json", name="talk.jsonl"))
    assert record["formats"] == ["canonical"]
    assert record["verdicts"][0]["judged"] == "as rendered"


def test_lines_are_judged_one_by_one(check):
    done = check(as_lines(SOUND, DAMAGED, SOUND), "--as", "anthropic", name="log.jsonl")
    assert done.exit_code == 3
    assert "log.jsonl, line 2: judged as it is" in done.stdout
    assert "line 1" not in done.stdout
    assert "3 documents: 1 refused." in done.stdout
    found = records(check(as_lines(SOUND, DAMAGED), "--as", "anthropic", "--json"))
    assert [(one["line"], bool(one["verdicts"][0]["violations"])) for one in found] == [
        (1, False),
        (2, True),
    ]


def test_an_unreadable_line_is_told_and_the_others_are_judged(check):
    lines = as_lines(SOUND) + "oops\n" + as_lines(DAMAGED)
    done = check(lines, "--as", "anthropic", name="log.jsonl")
    assert done.exit_code == 1
    assert done.stderr.count("\n") == 1
    assert "log.jsonl, line 2: " in done.stderr
    assert "3 documents: 1 refused, 1 unreadable." in done.stdout
    # `fix` would write nothing.
    assert "log.jsonl --to anthropic -o OUT" in " ".join(done.stdout.split())
    found = records(check(lines, "--as", "anthropic", "--json"))
    assert "not JSON" in found[1]["error"]
    assert len(found) == 3


def test_all_is_the_matrix_of_providers(check):
    done = check(DAMAGED, "--as", "all")
    assert done.exit_code == 3
    rows = {line.split()[0]: line for line in done.stdout.splitlines() if line.strip()}
    assert set(provider_names()) <= set(rows)
    assert "refused" in rows["anthropic"]
    assert "missing_result" in rows["anthropic"]
    assert "as rendered" in rows["gemini"]
    assert "accepted" in rows["gemini"]
    (record,) = records(check(DAMAGED, "--as", "all", "--json"))
    assert [verdict["target"] for verdict in record["verdicts"]] == list(provider_names())


def test_the_matrix_counts_over_lines(check):
    done = check(as_lines(SOUND, DAMAGED), "--as", "all")
    row = next(line for line in done.stdout.splitlines() if line.strip().startswith("anthropic"))
    assert "1 refused" in row
    assert "2 documents: 1 refused." in done.stdout


def test_standard_input_is_a_file_too(check):
    done = check(DAMAGED, "--as", "anthropic", name="-")
    assert done.exit_code == 3
    assert done.stdout.startswith("standard input: ")


def test_the_format_can_be_named(check):
    (record,) = records(check(PLAIN, "--as", "openai", "--from", "cohere", "--json"))
    assert record["formats"] == ["cohere"]
    assert record["verdicts"][0]["judged"] == "as rendered"


@pytest.mark.parametrize("content", ["", "\n", "hello", "{}", "[7", '"text"', "\x00"])
@pytest.mark.parametrize("target", ["openai", "all"])
def test_what_is_no_transcript_is_told_in_one_line(check, content, target):
    done = check(content, "--as", target)
    assert done.exit_code == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "talk.json: " in done.stderr
    assert "Give a request body" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-"], "Missing option '--as'. Name a provider, for example --as anthropic, or 'all'"),
        (["--as", "openai"], "Missing argument"),
        (["gone.json", "--as", "openai"], "'gone.json' does not exist"),
        ([".", "--as", "openai"], "is a directory"),
        (["-", "--as", "opnai"], "Did you mean 'openai'?"),
        (["-", "--as", "openai", "--from", "html"], "'html' is not one of"),
    ],
)
def test_wrong_arguments_end_with_2(arguments, said):
    done = CliRunner().invoke(cli, ["check", *arguments])
    assert done.exit_code == 2
    assert said in done.stderr


def test_a_narrow_pipe_gets_80_columns(check):
    for target in ("anthropic", "all"):
        done = check(
            {**DAMAGED, "messages": [*DAMAGED["messages"], {"role": "user", "content": [ANSWER]}]},
            "--as",
            target,
        )
        assert max(map(len, done.stdout.splitlines())) <= 80


def test_what_the_verdict_does_not_cover_is_said(check):
    """The body for Gemini names no model."""
    body = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}
    assert "No model is named" in check(body, "--as", "gemini").output
    (record,) = records(check(body, "--as", "gemini", "--json"))
    assert "No model is named" in record["verdicts"][0]["notes"][0]
    assert "No model is named" not in check(body, "--as", "gemini:gemini-3-pro").output
