"""`canonicall stats`: how well providers call tools, counted over time, side by side."""

import asyncio
import re
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import msgspec
from msgspec.structs import asdict

from canonicall.agent.counters import Counters
from canonicall.cli.arguments import json_option
from canonicall.cli.desk import store_path
from canonicall.cli.page import NARROW, add_row, open_console, say, show_table, simple_table
from canonicall.errors import UnknownName
from canonicall.facts.registry import provider_names
from canonicall.store.counters import HOUR, Counted, CounterTable, total
from canonicall.store.database import Database
from canonicall.store.engine import StoreError, Tables
from canonicall.store.places import shown

_PERIOD = re.compile(r"(\d{1,6})\s*([hdw])")
_SECONDS = {"h": HOUR, "d": 24 * HOUR, "w": 7 * 24 * HOUR}
_MOST_HOURS = 400 * 24
_HEADS = {
    "tool_calls_total": "calls",
    "tool_calls_invalid_args": "invalid",
    "tool_calls_repaired": "repaired",
    "tool_api_400_total": "refused requests",
    "tool_loop_max_iterations": "limits reached",
}
"""The counters as the columns of the table."""
_OF_CALLS = ("tool_calls_invalid_args", "tool_calls_repaired")
_GROUPS: dict[str, Callable[[Counted], str]] = {
    "model": lambda row: row.model,
    "tool": lambda row: row.tool,
    "hour": lambda row: _moment(row.hour * HOUR),
}
_NO_TABLES = Tables("counters", ())


class NoCounters(StoreError):
    """There is no store to read counters from."""


class Period(click.ParamType):  # type: ignore[type-arg]  # older releases of click have none
    """A length of time up to now, such as 7d."""

    name = "period"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Its seconds."""
        if isinstance(value, float):
            return value
        found = _PERIOD.fullmatch(str(value).strip().lower())
        if found is None or not int(found[1]):
            what = f"{value!r} is no period. Write a number and h, d or w: 24h, 7d, 4w."
            self.fail(what, param, ctx)
        return min(int(found[1]) * _SECONDS[found[2]], _MOST_HOURS * HOUR)


class Line(msgspec.Struct, frozen=True):
    """One line of the answer."""

    provider: str
    counters: Counters
    group: str = ""
    """The model, tool or hour, where the counts are grouped by it."""

    def as_json(self, by: str) -> dict[str, Any]:
        """The line as JSON; a rate is null where there was no call."""
        calls = self.counters.tool_calls_total
        named = {"provider": self.provider, **({by: self.group} if by else {})}
        rates = {
            f"{name}_rate": round(getattr(self.counters, name) / calls, 4) if calls else None
            for name in _OF_CALLS
        }
        return {**named, **asdict(self.counters), **rates}


@click.command()
@click.argument("providers", nargs=-1, metavar="[PROVIDER]...")
@click.option(
    "--compare", is_flag=True, help="Show the named providers side by side, also without counts."
)
@click.option(
    "--since",
    type=Period(),
    default="7d",
    show_default=True,
    metavar="PERIOD",
    help="How far back: a number and h, d or w, such as 24h. Counts are kept for 400 days.",
)
@click.option(
    "--by", type=click.Choice(tuple(_GROUPS)), help="Also group by model, by tool or by hour."
)
@click.option(
    "--store",
    metavar="FILE|URL",
    help="The store of a gateway (store.path) or of sessions: a file, or"
    " postgresql://user@host/database. Else the sessions in the folder for user data.",
)
@json_option
def stats(
    providers: tuple[str, ...],
    compare: bool,
    since: float,
    by: str | None,
    store: str | None,
    as_json: bool,
) -> None:
    """Show how well providers call tools, counted over time.

    Calls, calls with invalid arguments, calls that were repaired, and requests that the provider
    refused. Counts are those of the provider that answered, also after a failover. Gateways and
    sessions with a store add to them by provider, model, tool and hour.

    \b
    Examples:
      canonicall stats
      canonicall stats --compare anthropic gemini --since 7d
      canonicall stats --compare anthropic gemini --store gateway.db --json
    """
    if compare and len(set(providers)) < 2:
        raise click.UsageError("--compare needs two providers: --compare anthropic gemini.")
    place = store_path(store)
    began = time.time() - since
    rows = _rows(place, began)
    _refuse_unknown(providers, rows)
    lines = _lines(rows, providers, by or "")
    if as_json:
        counted = {
            "store": shown(place),
            "since": _moment(began // HOUR * HOUR),
            "providers": [line.as_json(by or "") for line in lines],
        }
        click.echo(msgspec.json.format(msgspec.json.encode(counted), indent=2))
        return
    _show(lines, by or "", began)


def _rows(place: str, began: float) -> list[Counted]:
    """What is counted in a store. Nothing is made where there is none."""
    if place == shown(place) and "://" not in place:
        _refuse_other_file(place)
    database = Database(place, tables=_NO_TABLES)
    try:
        return asyncio.run(_read(database, began))
    finally:
        database.close()


async def _read(database: Database, began: float) -> list[Counted]:
    table = CounterTable(database)
    await table.prepare()
    return await table.since(began)


def _refuse_other_file(place: str) -> None:
    """Raise where a file is no store."""
    help = "Name the store of a gateway or of sessions with --store."
    if not Path(place).is_file():
        raise NoCounters(f"{place}: there is no store. {help}")
    try:
        with closing(
            sqlite3.connect(f"{Path(place).resolve().as_uri()}?mode=ro", uri=True)
        ) as base:
            (version,) = base.execute("PRAGMA user_version").fetchone()
    except sqlite3.Error as error:
        raise NoCounters(f"{place}: it cannot be read as a store: {error}. {help}") from None
    if not version:
        raise NoCounters(f"{place}: canonicall has stored nothing in this file. {help}")


def _refuse_unknown(providers: Sequence[str], rows: Sequence[Counted]) -> None:
    """Raise for a provider that neither canonicall nor the store knows; gateways name their own."""
    known = {*provider_names(), *(row.provider for row in rows)}
    for name in providers:
        if name not in known:
            raise UnknownName("provider", name, sorted(known))


def _lines(rows: Sequence[Counted], providers: Sequence[str], by: str) -> list[Line]:
    names = list(dict.fromkeys(providers)) or sorted({row.provider for row in rows})
    lines: list[Line] = []
    for name in names:
        own = [row for row in rows if row.provider == name]
        groups: dict[str, list[Counted]] = {}
        for row in own:
            groups.setdefault(_GROUPS[by](row) if by else "", []).append(row)
        lines += [Line(name, total(some), group) for group, some in sorted(groups.items())]
        if not own:
            lines.append(Line(name, Counters()))
    return lines


def _show(lines: Sequence[Line], by: str, began: float) -> None:
    console = open_console()
    when = datetime.fromtimestamp(began, UTC).astimezone().strftime("%Y-%m-%d %H:%M")
    say(console, f"Since {when}", style="dim", indent="")
    if not lines:
        say(console, "Nothing was counted in this time.", indent="")
        return
    table = simple_table("provider", *([by] if by else []), *_HEADS.values())
    for column in table.columns[-len(_HEADS) :]:
        column.justify = "right"
    for line in lines:
        cells = [_cell(line.counters, name) for name in _HEADS]
        named = [line.provider, *([line.group or "-"] if by else [])]
        if console.width < NARROW:
            say(console, " ".join(named), style="bold", indent="")
            pairs = zip(_HEADS.values(), cells, strict=True)
            say(console, ", ".join(f"{head} {cell}" for head, cell in pairs))
        add_row(table, *named, *cells)
    if console.width >= NARROW:
        show_table(console, table)


def _cell(counters: Counters, name: str) -> str:
    number: int = getattr(counters, name)
    calls = counters.tool_calls_total
    if name in _OF_CALLS and calls:
        return f"{number:,} ({number / calls:.1%})"
    return f"{number:,}"


def _moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
