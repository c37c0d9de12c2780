"""`canonicall demo`: its facts agree with each other, and its text with its facts."""

import io
import json
import re

import pytest
from click.testing import CliRunner
from msgspec.structs import replace
from rich.console import Console

from canonicall import Outcome, is_canonical_tool_id, wording
from canonicall.cli import demo
from canonicall.cli.demo_story import Check, tell
from canonicall.cli.verbs import cli

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture(scope="module")
def facts():
    done = CliRunner().invoke(cli, ["demo", "--json"])
    assert done.exit_code == 0
    return json.loads(done.stdout)


def test_every_call_has_a_canonical_id_of_its_own(facts):
    ids = [call["id"] for call in facts["calls"]]
    assert all(map(is_canonical_tool_id, ids))
    assert len(set(ids)) == len(ids)


def test_one_provider_reuses_a_raw_id_and_one_sends_none(facts):
    """The two habits the first step is about are really in it, and are reported."""
    raw_ids = {}
    for call in facts["calls"]:
        raw_ids.setdefault(call["provider"], []).append((call["raw_id"], call["turn"]))
    assert len(raw_ids) == 2
    reused = [turn for raw_id, turn in raw_ids["kimi"] if raw_id == "functions.read_file:0"]
    assert len(reused) == len(set(reused)) == 2
    assert {raw_id for raw_id, _ in raw_ids["gemini"]} == {""}
    codes = {finding["code"] for finding in facts["ids"]}
    assert codes == {"reused_call_id", "missing_call_id", "matched_by_position"}


def test_cancelled_calls_are_told_in_the_library_s_own_words(facts):
    assert [told["outcome"] for told in facts["cancelled"]] == ["unknown", "not_run"]
    for told in facts["cancelled"]:
        assert told["text"] == wording(Outcome(told["outcome"]), "the user cancelled")


def test_damage_is_found_and_changes_nothing(facts):
    codes = [damage["finding"]["code"] for damage in facts["damaged"]]
    assert codes == ["orphan_result", "duplicate_result", "late_result"]
    assert {damage["finding"]["action"] for damage in facts["damaged"]} == {"set_aside"}


def test_compaction_moves_the_cut_and_shrinks(facts):
    shrunk = facts["shrunk"]
    assert shrunk["asked"] not in shrunk["cut_points"]
    assert [finding["code"] for finding in shrunk["findings"]] == [
        "cut_moved",
        "compacted",
        "shortened",
    ]
    assert shrunk["after"]["bytes"] < shrunk["before"]["bytes"]
    assert shrunk["after"]["entries"] < shrunk["before"]["entries"]
    assert shrunk["before"]["open_calls"] == shrunk["after"]["open_calls"] == 0


def test_reloading_loses_one_entry_and_says_so(facts):
    reloaded = facts["reloaded"]
    assert reloaded["entries_stored"] == facts["shrunk"]["before"]["entries"]
    assert reloaded["entries_read"] == reloaded["entries_stored"] - 1
    assert reloaded["finding"]["code"] == "truncated_line"
    # The header is line 1, so the last of n entries stands in line n + 1.
    assert reloaded["finding"]["where"] == f"line {reloaded['entries_stored'] + 1}"
    assert reloaded["lost"]["text"] == wording(Outcome.RESULT_LOST)


def test_summary_counts_what_the_facts_hold(facts):
    assert sum(facts["outcomes"].values()) == facts["shrunk"]["before"]["calls"]
    assert facts["summary"].startswith(f"{facts['shrunk']['before']['calls']} tool calls")
    for outcome, count in facts["outcomes"].items():
        assert f"{count} {outcome}" in facts["summary"]


def test_every_claim_holds(facts):
    assert len(facts["checks"]) >= 5
    assert [check["claim"] for check in facts["checks"] if not check["holds"]] == []


def test_text_shows_the_facts(facts, canonicall):
    """The printed demo names every call, every ending and every finding of the JSON."""
    shown = canonicall("demo").stdout
    words = " ".join(shown.split())
    for call in facts["calls"]:
        row = next(line for line in shown.splitlines() if call["id"][:14] in line)
        assert call["tool"] in row
        assert (call["raw_id"] or "(none)") in row
        assert call["outcome"] in row
    for damage in facts["damaged"]:
        assert damage["finding"]["why"] in words
    for check in facts["checks"]:
        assert f"yes {check['claim']}" in words
    assert facts["reloaded"]["finding"]["why"] in words
    assert facts["summary"] in words


def test_a_pipe_gets_plain_text_of_80_columns(canonicall):
    done = canonicall("demo")
    assert done.returncode == 0
    assert done.stderr == ""
    assert "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_colour_says_nothing_of_its_own(canonicall):
    """Without its escape codes the coloured text is the plain text."""
    coloured = canonicall("demo", env={"FORCE_COLOR": "1", "TERM": "xterm-256color"}).stdout
    assert ESCAPE.search(coloured)
    assert ESCAPE.sub("", coloured) == canonicall("demo").stdout


def test_two_runs_print_the_same(canonicall):
    """No clock, no random, no hash seed in it."""
    first = canonicall("demo", "--json", env={"PYTHONHASHSEED": "1"}).stdout
    second = canonicall("demo", "--json", env={"PYTHONHASHSEED": "2"}).stdout
    assert first == second


def test_a_claim_that_fails_is_shown_and_fails_the_run(monkeypatch):
    story = replace(tell(), checks=(Check("pigs fly", holds=False),))
    monkeypatch.setattr(demo, "tell", lambda: story)
    done = CliRunner().invoke(cli, ["demo"])
    assert done.exit_code == 1
    assert "NO   pigs fly" in done.stdout


def test_a_narrow_terminal_cuts_nothing_off():
    """At 40 columns text is folded, not lost."""
    story = tell()
    page = io.StringIO()
    demo.show(story, Console(file=page, width=40, markup=False, emoji=False, highlight=False))
    assert max(map(len, page.getvalue().splitlines())) <= 40
    assert story.cancelled[0].text.split()[-1] in page.getvalue()
    assert "\u2026" not in page.getvalue()
