"""The verbs say what they cannot know of a request that continues what a provider keeps."""

import json

import pytest
from click.testing import CliRunner

from batches import each
from canonicall.cli.verbs import cli
from delta_bodies import DELTAS


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "1000")

    def run(verb, name, *arguments):
        (tmp_path / "delta.json").write_text(json.dumps(DELTAS[name].body))
        return CliRunner().invoke(cli, [verb, "delta.json", *arguments])

    return run


def plain(text):
    return " ".join(text.split())


@pytest.mark.parametrize("name", DELTAS)
def test_check_for_its_own_provider_notes_what_is_not_judged(run, name):
    done = run("check", name, "--as", DELTAS[name].owner)
    assert done.exit_code == 0
    assert "Nothing to refuse." in done.stdout
    assert "only what is in the request is judged" in plain(done.stdout)


@pytest.mark.parametrize("name", DELTAS)
def test_check_for_another_provider_does_not_judge(run, name):
    done = run("check", name, "--as", "cohere")
    assert done.exit_code == 1
    assert "not judged for cohere" in done.stdout
    assert f"(`{DELTAS[name].field}`" in plain(done.stdout)
    assert "Nothing to refuse" not in done.stdout
    record = json.loads(run("check", name, "--as", "cohere", "--json").stdout)
    assert record["verdicts"][0]["judged"] == "not judged"
    assert record["verdicts"][0]["notes"]


def test_check_for_all_shows_who_can_judge_it(run):
    done = run("check", "a result after a thread", "--as", "all")
    rows = {line.split()[0]: plain(line) for line in done.stdout.splitlines() if line.split()}
    assert "as it is 0 accepted" in rows["anthropic"]
    assert "not judged 0 not known" in rows["openai"]
    assert rows["deepseek"].endswith("as it is 0 refused state_not_kept")
    assert done.exit_code == 3


@pytest.mark.parametrize("name", DELTAS)
def test_fix_for_its_own_provider_changes_nothing(run, name):
    done = run("fix", name, "--as", DELTAS[name].owner)
    assert done.exit_code == 0
    assert json.loads(done.stdout) == DELTAS[name].body
    assert "only what is in the request is judged" in plain(done.stderr)
    record = json.loads(run("fix", name, "--as", DELTAS[name].owner, "--json").stderr)
    assert not record["changed"]
    assert record["notes"]


@each("verb, option", [("fix", "--as"), ("convert", "--to")])
@pytest.mark.parametrize("name", ["a conversation", "a result after a thread"])
def test_another_provider_is_an_error(run, name, verb, option):
    done = run(verb, name, option, "cohere")
    assert done.exit_code == 1
    assert done.stdout == ""
    assert (
        f"delta.json: the request continues what only its provider keeps (`{DELTAS[name].field}`)"
        in plain(done.stderr)
    )


def test_convert_sets_such_lines_aside(run, tmp_path):
    whole = {"model": "gpt-5", "input": "Hi"}
    lines = [whole, DELTAS["a conversation"].body, whole]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    done = CliRunner().invoke(cli, ["convert", "log.jsonl", "--to", "anthropic", "-o", "out.jsonl"])
    assert done.exit_code == 3
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 2
    aside = json.loads((tmp_path / "out.jsonl.rejected.jsonl").read_text())
    assert aside["line"] == 2
    assert "`conversation`" in aside["why"]


def test_check_counts_those_that_nobody_judged(run, tmp_path):
    lines = [{"model": "gpt-5", "input": "Hi"}, DELTAS["a conversation"].body]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    done = CliRunner().invoke(cli, ["check", "log.jsonl", "--as", "anthropic"])
    assert done.exit_code == 1
    assert "2 documents: 0 refused, 1 not judged." in done.stdout
    assert "log.jsonl, line 2" in done.stdout
