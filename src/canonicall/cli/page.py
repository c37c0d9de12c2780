"""What people see: a console, filled text, tables and lists of findings.

Text fits 80 columns and grows to 100 at most, or to what a verb allows. Colour only helps, it says
nothing of its own; a pipe gets none.
"""

import shlex
import textwrap
from collections import Counter
from collections.abc import Iterable

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from canonicall.cli.visible import in_one_line, visible
from canonicall.findings import Action, Finding
from canonicall.verify import Violation

WIDEST = 100
NARROW = 80
"""A window with fewer columns than that is narrow."""
_EXAMPLES = 3
_LISTED = {"tool_renamed": 50}
"""Codes of which each case says something else, and how many are shown."""
_ROOMY = 90
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
        visible(text),
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


def add_row(table: Table, *cells: str | Text) -> None:
    """A row of texts that others may have written."""
    table.add_row(*(in_one_line(cell) if isinstance(cell, str) else cell for cell in cells))


def show_table(console: Console, table: Table, *, is_wide: bool = False) -> None:
    """Print a table. A wide one has its columns closer together where there is little room.

    In a window of fewer columns than text takes nothing is cut off: cells are folded.
    """
    if is_wide and console.width < _ROOMY:
        table.padding = 0
    if console.width < NARROW:
        for column in table.columns:
            column.no_wrap = False
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


def suggest_fix(
    console: Console,
    file: str,
    target: str,
    *,
    sets_aside: bool = False,
    is_session: bool = False,
) -> None:
    """The command that repairs what was found, ready to be copied.

    `sets_aside`: not all of the file can be read, and `fix` writes all of it or nothing.
    `is_session`: it is the session file of a coding agent, and is repaired in place.
    """
    name = shlex.quote(file)
    if is_session:
        command = f"canonicall fix {name} --as {target} --in-place --write-session"
        say(console, "To repair the session, and keep the file as it was beside it:")
        console.print(f"  {visible(command)}", soft_wrap=True)
    elif sets_aside:
        say(console, f"To repair the others: canonicall convert {name} --to {target} -o OUT")
    else:
        say(console, f"To repair it: canonicall fix {name} --as {target}")


class Tally:
    """Findings in groups: what was done, then the codes, each with its first examples.

    However many findings there are, only the examples are kept.
    """

    def __init__(self) -> None:
        self._counts: Counter[tuple[Action, str]] = Counter()
        self._examples: dict[tuple[Action, str], list[str]] = {}

    def add(self, findings: Iterable[Finding], place: str = "") -> None:
        """Take findings in; `place` tells documents apart."""
        for finding in findings:
            group = (finding.action, finding.code)
            self._counts[group] += 1
            examples = self._examples.setdefault(group, [])
            if finding.code in _LISTED:
                # The same in every document, so its place says nothing.
                if len(examples) < _LISTED[finding.code] and finding.why not in examples:
                    examples.append(finding.why)
            elif len(examples) < _EXAMPLES:
                examples.append(f"{place}{finding.where}: {finding.why}")

    def show(self, console: Console) -> None:
        for action, title in _DONE.items():
            groups = [group for group in self._counts if group[0] is action]
            if groups:
                say(console, title, style="bold")
            for group in groups:
                self._show_group(console, group)

    def _show_group(self, console: Console, group: tuple[Action, str]) -> None:
        count, examples = self._counts[group], self._examples[group]
        times = f" ({count:,} times)" if count > 1 else ""
        say(console, f"{group[1]}{times}", indent="    ", style="yellow")
        for example in examples:
            say(console, example, indent="      ")
        if count > len(examples) and (
            group[1] not in _LISTED or len(examples) == _LISTED[group[1]]
        ):
            say(console, f"and {count - len(examples):,} more", indent="      ", style="dim")


def show_findings(console: Console, findings: Iterable[Finding]) -> None:
    """The findings of one document."""
    tally = Tally()
    tally.add(findings)
    tally.show(console)


def counted(number: int, thing: str) -> str:
    """A number with its noun: 1 violation, 2 violations."""
    return f"{number:,} {thing}" + ("" if number == 1 else "s")
