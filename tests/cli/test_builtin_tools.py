"""The built-in tools: what they tell, and what they cannot be made to do."""

import asyncio
import os
from datetime import UTC, datetime

import pytest

from canonicall.cli.builtin_tools import builtin_tools
from canonicall.cli.folder import MOST_HITS, MOST_LINES, MOST_LISTED, Folder, OutOfReach
from canonicall.tools.context import ToolContext


@pytest.fixture
def folder(tmp_path):
    """A working folder with a neighbour that is none of its business."""
    (tmp_path / "secret.txt").write_text("the secret")
    inside = tmp_path / "inside"
    (inside / "deep").mkdir(parents=True)
    (inside / "deep" / "notes.txt").write_text("First line\nsecond Line\n")
    (inside / "here.md").write_text("hello")
    (inside / ".env").write_text("KEY=secret line")
    (inside / "data.bin").write_bytes(b"\x00line")
    (inside / "out").symlink_to(tmp_path / "secret.txt")
    (inside / "up").symlink_to(tmp_path)
    (inside / "alias.md").symlink_to(inside / "here.md")
    return inside


@pytest.fixture
def tools(folder):
    now = datetime(2026, 11, 16, 13, 30, tzinfo=UTC)
    return builtin_tools(folder, now=lambda: now)


def test_files_are_listed_without_hidden_ones_and_ways_out(tools):
    assert tools["list_files"].call({}).splitlines() == [
        "alias.md (5 bytes)",
        "data.bin (5 bytes)",
        "deep/",
        "here.md (5 bytes)",
    ]
    assert tools["list_files"].call({"path": "deep"}) == "notes.txt (23 bytes)"


def test_files_are_read_from_a_line_on(tools):
    assert tools["read_file"].call({"path": "deep/notes.txt"}) == "First line\nsecond Line"
    assert tools["read_file"].call({"path": "deep/notes.txt", "first_line": 2}) == "second Line"
    assert tools["read_file"].call({"path": "deep/../alias.md"}) == "hello"


def test_files_are_searched_whatever_the_case(tools):
    assert tools["search_files"].call({"text": "LINE"}).splitlines() == [
        "deep/notes.txt:1: First line",
        "deep/notes.txt:2: second Line",
    ]
    assert tools["search_files"].call({"text": "the secret"}) == "(nothing)"


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("../secret.txt", "outside the working folder"),
        ("deep/../../secret.txt", "outside the working folder"),
        ("out", "outside the working folder"),
        ("up/secret.txt", "outside the working folder"),
        ("/etc/passwd", "outside the working folder"),
        ("~/x", "no such file"),
        (".env", "begin with a dot"),
        ("deep", "no such file"),
        ("gone", "no such file"),
        ("data.bin", "not text"),
        ("a\x00b", "no path"),
        ("x" * 5000, "too long"),
    ],
)
def test_what_is_not_in_reach_is_refused(tools, path, words):
    with pytest.raises(OutOfReach, match=words):
        tools["read_file"].call({"path": path})
    with pytest.raises(OutOfReach):
        tools["list_files"].call({"path": path if path != "deep" else "here.md"})


def test_a_pipe_is_not_waited_for(folder, tools):
    os.mkfifo(folder / "pipe")
    with pytest.raises(OutOfReach, match="no such file"):
        tools["read_file"].call({"path": "pipe"})
    assert "pipe" not in tools["search_files"].call({"text": "line"})


def test_sizes_are_bounded(folder):
    many = folder / "many"
    many.mkdir()
    for number in range(MOST_LISTED + 2):
        (many / f"f{number}").write_text("needle")
    (folder / "long.txt").write_text("x\n" * (MOST_LINES + 5))
    (folder / "large.txt").write_text("needle " * 200_000)
    one = Folder(folder)
    assert one.listed("many")[-1] == "[... 2 more ...]"
    assert len(one.lines("long.txt", 1)) == MOST_LINES + 1
    assert f"go on at {MOST_LINES + 1}" in one.lines("long.txt", 1)[-1]
    assert len(one.lines("long.txt", MOST_LINES + 1)) == 5
    assert len(one.hits("needle")) == MOST_HITS + 1
    with pytest.raises(OutOfReach, match="larger than"):
        one.lines("large.txt", 1)


def test_the_clock_and_the_calculator(tools):
    assert tools["clock"].call({}) == "Monday, 2026-11-16 13:30:00 +0000"
    assert tools["calculator"].call({"expression": "2 * (3 + 4)"}) == "14"


def test_only_the_shell_needs_approval_and_the_rest_changes_nothing(tools):
    assert [one.name for one in tools if one.needs_approval({})] == ["shell"]
    assert [one.name for one in tools if not one.read_only] == ["shell"]


def shell(tools, command, *, context=None, **arguments):
    return asyncio.run(tools["shell"].call({"command": command, **arguments}, context))


def test_a_command_runs_in_the_folder(tools):
    assert shell(tools, "ls deep; echo oops >&2; exit 3") == "exit code 3\nnotes.txt\noops"


def test_a_command_has_no_input_and_no_keys(tools, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "aws-secret")
    assert shell(tools, "cat; env | grep -c secret") == "exit code 1\n0"


def test_a_command_that_takes_too_long_is_stopped_with_all_it_started(tools):
    """The pipe stays open as long as anything of it lives: that the call ends is the proof."""
    assert shell(tools, "echo begun; sleep 1000 & sleep 1000", seconds=1) == (
        "stopped after 1 seconds\nbegun"
    )


def test_a_command_is_stopped_when_the_turn_is_cancelled(tools):
    context = ToolContext("x", is_cancelled=lambda: True)
    assert shell(tools, "sleep 1000", context=context) == "stopped, because the user cancelled"


def test_long_output_loses_its_middle(tools):
    shown = shell(tools, "echo first; yes | head -c 1000000; echo last")
    assert shown.startswith("exit code 0\nfirst\ny\n")
    assert shown.endswith("last")
    assert "980,011 bytes left out" in shown
    assert len(shown) < 21_000
