"""What people see: a console, filled text, tables and lists of findings.

Text fits 80 columns and grows to 100 at most, or to what a verb allows. Colour only helps, it says
nothing of its own; a pipe gets none.
"""

import textwrap
from collections.abc import Iterable

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from canonicall.findings import Action, Finding
from canonicall.verify import Violation

WIDEST = 100
_PLACES_SHOWN = 3
_DONE = {
    Action.ADDED: "Added",
    Action.CHANGED: "Changed",
    Action.MOVED: "Moved",
    Action.DROPPED: "Left out",
    Action.SET_ASIDE: "Set aside: not sent",
    Action.REFUSED: "Refused",
    Action.KEPT: "Noted, and left as it is",
}
"""What was done, in the words and the order of a list."""


def open_console(*, stderr: bool = False, widest: int = WIDEST) -> Console:
    """The console for a terminal or a pipe."""
    # Ids and places hold brackets and colons: they are text, not markup.
    console = Console(markup=False, emoji=False, highlight=False, stderr=stderr)
    console.width = min(console.width, widest)
    return console


def say(console: Console, text: str, *, style: str | None = None, indent: str = "  ") -> None:
    """Print a text, filled. A word that is too long for a line, such as an address, stays whole."""
    filled = textwrap.fill(
        text,
        console.width,
        initial_indent=indent,
        subsequent_indent=" " * len(indent),
        break_on_hyphens=False,
        break_long_words=False,
    )
    console.print(filled, style=style, soft_wrap=True)


def item(console: Console, label: str, text: str, *, indent: int = 4) -> None:
    """Print a labelled text, filled behind its label."""
    if text:
        say(console, text, indent=" " * indent + f"{label:<7} ")


def simple_table(*columns: str) -> Table:
    """A table with a line below its head and nothing else."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def show_table(console: Console, table: Table) -> None:
    console.print(Padding(table, (0, 0, 0, 2), expand=False))


def show_violations(console: Console, violations: Iterable[Finding]) -> None:
    """Each violation: where, why, the provider's words, what to do, who says so."""
    for violation in violations:
        console.print()
        say(console, f"{violation.where}  {violation.code}", style="bold red")
        item(console, "why", violation.why)
        if isinstance(violation, Violation):
            item(console, "error", violation.error)
            item(console, "repair", violation.repair)
            item(console, "source", violation.source)


def show_findings(console: Console, findings: Iterable[Finding]) -> None:
    """Findings in groups: what was done, then what it was about, with the first places."""
    grouped: dict[Action, dict[tuple[str, str], list[str]]] = {}
    for finding in findings:
        about = grouped.setdefault(finding.action, {})
        about.setdefault((finding.code, finding.why), []).append(finding.where)
    for action in (one for one in _DONE if one in grouped):
        say(console, _DONE[action], style="bold")
        for (code, why), places in grouped[action].items():
            more = len(places) - _PLACES_SHOWN
            where = ", ".join(places[:_PLACES_SHOWN]) + (f" and {more} more" if more > 0 else "")
            times = f"{len(places)} x " if len(places) > 1 else ""
            say(console, f"{times}{code}: {why}", indent="    ")
            say(console, where, style="dim", indent="      ")


def counted(number: int, thing: str) -> str:
    """A number with its noun: 1 violation, 2 violations."""
    return f"{number:,} {thing}" + ("" if number == 1 else "s")
