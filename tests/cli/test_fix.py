"""`canonicall fix`: the body it writes, where it writes it, and what it says about it."""

import json

import pytest
from click.testing import CliRunner

from canonicall import Conversation, dump, encode_request, verify
from canonicall.cli.verbs import cli
from canonicall.importing.documents import read_document
from cli.transcripts import DAMAGED, PLAIN, SOUND, as_lines


@pytest.fixture
def talk(tmp_path):
    """A file with this content."""

    def write(content, name="talk.json"):
        file = tmp_path / name
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file

    return write


def fix(*arguments, **options):
    return CliRunner().invoke(cli, ["fix", *map(str, arguments)], **options)


def left_in(folder):
    return sorted(file.name for file in folder.iterdir())


def test_the_repaired_body_is_what_the_library_makes(talk):
    done = fix(talk(json.dumps(DAMAGED)), "--as", "anthropic")
    assert done.exit_code == 0
    body = json.loads(done.stdout)
    request = read_document(json.dumps(DAMAGED).encode()).request
    assert body == encode_request(request, "anthropic:claude-sonnet-4-6").body
    assert not verify(body, "anthropic")
    assert "result_made_up" in done.stderr
    assert "talk.json: 1 change for anthropic" in " ".join(done.stderr.split()).replace("/ ", "/")


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\n\n"])
def test_what_is_accepted_stays_as_it_is_to_the_byte(talk, end):
    data = json.dumps(SOUND, indent=7) + end
    done = fix(talk(data), "--as", "anthropic")
    assert done.stdout_bytes == data.encode()
    assert "accepts it as it is" in " ".join(done.stderr.split())


def test_half_of_a_character_is_refused_and_repaired(talk):
    """JSON to those who wrote it, and none to a provider."""
    file = talk(json.dumps({**SOUND, "system": "A cut emoji: \ud83d."}))
    checked = CliRunner().invoke(cli, ["check", str(file), "--as", "anthropic"])
    assert (checked.exit_code, "lone_surrogate" in checked.stdout) == (3, True)
    done = fix(file, "--as", "anthropic")
    assert json.loads(done.stdout)["system"] == "A cut emoji: \ufffd."
    assert "lone_surrogate" in done.stderr


@pytest.mark.parametrize("target", ["openai", "gemini", "mistral", "bedrock", "cohere", "ollama"])
def test_any_other_provider_gets_a_body_it_accepts(talk, target):
    done = fix(talk(json.dumps(DAMAGED)), "--as", f"{target}:some-model")
    assert done.exit_code == 0
    assert not verify(json.loads(done.stdout), f"{target}:some-model")


def test_a_model_of_another_provider_is_pointed_out(talk):
    """The body still names it, and only the user knows a better one."""
    file = talk(json.dumps(SOUND))
    said = " ".join(fix(file, "--as", "openai").stderr.split())
    assert "The model is still 'claude-sonnet-4-6'" in said
    assert "--as openai:MODEL" in said
    named = fix(file, "--as", "openai:gpt-4o")
    assert "still" not in named.stderr
    assert json.loads(named.stdout)["model"] == "gpt-4o"


def test_a_stored_conversation_becomes_a_body(talk):
    chat = Conversation()
    chat.user("Hi")
    done = fix(talk(dump(chat), "talk.jsonl"), "--as", "gemini")
    assert json.loads(done.stdout)["contents"][0]["parts"] == [{"text": "Hi"}]


def test_json_on_standard_error_says_what_was_done(talk):
    done = fix(talk(as_lines(SOUND, DAMAGED)), "--as", "anthropic", "--json")
    first, second = map(json.loads, done.stderr.splitlines())
    assert (first["line"], first["changed"], first["findings"]) == (1, False, [])
    assert (second["line"], second["changed"], second["remaining"]) == (2, True, [])
    (made_up,) = second["findings"]
    assert made_up["code"] == "result_made_up"
    assert (made_up["came"], made_up["rule"]) == ("", "")
    assert made_up["went"] == "$.messages[2].content[0]"


def test_lines_stay_lines(talk):
    done = fix(talk(as_lines(SOUND, DAMAGED, SOUND)), "--as", "anthropic")
    first, second, third = done.stdout.splitlines()
    assert json.loads(first) == json.loads(third) == SOUND
    assert not verify(json.loads(second), "anthropic")
    assert "1 change for anthropic, 1 of 3 documents" in " ".join(done.stderr.split())
    assert "line 2, entries[1]: " in done.stderr


def test_a_bare_list_comes_back_as_one(talk):
    asked = [{"role": "tool", "tool_call_id": "x", "content": "1"}, *PLAIN["messages"]]
    done = fix(talk(json.dumps(asked)), "--as", "openai")
    assert json.loads(done.stdout) == PLAIN["messages"]


def test_output_goes_to_a_file(talk, tmp_path):
    done = fix(talk(json.dumps(DAMAGED)), "--as", "anthropic", "-o", tmp_path / "out.json")
    assert done.stdout == ""
    assert not verify((tmp_path / "out.json").read_bytes(), "anthropic")
    assert left_in(tmp_path) == ["out.json", "talk.json"]


def test_standard_input_to_standard_output():
    done = fix("-", "--as", "anthropic", input=json.dumps(DAMAGED))
    assert not verify(json.loads(done.stdout), "anthropic")


def test_in_place_keeps_the_old_file(talk, tmp_path):
    file = talk(json.dumps(DAMAGED))
    file.chmod(0o640)
    done = fix(file, "--as", "anthropic", "--in-place")
    assert (done.exit_code, done.stdout) == (0, "")
    assert not verify(file.read_bytes(), "anthropic")
    assert file.stat().st_mode & 0o777 == 0o640
    assert json.loads((tmp_path / "talk.json.bak").read_bytes()) == DAMAGED
    assert "talk.json.bak" in done.stderr.replace("\n", "")


def test_an_older_backup_is_never_overwritten(talk, tmp_path):
    talk("older", "talk.json.bak")
    talk("old", "talk.json.bak1")
    fix(talk(json.dumps(DAMAGED)), "--as", "anthropic", "--in-place")
    assert (tmp_path / "talk.json.bak").read_text() == "older"
    assert (tmp_path / "talk.json.bak1").read_text() == "old"
    assert json.loads((tmp_path / "talk.json.bak2").read_bytes()) == DAMAGED


def test_in_place_leaves_a_sound_file_alone(talk, tmp_path):
    file = talk(json.dumps(SOUND))
    before = file.stat().st_mtime_ns, file.stat().st_ino
    assert fix(file, "--as", "anthropic", "--in-place").exit_code == 0
    assert (file.stat().st_mtime_ns, file.stat().st_ino) == before
    assert left_in(tmp_path) == ["talk.json"]


def test_in_place_follows_a_link(talk, tmp_path):
    file = talk(json.dumps(DAMAGED))
    link = tmp_path / "link.json"
    link.symlink_to(file)
    fix(link, "--as", "anthropic", "--in-place")
    assert link.is_symlink()
    assert not verify(file.read_bytes(), "anthropic")


@pytest.mark.parametrize("arguments", [["--in-place"], ["-o", "out.jsonl"]])
def test_where_a_line_is_unreadable_no_file_is_written(talk, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    data = as_lines(DAMAGED) + "oops\n"
    file = talk(data, "log.jsonl")
    done = fix("log.jsonl", "--as", "anthropic", "--json", *arguments)
    assert done.exit_code == 1
    assert done.stderr.splitlines()[-1].startswith("canonicall: error: log.jsonl, line 2: ")
    assert "`canonicall convert` sets such lines aside." in done.stderr
    assert file.read_text() == data
    assert left_in(tmp_path) == ["log.jsonl"]


@pytest.mark.parametrize("content", ["", "hello", "{}", "[7"])
def test_what_is_no_transcript_is_told_in_one_line(talk, content):
    done = fix(talk(content), "--as", "openai")
    assert done.exit_code == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "talk.json: " in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-", "--as", "openai", "--in-place"], "--in-place needs a FILE"),
        (["FILE", "--as", "openai", "--in-place", "-o", "x"], "--in-place needs a FILE"),
        (["FILE", "--as", "all"], "No provider is called 'all'"),
        (["gone.json", "--as", "openai"], "does not exist"),
        (["FILE"], "Missing option '--as'"),
    ],
)
def test_wrong_arguments_end_with_2(talk, arguments, said):
    file = str(talk(json.dumps(SOUND)))
    done = fix(*(file if one == "FILE" else one for one in arguments))
    assert done.exit_code == 2
    assert said in done.stderr


def test_a_place_that_cannot_be_written_is_told(talk, tmp_path):
    done = fix(talk(json.dumps(DAMAGED)), "--as", "openai", "-o", tmp_path / "no" / "out.json")
    assert done.exit_code == 1
    assert done.stderr.splitlines()[-1].endswith("Choose another place.")


CONTRADICTION = """
name = "house"
format = "anthropic"

[[rules.refusals.value]]
field = "max_tokens"
error = "max_tokens is not allowed"

[rules.refusals]
source = "probed house.test"
date = "2026-11-16"
"""


def test_what_would_still_be_refused_is_told(talk):
    """Nobody can please a provider that refuses what its format requires."""
    house = talk(CONTRADICTION, "house.toml")
    asked = [talk(json.dumps(DAMAGED)), "--as", "house", "--profile", house]
    done = fix(*asked)
    assert done.exit_code == 3
    assert "talk.json: this would still be refused" in " ".join(done.stderr.split())
    assert [one.code for one in verify(json.loads(done.stdout), "anthropic")] == ["missing_field"]
    record = json.loads(fix(*asked, "--json").stderr)
    assert [one["code"] for one in record["remaining"]] == ["missing_field"]
