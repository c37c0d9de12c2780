"""`canonicall demo`: one conversation through all providers, for a person who is new here.

Out: text for a terminal or a pipe, or the same facts as JSON. It fits 80 columns and grows to 100
at most; colour only helps, it says nothing of its own. In a terminal the table grows as it happens.
"""

import textwrap
from collections.abc import Callable, Iterable, Sequence

import click
import msgspec
from msgspec import Struct
from rich import box
from rich.console import Console, JustifyMethod
from rich.live import Live
from rich.padding import Padding
from rich.table import Table

from canonicall.cli.demo_journey import Hop, travel
from canonicall.cli.demo_naive import Refused, send_as_it_is
from canonicall.conversation import Conversation
from canonicall.ids import is_canonical_tool_id

_WIDEST = 100
_ID_SHOWN = 13
_ERRORS_SHOWN = 8
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
@click.option("--json", "as_json", is_flag=True, help="Print the same facts as a JSON object.")
def demo(as_json: bool) -> int:
    """Show what canonicall does: one conversation through all providers, offline.

    Every provider is simulated with the rules of the real one. No network, no keys.
    """
    if as_json:
        story = tell()
        click.echo(msgspec.json.format(msgspec.json.encode(story), indent=2))
    else:
        story = show(_console())
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


def show(console: Console) -> Story:
    """Tell it while it happens."""
    console.print("canonicall: one conversation, any model", style="bold")
    _say(
        console,
        "Every provider below is simulated with the rules and the error texts of the real one:"
        " no network, no keys.",
    )
    _head(console, "1. One conversation, continued by a different provider each time")
    _say(
        console,
        "Each gets the whole conversation so far, with thoughts, parallel calls, images and calls"
        " that the user cancelled; asks for tools; and answers. The columns in the middle say what"
        " had to be changed for it.",
    )
    console.print()
    table = _table("provider", "calls", "id of the first", *_REPAIRS, "other", "verdict")
    indented = Padding(table, (0, 0, 0, 2), expand=False)
    with Live(indented, console=console, auto_refresh=False, vertical_overflow="visible") as live:

        def add(hop: Hop) -> None:
            table.add_row(*_cells(hop))
            live.refresh()

        story = tell(add)
    console.print()
    _show_naive(story.naive, console)
    _show_end(story, console)
    return story


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
    _say(console, f"{len(refused)} of {len(naive)} requests are refused. Some of the answers:")
    console.print()
    table = _table("provider", "status", _WORDS)
    for one in [one for one in refused if told[one.error] is one][:_ERRORS_SHOWN]:
        table.add_row(one.name, str(one.status), textwrap.shorten(one.error, 150))
    console.print(Padding(table, (0, 0, 0, 2), expand=False))


def _show_end(story: Story, console: Console) -> None:
    """What it all meant, and where to go from here."""
    _head(console, "3. What this run has shown")
    for check in story.checks:
        mark, style = ("yes", "green") if check.holds else ("NO ", "bold red")
        _say(console, f"{mark}  {check.claim}", style=style)
    console.print()
    ends = ", ".join(f"{count} {outcome}" for outcome, count in story.outcomes.items())
    calls = sum(story.outcomes.values())
    _say(console, f"{calls} tool calls in {len(story.hops)} hops: {ends}.", style="bold")
    console.print()
    _say(console, "Where to go next:")
    for command, what in _NEXT:
        _say(console, f"{command:<37} {what}", indent="    ")


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
    yield Check("cancelled calls are told truthfully, never as done", _is_truthful(talk))
    yield Check("without canonicall, providers refuse it", any(one.status != 200 for one in naive))


def _is_truthful(talk: Conversation) -> bool:
    ends = {one.outcome for one in talk.ledger.values() if one.result is None}
    return bool(ends) and all(str(end) in ("unknown", "not_run") for end in ends)


def _outcomes(talk: Conversation) -> dict[str, int]:
    ends: dict[str, int] = {}
    for one in talk.ledger.values():
        ends[str(one.outcome)] = ends.get(str(one.outcome), 0) + 1
    return ends


def _console() -> Console:
    # Ids and places hold brackets and colons: they are text, not markup.
    console = Console(markup=False, emoji=False, highlight=False)
    console.width = min(console.width, _WIDEST)
    return console


def _head(console: Console, title: str) -> None:
    console.print()
    console.print(title, style="bold cyan")


def _say(console: Console, text: str, *, style: str | None = None, indent: str = "  ") -> None:
    filled = textwrap.fill(
        text, console.width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )
    console.print(filled, style=style, soft_wrap=True)


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=0, header_style="bold")
    for column in columns:
        is_number = column in (*_REPAIRS, "calls", "other")
        justify: JustifyMethod = "right" if is_number else "left"
        table.add_column(column, overflow="fold", justify=justify, no_wrap=column != _WORDS)
    return table
