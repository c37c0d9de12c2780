"""`canonicall sessions`: listed, shown, exported, deleted."""

import json

import pytest
from click.testing import CliRunner

from canonicall.cli.verbs import cli
from canonicall.persisted import dump, load
from cli.talks import calls, stored, write_script, write_tools


@pytest.fixture
def canonicall_(tmp_path):
    """Runs any verb, with a store of its own."""

    def run(*arguments, env=None):
        known = {"XDG_DATA_HOME": str(tmp_path), **(env or {})}
        return CliRunner(env=known).invoke(cli, arguments)

    return run


@pytest.fixture
def talked(canonicall_, tmp_path):
    """Two sessions are stored."""
    script = [calls("pay", amount=3), calls("weather", city="Rome"), "Sunny \x1b[31m."]
    for id, text in (("first", "How are things?"), ("second", "A question\nof " + "many " * 20)):
        path, tools = write_script(tmp_path, *script), write_tools(tmp_path)
        canonicall_("run", "--session", id, "--script", path, "--tools", tools, text)
    return tmp_path / "canonicall" / "sessions.db"


def test_sessions_are_listed_the_last_one_first(canonicall_, talked):
    told = json.loads(canonicall_("sessions", "--json").stdout)
    assert [(one["id"], one["entries"]) for one in told] == [("second", 8), ("first", 8)]
    shown = canonicall_("sessions").stdout
    assert shown.index("second") < shown.index("first")
    assert "How are things?" in shown
    assert len(told[0]["title"]) == 60


def test_in_a_narrow_window_nothing_of_a_session_is_cut_off(canonicall_, talked):
    """A part of a name would name nothing."""
    shown = canonicall_("sessions", env={"COLUMNS": "30"}).stdout
    assert {"first", "second"} <= set(shown.splitlines())
    assert "How are things?" in " ".join(shown.split())


def test_without_sessions_the_list_says_how_to_begin(canonicall_):
    assert "canonicall chat" in canonicall_("sessions", "list").stdout
    assert json.loads(canonicall_("sessions", "--json").stdout) == []


def test_a_session_is_shown(canonicall_, talked):
    lines = canonicall_("sessions", "show", "first").stdout.splitlines()
    assert "  user: How are things?" in lines
    assert '  assistant: pay {"amount":3}' in lines
    assert "  a call ended as denied: nobody is there to approve it" in lines
    assert "  a call waits for an approval" in lines
    assert "  denied by command line: nobody is there to approve it" in lines
    assert "  tool: sunny in Rome" in lines
    assert "  assistant: Sunny \\x1b[31m." in lines
    told = json.loads(canonicall_("sessions", "show", "first", "--json").stdout)
    assert told["session"]["id"] == "first"
    assert len(told["entries"]) == 8


def test_an_export_is_read_by_the_library_and_by_other_verbs(canonicall_, talked, tmp_path):
    path = tmp_path / "talk.jsonl"
    assert canonicall_("sessions", "export", "first", "-o", str(path)).exit_code == 0
    assert dump(load(path.read_bytes()).conversation) == dump(stored(talked, "first"))
    assert canonicall_("sessions", "export", "first").stdout_bytes == path.read_bytes()
    assert canonicall_("check", str(path), "--as", "all").exit_code == 0


def test_a_session_is_deleted(canonicall_, talked):
    assert "first is deleted" in canonicall_("sessions", "delete", "first").stdout
    assert [one["id"] for one in json.loads(canonicall_("sessions", "--json").stdout)] == ["second"]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["show"], 2, "Say which"),
        (["list", "first"], 2, "list takes no ID"),
        (["burn", "first"], 2, "burn"),
        (["show", "frist"], 1, "Did you mean 'first'?"),
        (["export", "gone"], 1, "no session is called 'gone'"),
        (["delete", "gone"], 1, "no session is called 'gone'"),
        (["--store", "pyproject.toml"], 1, "file is not a database"),
    ],
)
def test_what_cannot_be_done_is_told(canonicall_, talked, arguments, code, words):
    done = canonicall_("sessions", *arguments)
    assert (done.exit_code, done.stdout) == (code, "")
    assert words in done.stderr


def test_an_export_that_cannot_be_written_leaves_nothing(canonicall_, talked, tmp_path):
    done = canonicall_("sessions", "export", "gone", "-o", str(tmp_path / "x.jsonl"))
    assert done.exit_code == 1
    assert not (tmp_path / "x.jsonl").exists()


def test_an_export_does_not_take_the_place_of_the_store(canonicall_, talked):
    done = canonicall_("sessions", "export", "first", "-o", str(talked))
    assert done.exit_code == 2
    assert "the store itself" in done.stderr
    assert len(json.loads(canonicall_("sessions", "--json").stdout)) == 2


def test_a_store_is_named_by_its_file_or_its_url(canonicall_, place, tmp_path):
    """Talked, gone on with, listed, exported and deleted, wherever it is kept."""
    for words in (["--session", "a", "How are things?"], ["--resume", "And now?"]):
        path = write_script(tmp_path, "Fine.")
        done = canonicall_("run", "--store", place, "--script", path, *words)
        assert done.exit_code == 0, done.output
    (one,) = json.loads(canonicall_("sessions", "--store", place, "--json").stdout)
    assert (one["id"], one["title"], one["entries"]) == ("a", "How are things?", 4)
    exported = canonicall_("sessions", "export", "a", "--store", place).stdout_bytes
    assert dump(load(exported).conversation) == dump(stored(place, "a"))
    assert canonicall_("sessions", "delete", "a", "--store", place).exit_code == 0
    assert json.loads(canonicall_("sessions", "--store", place, "--json").stdout) == []


def test_whatever_is_said_can_be_stored(place, tmp_path):
    said = "What\0 is\nthis?"
    words = ["run", "--store", place, "--session", "a", "--script", write_script(tmp_path, "It.")]
    done = CliRunner().invoke(cli, words, input=said)
    assert done.exit_code == 0, done.output
    assert next(iter(stored(place, "a").messages)).text == said


@pytest.mark.parametrize("verb", [["sessions"], ["run", "Hello."], ["chat"]])
def test_a_database_that_cannot_be_used_is_told_in_a_line(canonicall_, verb):
    done = canonicall_(*verb, "--store", "postgresql://someone:secret@127.0.0.1:port/db")
    assert done.exit_code == 1
    assert "the port of this URL of a PostgreSQL database is no number." in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "secret" not in done.output
