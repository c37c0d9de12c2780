"""`canonicall demo`: its facts are what happened, and its text says its facts."""

import io
import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner
from msgspec.structs import replace
from rich.console import Console

from canonicall import provider_names
from canonicall.cli import demo
from canonicall.cli.verbs import cli
from canonicall.facts.registry import get_target

PICTURE = Path(__file__).parents[2] / "docs" / "demo.svg"
COLUMN = 12.2
"""How wide a letter is in a picture."""
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """Where the picture of the run is saved that `facts` tells of."""
    return tmp_path_factory.mktemp("demo") / "demo.svg"


@pytest.fixture(scope="module")
def facts(drawn):
    done = CliRunner().invoke(cli, ["demo", "--json", "--svg", str(drawn)])
    assert done.exit_code == 0
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def printed(canonicall):
    """The demo as a pipe gets it."""
    return canonicall("demo")


def test_every_provider_is_a_stop_and_the_first_one_the_last_again(facts):
    stops = [hop["provider"] for hop in facts["hops"]]
    assert set(stops) == set(provider_names()) - {"generic"}
    assert stops[0] == stops[-1] == "anthropic"


def test_every_stop_was_accepted(facts):
    assert {status for hop in facts["hops"] for status in hop["statuses"]} == {200}


def test_the_conversation_has_what_makes_it_hard(facts):
    """Parallel calls, an image, a failure and cancelled calls; each is more than once in it."""
    scenes = [hop["scene"] for hop in facts["hops"]]
    assert len(set(scenes)) == 4
    assert min(scenes.count(scene) for scene in scenes) > 1
    assert set(facts["outcomes"]) == {"completed", "failed", "unknown", "not_run"}


def test_the_conversation_grows_at_every_stop(facts):
    calls = [hop["calls"] for hop in facts["hops"]]
    assert calls == sorted(calls)
    assert calls[-1] == sum(facts["outcomes"].values())


def test_ids_are_what_each_provider_wants(facts):
    for hop in facts["hops"]:
        rule = get_target(f"{hop['provider']}/{hop['format']}:{hop['model']}").ids
        assert rule.style == "echoed" or re.fullmatch(rule.pattern, hop["first_id"])


def test_nobody_takes_the_conversation_as_it_is(facts):
    """But llama.cpp, which puts whatever comes into the template of the model."""
    assert len(facts["naive"]) == len(facts["hops"]) - 1
    refused = [one for one in facts["naive"] if one["provider"] != "llamacpp"]
    assert len(refused) == len(facts["naive"]) - 1
    assert all(400 <= one["status"] < 500 and one["error"] for one in refused)


def test_every_claim_holds(facts):
    assert len(facts["checks"]) >= 5
    assert [check["claim"] for check in facts["checks"] if not check["holds"]] == []


def told_of_hops(shown):
    """Every hop that a page tells of, in order: its provider and, where it has a row, its calls."""
    table, _, _ = shown.partition("2. The same conversation")
    rows = [line.split() for line in table.splitlines() if line.endswith("accepted")]
    *_, others = table.partition("The others are ")
    others, _, _ = others.partition("canonicall demo --all")
    names = " ".join(others.split()).removesuffix(".").split(", ")
    hops = [(row[0], next(filter(str.isdigit, row))) for row in rows]
    at = next(number for number, row in enumerate(rows) if row[1] == "others")
    assert rows[at][0] == str(len(names))
    return [*hops[:at], *((name, None) for name in names), *hops[at + 1 :]]


def are_those(told, facts):
    for (provider, calls), hop in zip(told, facts["hops"], strict=True):
        assert provider == hop["provider"]
        assert calls in (None, str(hop["calls"]))
    return sum(calls is not None for _, calls in told) == demo._HOPS_SHOWN + 1


def test_text_shows_the_facts(facts, printed):
    """The printed demo tells of every hop, and has the claims and the ends of the JSON."""
    shown = printed.stdout
    words = " ".join(shown.split())
    assert are_those(told_of_hops(shown), facts)
    for check in facts["checks"]:
        assert f"yes {check['claim']}" in words
    for outcome, count in facts["outcomes"].items():
        assert f"{count} {outcome}" in words
    assert any(one["error"] in words for one in facts["naive"])


def test_all_of_it_has_a_row_for_each_hop(facts, canonicall):
    table, _, rest = canonicall("demo", "--all").stdout.partition("2. The same conversation")
    rows = [line.split() for line in table.splitlines() if line.endswith("accepted")]
    assert [row[0] for row in rows] == [hop["provider"] for hop in facts["hops"]]
    assert "The others" not in table + rest


def test_a_pipe_gets_plain_text_of_80_columns(printed):
    assert printed.returncode == 0
    assert printed.stderr == ""
    assert "\x1b" not in printed.stdout
    assert max(map(len, printed.stdout.splitlines())) <= 80


def test_colour_says_nothing_of_its_own(canonicall, printed):
    """Without its escape codes the coloured text has every line of the plain text."""
    coloured = canonicall("demo", env={"FORCE_COLOR": "1", "TERM": "xterm-256color"}).stdout
    assert ESCAPE.search(coloured)
    lines = {line.rstrip() for line in ESCAPE.sub("", coloured).replace("\r", "\n").splitlines()}
    assert {line.rstrip() for line in printed.stdout.splitlines()} <= lines


def test_two_runs_print_the_same(canonicall):
    """No clock, no random, no hash seed in it."""
    first = canonicall("demo", "--json", env={"PYTHONHASHSEED": "1"}).stdout
    second = canonicall("demo", "--json", env={"PYTHONHASHSEED": "2"}).stdout
    assert first == second


def test_a_claim_that_fails_is_shown_and_fails_the_run(monkeypatch):
    story = replace(demo.tell(), checks=(demo.Check("pigs fly", holds=False),))
    monkeypatch.setattr(demo, "tell", lambda each=None: story)
    done = CliRunner().invoke(cli, ["demo"])
    assert done.exit_code == 1
    assert "NO   pigs fly" in done.stdout


def test_a_refusal_is_shown_with_the_words_of_the_provider(monkeypatch):
    """The verdict is what the simulator said, not a word of our own."""
    story = demo.tell()
    refused = replace(story.hops[0], statuses=(400,), error="tool_use without tool_result")
    assert demo._cells(refused)[-1] == "400: tool_use without tool_result"


def test_a_stop_that_refused_has_a_row_of_its_own():
    story = demo.tell()
    refused = replace(story.hops[20], statuses=(400,), error="No.")
    hops = (*story.hops[:20], refused, *story.hops[21:])
    page = io.StringIO()
    Console(file=page, width=80).print(demo._hops_table(hops, demo._between(hops), 80))
    rows = [line.split() for line in page.getvalue().splitlines()]
    assert [row[0] for row in rows if row[-2:] == ["400:", "No."]] == [refused.name]
    assert f"{len(hops) - demo._HOPS_SHOWN - 2} others" in page.getvalue()


def test_a_narrow_terminal_cuts_nothing_off():
    """At 50 columns text is folded, not lost; columns that do not fit are left out."""
    page = io.StringIO()
    story = demo.show(Console(file=page, width=50, markup=False, emoji=False, highlight=False))
    assert max(map(len, page.getvalue().splitlines())) <= 50
    table, _, _ = page.getvalue().partition("The others are")
    assert table.count("accepted\n") == demo._HOPS_SHOWN + 2
    assert story.checks[-1].claim.split()[-1] in page.getvalue()


def test_a_low_window_is_not_flooded():
    """Only the last picture of the table may be higher than the window: nothing can redraw what
    has been scrolled out of it."""
    page = io.StringIO()
    terminal = {"TERM": "xterm-256color"}
    demo.show(Console(file=page, width=80, height=12, force_terminal=True, _environ=terminal))
    _, *drawn, last = re.split(r"(?:\x1b\[1A\x1b\[2K)+", page.getvalue())
    assert len(drawn) > 20
    assert max(picture.count("\n") for picture in drawn) <= 12
    table, _, _ = last.partition("The others are")
    assert table.count("accepted") == demo._HOPS_SHOWN + 2


def lines_of(picture):
    """The lines of text in a picture, from the top to the bottom. What is blank is not in it."""
    lines = {}
    parsed = ET.parse(picture)  # noqa: S314  # our own picture
    for text in parsed.iter("{http://www.w3.org/2000/svg}text"):
        if "clip-path" in text.attrib:
            line = lines.get(float(text.get("y")), "")
            column = round(float(text.get("x")) / COLUMN)
            lines[float(text.get("y"))] = line.ljust(column) + text.text.replace("\xa0", " ")
    return [lines[y].rstrip() for y in sorted(lines) if lines[y].strip()]


@pytest.mark.parametrize("which", ["fresh", "in the docs"])
def test_the_picture_has_the_facts_of_a_fresh_run(facts, drawn, which):
    """To renew it: canonicall demo --svg docs/demo.svg"""
    lines = lines_of(drawn if which == "fresh" else PICTURE)
    assert are_those(told_of_hops("\n".join(lines)), facts)
    said = [line.strip() for line in lines]
    assert all(f"yes  {check['claim']}" in said for check in facts["checks"])
    words = " ".join(" ".join(lines).split())
    assert all(f"{count} {outcome}" in words for outcome, count in facts["outcomes"].items())
    refused = sum(one["status"] != 200 for one in facts["naive"])
    assert f"{refused} of {len(facts['naive'])} requests are refused" in words


def test_the_picture_is_small_and_loads_nothing(facts, drawn):
    for picture in (drawn, PICTURE):
        text = picture.read_text(encoding="utf-8")
        assert len(text) < 150_000
        assert set(re.findall(r"https?://[^\s\"/]+", text)) <= {
            "http://www.w3.org",
            "https://www.textualize.io",
        }


def test_a_picture_says_what_the_page_says(facts, drawn, canonicall):
    shown = [line.rstrip() for line in canonicall("demo").stdout.splitlines() if line.strip()]
    assert lines_of(drawn) == shown


def test_a_picture_that_cannot_be_written_is_told_in_one_line(tmp_path):
    done = CliRunner().invoke(cli, ["demo", "--svg", str(tmp_path / "gone" / "demo.svg")])
    assert done.exit_code == 1
    assert "cannot be written" in done.stderr
