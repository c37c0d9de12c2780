"""`canonicall import`, and sessions of coding agents in the verbs that read and repair."""

import json
import shlex
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from canonicall import load, read_document
from canonicall.cli.verbs import cli
from importing.session_files import AGENTS

EVERY = pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)


def run(*arguments, **options):
    return CliRunner().invoke(cli, list(map(str, arguments)), **options)


@pytest.fixture
def session(tmp_path):
    """A file with a session of an agent."""

    def write(agent, *, interrupted=True):
        file = tmp_path / f"{agent.name}{'.jsonl' if agent.is_lines else '.json'}"
        file.write_bytes(agent.session(interrupted=interrupted))
        return file

    return write


def left_in(folder):
    return sorted(file.name for file in folder.iterdir())


@EVERY
def test_a_session_becomes_a_stored_conversation(agent, session, tmp_path):
    done = run("import", session(agent), "-o", tmp_path / "talk")
    assert (done.exit_code, done.stdout) == (0, "")
    stored = load((tmp_path / "talk").read_bytes()).conversation
    assert stored == read_document(agent.session(interrupted=True)).request.conversation
    assert agent.name in done.stderr


def test_standard_input_to_standard_output():
    done = run("import", "-", "--json", input=AGENTS["pi"].session())
    assert done.stdout.startswith('{"canonicall":"conversation"')
    record = json.loads(done.stderr)
    assert (record["format"], record["messages"], record["open_calls"]) == ("pi", 4, 0)


@pytest.mark.parametrize("content", ["", "nothing", '{"a": 1}'])
def test_what_is_no_transcript_is_one_clear_line(tmp_path, content):
    file = tmp_path / "file"
    file.write_text(content, "utf-8")
    done = run("import", file, "-o", tmp_path / "out")
    assert done.exit_code == 1
    assert done.stderr.startswith("canonicall: error: ")
    assert left_in(tmp_path) == ["file"]


def test_a_folder_is_listed(session, tmp_path):
    for agent in AGENTS.values():
        session(agent)
    (tmp_path / "other.json").write_text('{"messages": []}', "utf-8")
    (tmp_path / "empty.jsonl").write_text('{"type":"session","id":"","timestamp":"","cwd":""}\n')
    done = run("import", tmp_path, "--json")
    rows = {
        row["file"].rpartition("/")[2]: row for row in map(json.loads, done.stdout.splitlines())
    }
    assert done.exit_code == 3
    assert "no message" in rows.pop("empty.jsonl")["error"]
    assert sorted(row["format"] for row in rows.values()) == sorted(AGENTS)
    assert {row["open_calls"] for row in rows.values()} == {1}
    shown = run("import", tmp_path).stdout
    assert "6 sessions." in shown
    assert "claude-sonnet-4-6" in shown


def test_a_session_that_codex_has_packed_is_listed_with_what_to_do(tmp_path):
    (tmp_path / "rollout-1.jsonl.zst").write_bytes(b"\x28\xb5\x2f\xfd")
    done = run("import", tmp_path)
    assert done.exit_code == 3
    assert "codex  it is packed: unzstd unpacks it." in done.stdout
    assert "rollout-1.jsonl.zst" in done.stdout


def test_a_folder_without_sessions_says_so(tmp_path):
    done = run("import", tmp_path)
    assert done.exit_code == 0
    assert "no session of a known coding agent" in " ".join(done.stdout.split())
    assert run("import", tmp_path, "-o", "x").exit_code == 2


def test_the_small_files_of_opencode_are_put_together(tmp_path):
    """storage/session, storage/message and storage/part say the same as the export."""
    storage = tmp_path / "storage"
    messages = json.loads(AGENTS["opencode"].session())["messages"]
    session = {"id": "ses_1", "projectID": "p", "directory": "/work"}
    files = {storage / "session" / "p" / "ses_1.json": session}
    for message in messages:
        id = message["info"]["id"]
        files[storage / "message" / "ses_1" / f"{id}.json"] = message["info"]
        for number, part in enumerate(message["parts"]):
            files[storage / "part" / id / f"prt_{number}.json"] = part
    for place, value in files.items():
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps(value), "utf-8")
    (row,) = map(json.loads, run("import", storage, "--json").stdout.splitlines())
    assert (row["format"], row["messages"], row["calls"]) == ("opencode", 4, 1)
    one = run("import", storage / "session" / "p" / "ses_1.json")
    whole = read_document(AGENTS["opencode"].session()).request.conversation
    assert load(one.stdout.encode()).conversation == whole


@pytest.fixture
def database(tmp_path):
    """opencode's database, with one session that ends with an open call."""
    place = tmp_path / "share" / "opencode.db"
    place.parent.mkdir()
    with closing(sqlite3.connect(place)) as base, base:
        base.execute("CREATE TABLE session (id, title, directory, revert, time_created)")
        base.execute("CREATE TABLE message (id, session_id, time_created, data)")
        base.execute("CREATE TABLE part (id, message_id, session_id, data)")
        base.execute("INSERT INTO session VALUES ('ses_1', 'Tests', '/work', NULL, 1)")
        base.execute("INSERT INTO session VALUES ('ses_2', 'Nothing', '/work', NULL, 2)")
        for message in json.loads(AGENTS["opencode"].session(interrupted=True))["messages"]:
            info, parts = message["info"], message["parts"]
            id, at = info.pop("id"), info["time"]["created"]
            row = (id, "ses_1", at, json.dumps(info))
            base.execute("INSERT INTO message VALUES (?, ?, ?, ?)", row)
            for number, part in enumerate(parts):
                row = (f"prt_{id}{number}", id, "ses_1", json.dumps(part))
                base.execute("INSERT INTO part VALUES (?, ?, ?, ?)", row)
    return place


def test_the_database_of_opencode_is_listed(database):
    """Alone, and as a file in a folder; beside it may be databases of other programs."""
    with closing(sqlite3.connect(database.parent / "other.db")) as other, other:
        other.execute("CREATE TABLE session (id)")
    for place in (database, database.parent):
        done = run("import", place, "--json")
        first, empty = map(json.loads, done.stdout.splitlines())
        assert (first["session"], first["messages"], first["open_calls"]) == ("ses_1", 6, 1)
        assert "no message" in empty["error"]
        assert done.exit_code == 3
    assert f"{database} --session ses_1\n" in run("import", database).stdout


def test_a_session_in_the_database_of_opencode_is_read(database, tmp_path):
    done = run("import", database, "--session", "ses_1", "-o", tmp_path / "talk")
    assert done.exit_code == 0
    whole = read_document(AGENTS["opencode"].session(interrupted=True)).request.conversation
    assert load((tmp_path / "talk").read_bytes()).conversation == whole


def test_a_database_without_the_session_or_of_another_program_says_so(database, tmp_path):
    unknown = run("import", database, "--session", "ses_9")
    assert (unknown.exit_code, unknown.stdout) == (1, "")
    assert "there is no session 'ses_9'" in unknown.stderr
    assert run("import", database, "-o", tmp_path / "talk").exit_code == 2
    assert run("import", tmp_path, "--session", "ses_1").exit_code == 2
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as base, base:
        base.execute("CREATE TABLE tea (id)")
    done = run("import", other)
    assert done.exit_code == 1
    assert "not opencode's database" in done.stderr


def test_a_file_that_is_gone_meanwhile_does_not_end_the_list(session, tmp_path, monkeypatch):
    session(AGENTS["pi"])
    (tmp_path / "gone.jsonl").write_bytes(AGENTS["pi"].session())
    read = Path.read_bytes

    def read_bytes(place):
        if place.name == "gone.jsonl":
            place.unlink()
        return read(place)

    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    done = run("import", tmp_path, "--json")
    assert (done.exit_code, len(done.stdout.splitlines())) == (0, 1)


@EVERY
def test_check_fix_and_convert_read_sessions(agent, session):
    file = session(agent)
    # Codex sends it to OpenAI as it is, and that is refused; others would have to be converted.
    is_sent_so = agent.name == "codex"
    assert run("check", file, "--as", "openai:gpt-4o").exit_code == (3 if is_sent_so else 0)
    fixed = run("fix", file, "--as", "openai:gpt-4o")
    assert fixed.exit_code == 0
    assert json.loads(run("convert", file, "--to", "openai:gpt-4o").stdout) == json.loads(
        fixed.stdout
    )


OWN = {
    "claude-code": "anthropic",
    "codex": "openai",
    "gemini-cli": "gemini",
    "opencode": "anthropic",
    "pi": "anthropic",
}
"""Whom each agent asks."""
SELF_HEALING = ("opencode",)


@EVERY
def test_check_judges_what_the_agent_sends_next(agent, session):
    """A session that goes on is fine; one with an open call is not, whatever we could repair."""
    done = run("check", session(agent, interrupted=False), "--as", OWN[agent.name])
    assert done.exit_code == 0, done.output
    assert "broken" not in done.stdout
    assert "To repair" not in done.stdout
    done = run("check", session(agent), "--as", OWN[agent.name])
    shown = " ".join(done.stdout.split())
    if agent.name in SELF_HEALING:
        assert done.exit_code == 0
        assert "broken" not in shown
    elif agent.name == "pi":
        assert f"The session is broken: {agent.name} goes on without these changes." in shown
    else:
        assert done.exit_code == 3
        assert f"session of {agent.name}, judged as it is sent next, to {OWN[agent.name]}" in shown
        assert "missing_result" in shown
        assert "error" in shown


@pytest.mark.parametrize("name", ["claude-code", "codex", "gemini-cli", "pi"])
@pytest.mark.parametrize("target", ["anthropic", "mistral:mistral-large-latest"])
def test_the_repair_that_check_suggests_can_be_copied_and_works(name, target, session):
    """Whichever provider is named, the session itself is repaired for its agent."""
    file = session(AGENTS[name])
    shown = run("check", file, "--as", target).stdout
    (line,) = [one for one in shown.splitlines() if one.startswith("  canonicall fix ")]
    _, *arguments = shlex.split(line)
    assert run(*arguments).exit_code == 0
    done = run("check", file, "--as", OWN[name])
    assert done.exit_code == 0, done.output
    assert "To repair" not in done.stdout


def test_check_tells_programs_of_a_broken_session(session):
    record = json.loads(run("check", session(AGENTS["pi"]), "--as", "openai", "--json").stdout)
    assert record["broken"] is True
    healthy = session(AGENTS["pi"], interrupted=False)
    assert "broken" not in json.loads(run("check", healthy, "--as", "openai", "--json").stdout)


def test_a_session_that_cannot_be_repaired_in_place_is_not_said_to_be(tmp_path):
    """One document is not a file of lines; a body can be written to another file."""
    agent = AGENTS["gemini-cli"]
    header, *messages = [*agent.healthy(), *agent.second_call()]
    file = tmp_path / "session.json"
    file.write_text(json.dumps({**header, "messages": messages}), "utf-8")
    done = run("check", file, "--as", "gemini")
    assert done.exit_code == 3
    assert "--write-session" not in done.stdout
    assert "canonicall fix" in done.stdout


def test_broken_sessions_of_a_folder_are_marked(tmp_path):
    for agent in AGENTS.values():
        for state in ("healthy", "broken"):
            place = tmp_path / state / f"{agent.name}{'.jsonl' if agent.is_lines else '.json'}"
            place.parent.mkdir(exist_ok=True)
            place.write_bytes(agent.session(interrupted=state == "broken"))
    rows = list(map(json.loads, run("import", tmp_path, "--json").stdout.splitlines()))
    marked = {(row["format"], "/broken/" in row["file"]) for row in rows if row["broken"]}
    assert marked == {(name, True) for name in AGENTS if name not in SELF_HEALING}
    shown = run("import", tmp_path).stdout
    assert shown.count("broken: ") == 4
    assert "10 sessions." in shown
    assert "Broken: 4. To repair one:" in shown
    assert "canonicall fix FILE --as PROVIDER --in-place --write-session" in shown
    healthy = run("import", tmp_path / "healthy").stdout
    assert "broken: " not in healthy
    assert "Broken: " not in healthy


@EVERY
def test_a_session_is_not_replaced_by_a_body(agent, session, tmp_path):
    file = session(agent)
    done = run("fix", file, "--as", "anthropic", "--in-place")
    assert done.exit_code == 1
    assert "--write-session" in done.stderr
    assert file.read_bytes() == agent.session(interrupted=True)
    assert left_in(tmp_path) == [file.name]


@pytest.mark.parametrize("name", ["claude-code", "codex", "gemini-cli", "pi"])
def test_a_session_is_repaired_in_place_and_kept_as_it_was(name, session, tmp_path):
    file = session(AGENTS[name])
    command = ("fix", file, "--as", "anthropic", "--in-place", "--write-session")
    done = run(*command, "--json")
    record = json.loads(done.stderr)
    assert (done.exit_code, record["changed"], record["remaining"]) == (0, True, [])
    assert [one["code"] for one in record["findings"]] == ["session_result_added"]
    before = AGENTS[name].session(interrupted=True)
    assert (tmp_path / f"{file.name}.bak").read_bytes() == before
    assert file.read_bytes().startswith(before)
    assert not read_document(file.read_bytes()).request.conversation.ledger.open
    again = run(*command)
    assert "nothing to repair" in " ".join(again.stderr.split())
    assert left_in(tmp_path) == [file.name, f"{file.name}.bak"]


def test_sessions_that_need_no_writing_back_say_why(session):
    file = session(AGENTS["opencode"])
    done = run("fix", file, "--as", "anthropic", "--in-place", "--write-session")
    assert done.exit_code == 1
    assert "closes open calls itself" in done.stderr


def test_a_file_that_cannot_be_repaired_in_place_says_so(tmp_path):
    agent = AGENTS["gemini-cli"]
    header, *messages = [*agent.healthy(), *agent.second_call()]
    file = tmp_path / "session.json"
    file.write_text(json.dumps({**header, "messages": messages}), "utf-8")
    done = run("fix", file, "--as", "anthropic", "--in-place", "--write-session")
    assert done.exit_code == 1
    assert "cannot be repaired in place" in done.stderr
    assert left_in(tmp_path) == ["session.json"]


def test_write_session_is_for_sessions_in_place(tmp_path, session):
    body = tmp_path / "body.json"
    body.write_text('{"messages": [{"role": "user", "content": "Hi"}]}', "utf-8")
    assert run("fix", body, "--as", "openai", "--in-place", "--write-session").exit_code == 2
    file = session(AGENTS["pi"])
    assert run("fix", file, "--as", "openai", "--write-session").exit_code == 2


@EVERY
@pytest.mark.parametrize("verb", ["fix --as openai", "convert --to openai", "import"])
def test_nothing_else_is_written_in_the_place_of_a_session(agent, verb, session):
    file = session(agent)
    name, *target = verb.split()
    done = run(name, file, *target, "-o", file)
    assert done.exit_code in (1, 2)
    assert file.read_bytes() == agent.session(interrupted=True)
    assert left_in(file.parent) == [file.name]


def test_what_a_conversation_does_not_hold_is_named(tmp_path):
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "temperature": 0}
    done = run("import", "-", input=json.dumps(body))
    assert "not in it: model, temperature." in " ".join(done.stderr.split())
    done = run("import", "-", "--json", input=json.dumps(body))
    assert json.loads(done.stderr)["left_out"] == ["model", "temperature"]


def test_of_a_file_with_one_document_a_line_it_is_said_who_takes_it(tmp_path):
    body = json.dumps({"messages": [{"role": "user", "content": "Hi"}]})
    done = run("import", "-", input=f"{body}\n{body}\n")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "one document a line" in done.stderr
