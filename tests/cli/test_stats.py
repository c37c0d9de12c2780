"""`canonicall stats`: counters of a store, side by side, as a table and as JSON."""

import asyncio
import json
import sqlite3
import time

import pytest
from click.testing import CliRunner

from canonicall.agent.counters import Counters, Place
from canonicall.cli.verbs import cli
from canonicall.gateway.keeping import Keeping
from canonicall.store.counters import HOUR, CounterTable
from canonicall.store.database import Database
from cli.talks import calls, write_script, write_tools


@pytest.fixture
def canonicall_(tmp_path):
    """Runs any verb, with a store of its own."""

    def run(*arguments, env=None):
        known = {"XDG_DATA_HOME": str(tmp_path), **(env or {})}
        return CliRunner(env=known).invoke(cli, arguments)

    return run


async def count(place, *counted, days_ago=0.0):
    """Add to the counters of a store."""
    database = Database(place)
    table = CounterTable(database)
    now = time.time() - days_ago * 24 * HOUR
    await table.prepare(now)
    for one in counted:
        table.add(dict([one]), now)
    await table.since(now)
    database.close()


GEMINI = (
    Place("gemini", "gemini-3-pro", "weather"),
    Counters(tool_calls_total=200, tool_calls_invalid_args=3, tool_calls_repaired=10),
)
CLAUDE = (
    Place("anthropic", "claude-opus-4-6", "weather"),
    Counters(tool_calls_total=1000, tool_calls_invalid_args=20),
)
REFUSED = Place("anthropic", "claude-opus-4-6"), Counters(tool_api_400_total=2)
OWN = Place("our-host", "m", "pay"), Counters(tool_calls_total=1, tool_loop_max_iterations=1)


@pytest.fixture
def store(place):
    """A store with counters of this week, and of the month before."""
    asyncio.run(count(place, GEMINI, CLAUDE, REFUSED, OWN))
    asyncio.run(count(place, GEMINI, days_ago=20))
    return place


def told(made):
    assert made.exit_code == 0, made.output
    return json.loads(made.stdout)


def test_providers_are_compared_as_json(canonicall_, store):
    made = told(
        canonicall_(
            "stats", "--compare", "anthropic", "gemini", "--since", "7d", "--store", store, "--json"
        )
    )
    assert made["store"] == store
    assert made["providers"] == [
        {
            "provider": "anthropic",
            "tool_calls_total": 1000,
            "tool_calls_invalid_args": 20,
            "tool_calls_repaired": 0,
            "tool_api_400_total": 2,
            "tool_loop_max_iterations": 0,
            "tool_calls_invalid_args_rate": 0.02,
            "tool_calls_repaired_rate": 0.0,
        },
        {
            "provider": "gemini",
            "tool_calls_total": 200,
            "tool_calls_invalid_args": 3,
            "tool_calls_repaired": 10,
            "tool_api_400_total": 0,
            "tool_loop_max_iterations": 0,
            "tool_calls_invalid_args_rate": 0.015,
            "tool_calls_repaired_rate": 0.05,
        },
    ]


def test_providers_are_compared_as_a_table(canonicall_, store):
    made = canonicall_("stats", "--compare", "anthropic", "gemini", "--store", store)
    lines = [" ".join(line.split()) for line in made.stdout.splitlines()]
    assert "provider calls invalid repaired refused requests limits reached" in lines
    assert "anthropic 1,000 20 (2.0%) 0 (0.0%) 2 0" in lines
    assert "gemini 200 3 (1.5%) 10 (5.0%) 0 0" in lines


def test_in_a_narrow_window_nothing_is_cut_off(canonicall_, store):
    made = canonicall_("stats", "--store", store, env={"COLUMNS": "30"})
    assert "calls 1,000, invalid 20 (2.0%)" in " ".join(made.stdout.split())


def test_all_providers_of_a_longer_time(canonicall_, store):
    made = told(canonicall_("stats", "--since", "4w", "--store", store, "--json"))
    found = {one["provider"]: one["tool_calls_total"] for one in made["providers"]}
    assert found == {"anthropic": 1000, "gemini": 400, "our-host": 1}


@pytest.mark.parametrize(
    ("by", "groups"),
    [("model", ["claude-opus-4-6"]), ("tool", ["", "weather"]), ("hour", [None])],
)
def test_counts_are_grouped(canonicall_, store, by, groups):
    made = told(canonicall_("stats", "anthropic", "--by", by, "--store", store, "--json"))
    found = [one[by] for one in made["providers"]]
    assert len(found) == len(groups)
    assert by == "hour" or found == groups


def test_a_provider_without_counts_is_shown_with_none(canonicall_, store):
    made = told(canonicall_("stats", "--compare", "gemini", "groq", "--store", store, "--json"))
    assert made["providers"][1]["tool_calls_total"] == 0
    assert made["providers"][1]["tool_calls_invalid_args_rate"] is None


def test_the_store_of_sessions_is_the_default(canonicall_, tmp_path):
    """What `run` counts is there afterwards."""
    script = write_script(tmp_path, calls("weather", city="Rome"), calls("nothing"), "Done.")
    canonicall_("run", "--script", script, "--tools", write_tools(tmp_path), "How is it?")
    (line,) = told(canonicall_("stats", "--json"))["providers"]
    assert (line["tool_calls_total"], line["tool_calls_invalid_args"]) == (2, 1)


def test_a_store_that_nothing_was_counted_in(canonicall_, tmp_path):
    place = str(tmp_path / "gateway.db")
    Keeping(place).close()
    assert "Nothing was counted" in canonicall_("stats", "--store", place).stdout
    assert told(canonicall_("stats", "--store", place, "--json"))["providers"] == []


def test_what_is_no_store_is_left_as_it_is(canonicall_, tmp_path):
    missing = tmp_path / "nowhere.db"
    made = canonicall_("stats", "--store", str(missing))
    assert (made.exit_code, missing.exists()) == (1, False)
    assert "there is no store. Name the store" in made.stderr
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as base:
        base.execute("CREATE TABLE mine (x)")
    base.close()
    made = canonicall_("stats", "--store", str(other))
    assert made.exit_code == 1
    assert "canonicall has stored nothing in this file" in made.stderr
    text = tmp_path / "text.db"
    text.write_text("no database " * 100)
    made = canonicall_("stats", "--store", str(text))
    assert made.exit_code == 1
    assert "cannot be read as a store" in made.stderr


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (["--compare", "anthropic"], "--compare needs two providers"),
        (["--compare", "gemini", "gemini"], "--compare needs two providers"),
        (["--since", "soon"], "'soon' is no period. Write a number and h, d or w: 24h, 7d, 4w."),
        (["--since", "0d"], "is no period"),
        (["--by", "day"], "'day' is not one of"),
    ],
)
def test_wrong_arguments_are_refused_with_what_to_do(canonicall_, given, why):
    made = canonicall_("stats", *given)
    assert made.exit_code == 2
    assert why in " ".join(made.stderr.split())


def test_an_unknown_provider_is_refused_with_the_nearest(canonicall_, tmp_path):
    place = str(tmp_path / "gateway.db")
    Keeping(place).close()
    made = canonicall_("stats", "--compare", "antropic", "gemini", "--store", place)
    assert made.exit_code == 1
    assert "anthropic" in made.stderr


def test_counters_are_kept_for_400_days(canonicall_, place):
    """What is older is forgotten when a gateway or a session opens the store, not by `stats`."""
    asyncio.run(count(place, GEMINI, days_ago=401))
    asyncio.run(count(place, CLAUDE, days_ago=390))
    found = told(canonicall_("stats", "--since", "999w", "--store", place, "--json"))["providers"]
    assert [one["provider"] for one in found] == ["anthropic"]

    async def rows():
        database = Database(place)
        try:
            return await CounterTable(database).since(0.0)
        finally:
            database.close()

    assert len(asyncio.run(rows())) == 2
    asyncio.run(count(place))
    assert len(asyncio.run(rows())) == 1
