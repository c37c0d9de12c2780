"""`canonicall demo`: one conversation through all providers, for a person who is new here.

Out: text for a terminal or a pipe, or the same facts as JSON. It fits 80 columns and grows to 100
at most; colour only helps, it says nothing of its own. In a terminal the table grows as it happens:
the first stops and the last one have a row each, those between them are named below it. The same
page can be saved as a picture.
"""

import io
import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext

import click
import msgspec
from msgspec import Struct
from rich.console import Console
from rich.live import Live
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from canonicall.cli.arguments import OUTPUT
from canonicall.cli.demo_journey import Hop, travel
from canonicall.cli.demo_naive import Refused, send_as_it_is
from canonicall.cli.files import writing
from canonicall.cli.page import open_console, say, simple_table
from canonicall.conversation import Conversation
from canonicall.ids import is_canonical_tool_id

_ID_SHOWN = 13
_HOPS_SHOWN = 11
"""The first stops, whose rules differ the most."""
_ROOMY = 78
"""Columns that all of the first table takes."""
_ERRORS_SHOWN = 8
_WIDTH = 80
"""Columns of a picture: as wide as text is without a terminal."""
_WORDS = "what it says"
_REPAIRS = {
    "thoughts\nleft out": ("thinking_dropped",),
    "images\nmoved": ("media_moved",),
    "calls\nclosed": ("cancelled_call_answered",),
}
"""The columns of the first table, and the repairs each of them counts."""


class Check(Struct, frozen=True):
    """Something the demo claims, and whether it holds."""

    claim: str
    holds: bool


class Story(Struct, frozen=True):
    """All that happened."""

    hops: tuple[Hop, ...]
    naive: tuple[Refused, ...]
    outcomes: dict[str, int]
    checks: tuple[Check, ...]


@click.command()
@click.option("--all", "every", is_flag=True, help="Show a row for each provider.")
@click.option("--json", "as_json", is_flag=True, help="Print the same facts as a JSON object.")
@click.option(
    "--svg",
    "picture",
    type=OUTPUT,
    metavar="FILE",
    help="Save what is shown as a picture.",
)
def demo(every: bool, as_json: bool, picture: str | None) -> int:
    """Show one conversation travel through all providers.

    Every provider is simulated with the rules of the real one. No network, no keys.

    \b
    Examples:
      canonicall demo
      canonicall demo --all
      canonicall demo --svg demo.svg
    """
    # A place that cannot be written to is told before the journey, not after it.
    with writing(picture) if picture is not None else nullcontext() as file:
        story = tell() if as_json else show(open_console(), every=every)
        if file is not None:
            file.write(drawn(story, every=every).encode())
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(story), indent=2))
    return 0 if all(check.holds for check in story.checks) else 1


def tell(each: Callable[[Hop], None] | None = None) -> Story:
    """Live through all of it; `each` hears of every hop when it is over."""
    talk = Conversation()
    hops = []
    for hop in travel(talk):
        hops.append(hop)
        if each is not None:
            each(hop)
    naive = tuple(send_as_it_is(talk))
    return Story(tuple(hops), naive, _outcomes(talk), tuple(_checks(talk, hops, naive)))


def show(console: Console, *, every: bool = False) -> Story:
    """Tell it while it happens. `every`: with a row for each hop."""
    _show_beginning(console)
    hops: list[Hop] = []
    # What overflows the window is shown at the end: redrawn, it would fill the scrollback.
    with Live(console=console, auto_refresh=False) as live:

        def add(hop: Hop) -> None:
            hops.append(hop)
            between = [] if every else _between(hops)
            live.update(_hops_table(hops, between, console.width), refresh=True)

        story = tell(add)
    if not console.is_terminal:
        # There the line has not been ended.
        console.print()
    _show_rest(story, console, every=every)
    return story


def drawn(story: Story, *, every: bool = False) -> str:
    """The same page as an SVG picture. It loads no font: any that the reader has will do."""
    console = Console(
        file=io.StringIO(), record=True, width=_WIDTH, markup=False, emoji=False, highlight=False
    )
    _show_beginning(console)
    console.print(_hops_table(story.hops, [] if every else _between(story.hops), _WIDTH))
    _show_rest(story, console, every=every)
    picture = console.export_svg(title="canonicall demo", unique_id="demo")
    return re.sub(r"@font-face \{[^}]*\}\s*", "", picture).replace(
        "Fira Code, monospace", "monospace"
    )


def _show_beginning(console: Console) -> None:
    console.print("canonicall: one conversation, any model", style="bold")
    say(
        console,
        "Every provider below is simulated with the rules and the error texts of the real one:"
        " no network, no keys.",
    )
    _head(console, "1. One conversation, continued by a different provider each time")
    say(
        console,
        "Each gets the whole conversation so far, with thoughts, parallel calls, images and calls"
        " that the user cancelled; asks for tools; and answers. The columns say how many calls"
        " there are by then, what the first is called there, and what was changed for it.",
    )
    console.print()


def _show_rest(story: Story, console: Console, *, every: bool) -> None:
    if not every:
        names = ", ".join(hop.name for hop in _between(story.hops))
        console.print()
        say(console, f"The others are {names}.")
        say(console, "canonicall demo --all has a row for each of them.")
    _show_naive(story.naive, console)
    _show_end(story, console)


def _between(hops: Sequence[Hop]) -> list[Hop]:
    """The stops that need no row of their own: nothing happened there that a row would tell."""
    return [hop for hop in hops[_HOPS_SHOWN:-1] if hop.is_accepted]


def _hops_table(hops: Sequence[Hop], between: Sequence[Hop], width: int) -> Padding:
    """A row for each stop, but one for all that stand `between` the first ones and the last."""
    heads = ("provider", "calls", "id of the first", *_REPAIRS, "other", "verdict")
    is_roomy = width >= _ROOMY
    table = _table(*(heads if is_roomy else (*heads[:2], heads[-1])))

    def add(cells: tuple[str, ...], *, is_accepted: bool = True) -> None:
        verdict = Text(cells[-1], style="green" if is_accepted else "bold red")
        table.add_row(*(cells[:-1] if is_roomy else cells[:2]), verdict)

    for hop in hops:
        if hop not in between:
            add(_cells(hop), is_accepted=hop.is_accepted)
        if hop in between[-1:]:
            blank = [""] * (len(heads) - 3)
            add((f"{len(between)} others", str(hop.calls), *blank, "accepted"))
    return _indented(table)


def _cells(hop: Hop) -> tuple[str, ...]:
    shown = hop.first_id if len(hop.first_id) <= _ID_SHOWN else f"{hop.first_id[:_ID_SHOWN]}.."
    repairs = dict(hop.repairs)
    counts = [sum(repairs.pop(code, 0) for code in codes) for codes in _REPAIRS.values()]
    numbers = [str(count or "-") for count in (*counts, sum(repairs.values()))]
    verdict = "accepted" if hop.is_accepted else f"{hop.statuses[-1]}: {hop.error}"
    return hop.name, str(hop.calls), shown or "(none)", *numbers, verdict


def _show_naive(naive: Sequence[Refused], console: Console) -> None:
    """What the others would have said."""
    refused = [one for one in naive if one.status != 200]
    _head(console, "2. The same conversation, sent with ids and blocks as they are")
    told = {one.error: one for one in reversed(refused)}
    others = " and ".join(one.name for one in naive if one.status == 200)
    but = f"; only {others} took it, paired or not" if others else ""
    say(console, f"{len(refused)} of {len(naive)} requests are refused{but}. Some of the answers:")
    console.print()
    table = _table("provider", "status", _WORDS)
    for one in [one for one in refused if told[one.error] is one][:_ERRORS_SHOWN]:
        status = Text(str(one.status), style="red")
        # Lists of faults begin with a star, which would stand alone before a long place.
        table.add_row(one.name, status, textwrap.shorten(one.error.removeprefix("* "), 150))
    console.print(_indented(table))


def _show_end(story: Story, console: Console) -> None:
    """What it all meant, and where to go from here."""
    _head(console, "3. What this run has shown")
    for check in story.checks:
        mark, style = ("yes", "green") if check.holds else ("NO ", "bold red")
        say(console, f"{mark}  {check.claim}", style=style)
    console.print()
    ends = ", ".join(f"{count} {outcome}" for outcome, count in story.outcomes.items())
    calls = sum(story.outcomes.values())
    say(console, f"{calls} tool calls in {len(story.hops)} hops: {ends}.", style="bold")
    console.print()
    say(console, "Where to go next:")
    for command, what in _NEXT:
        say(console, f"{command:<37} {what}", indent="    ")


_NEXT = (
    ("canonicall check FILE --as anthropic", "would it be accepted?"),
    ("canonicall fix FILE --as anthropic", "make it so"),
    ("canonicall sim --provider anthropic", "a strict provider for your tests"),
    ("README.md, docs/", "the library"),
)


def _checks(talk: Conversation, hops: Sequence[Hop], naive: Sequence[Refused]) -> Iterable[Check]:
    accepted = sum(hop.is_accepted for hop in hops)
    ids = [call.id for message in talk.messages for call in message.calls]
    own = len(set(ids)) == len(ids) and all(map(is_canonical_tool_id, ids))
    yield Check(f"{accepted} of {len(hops)} hops were accepted", accepted == len(hops))
    yield Check("every call has an id of its own", own)
    yield Check("every call has exactly one outcome", not talk.ledger.open)
    yield Check("cancelled calls are reported truthfully, never as done", _is_truthful(talk))
    yield Check("without canonicall, providers refuse it", any(one.status != 200 for one in naive))


def _is_truthful(talk: Conversation) -> bool:
    ends = {one.outcome for one in talk.ledger.values() if one.result is None}
    return bool(ends) and all(str(end) in ("unknown", "not_run") for end in ends)


def _outcomes(talk: Conversation) -> dict[str, int]:
    ends: dict[str, int] = {}
    for one in talk.ledger.values():
        ends[str(one.outcome)] = ends.get(str(one.outcome), 0) + 1
    return ends


def _head(console: Console, title: str) -> None:
    console.print()
    console.print(title, style="bold cyan")


def _indented(table: Table) -> Padding:
    return Padding(table, (0, 0, 0, 2), expand=False)


def _table(*columns: str) -> Table:
    table = simple_table(*columns)
    table.padding = 0
    for name, column in zip(columns, table.columns, strict=True):
        column.justify = "right" if name in (*_REPAIRS, "calls", "other") else "left"
        column.no_wrap = name not in (_WORDS, "verdict")
    return table
