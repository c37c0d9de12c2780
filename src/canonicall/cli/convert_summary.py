"""What a conversion did: the lines it set aside, and the sums at its end."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from canonicall.cli.converting import Rejected, Tally
from canonicall.cli.page import counted, item, say, show_table, simple_table

_REJECTED_SHOWN = 10
_RENAMED_SHOWN = 50


def summary_record(tally: Tally, names: Mapping[str, Any]) -> dict[str, Any]:
    """The sums for programs."""
    return {
        **names,
        "converted": tally.documents,
        "rejected": tally.rejected,
        "refused": tally.refused,
        "foreign_models": tally.foreign_models,
        "codes": tally.codes,
        "renamed_tools": tally.renamed_tools,
    }


def tell_rejected(console: Console, rejected: Sequence[Rejected], told: int, aside: str) -> None:
    """Each line that cannot be converted; the first of them only where a file has them all."""
    for number, one in enumerate(rejected, told + 1):
        if aside and number > _REJECTED_SHOWN:
            if number == _REJECTED_SHOWN + 1:
                say(console, f"More lines cannot be converted: see {aside} in the end.", indent="")
            return
        # What could be given instead is the same for every line: the file has it.
        reason, _, _ = one.why.removeprefix("$: ").partition(". ")
        say(console, f"line {one.line}: {reason.rstrip('.')}.", style="yellow", indent="")


def tell_summary(console: Console, tally: Tally, names: Mapping[str, Any]) -> None:
    """The sums for people."""
    where = "" if names["output"] == "-" else f" in {names['output']}"
    told = f"{counted(tally.documents, 'document')} converted to {names['target']}{where}."
    say(console, told, style="bold", indent="")
    if tally.codes:
        table = simple_table("finding", "times")
        for code, times in sorted(tally.codes.items(), key=lambda one: (-one[1], one[0])):
            table.add_row(code, f"{times:,}")
        show_table(console, table)
    if tally.renamed_tools:
        say(console, "Tools that were renamed, because the target does not take their names:")
        for own, wire in list(tally.renamed_tools.items())[:_RENAMED_SHOWN]:
            say(console, f"{own} -> {wire}", indent="    ")
        more = len(tally.renamed_tools) - _RENAMED_SHOWN
        if more > 0:
            say(console, f"and {more:,} more", indent="    ", style="dim")
    if tally.rejected:
        aside = f": see {names['rejected_file']}" if names["rejected_file"] else ""
        told = f"{counted(tally.rejected, 'line')} could not be converted{aside}"
        say(console, f"{told}.", style="yellow", indent="")
    if tally.refused:
        told = f"{counted(tally.refused, 'document')} would still be refused."
        say(console, told, style="bold red", indent="")
    if tally.foreign_models:
        told = (
            f"{counted(tally.foreign_models, 'document')} still named another provider's model:"
            f" name one with --to {names['target']}:MODEL."
        )
        say(console, told, style="yellow", indent="")
    item(console, "report", names["report"] or "", indent=0)
