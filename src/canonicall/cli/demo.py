"""`canonicall demo`: the story of one conversation, step by step, for a person who is new here.

In: a `Story`. Out: text for a terminal or a pipe, or the same facts as JSON. It fits 80 columns
and grows to 100 at most; colour only helps, it says nothing of its own.
"""

from collections.abc import Iterable, Sequence

import click
import msgspec
from rich.console import Console
from rich.padding import Padding

from canonicall.cli.demo_story import Check, Damage, Reloaded, Shrunk, Story, Told, tell
from canonicall.cli.demo_travel import Hop
from canonicall.cli.page import open_console, say, simple_table
from canonicall.findings import Finding

_ID_SHOWN = 14
_WIRE_ID_SHOWN = 21
_SHOWN = ("openai", "anthropic", "gemini", "mistral", "kimi", "deepseek", "bedrock", "cohere")


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the same facts as a JSON object.")
def demo(as_json: bool) -> int:
    """Show what canonicall does: offline, in seconds.

    \b
    Example:
      canonicall demo
    """
    story = tell()
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(story), indent=2))
    else:
        show(story, open_console())
    return 0 if all(check.holds for check in story.checks) else 1


def show(story: Story, console: Console) -> None:
    """Print the whole story."""
    console.print("canonicall: one conversation, any model", style="bold")
    say(console, "Everything below happens in memory: no network, no keys, no files.")
    _show_ids(console, story)
    _show_cancelled(console, story.cancelled)
    _show_damaged(console, story.damaged)
    _show_shrunk(console, story.shrunk)
    _show_reloaded(console, story.reloaded)
    _show_hops(console, story.hops)
    _show_checks(console, story.checks, story.summary)


def _show_ids(console: Console, story: Story) -> None:
    _head(console, 1, "Two providers, one conversation")
    say(
        console,
        "Kimi uses the id functions.read_file:0 in two turns, Gemini sends no ids at all."
        " Each call gets an id of its own, and each result finds its call.",
    )
    table = simple_table("turn", "provider", "raw id", "tool", "canonical id", "outcome")
    for row in story.calls:
        shown = f"{row.id[:_ID_SHOWN]}.."
        table.add_row(
            str(row.turn), row.provider, row.raw_id or "(none)", row.tool, shown, row.outcome
        )
    console.print(Padding(table, (1, 0, 0, 2), expand=False))
    console.print()
    say(console, f"Reported: {_counts(story.ids)}.")


def _show_cancelled(console: Console, cancelled: Iterable[Told]) -> None:
    _head(console, 2, "The user cancels while two calls are open")
    say(
        console,
        "One call was running, the other had not begun."
        " The model is never told that nothing happened when something may have.",
    )
    table = simple_table("tool", "outcome", "what the model reads")
    for told in cancelled:
        table.add_row(told.tool, told.outcome, told.text)
    console.print(Padding(table, (1, 0, 0, 2), expand=False))


def _show_damaged(console: Console, damaged: Iterable[Damage]) -> None:
    _head(console, 3, "Damaged traffic")
    say(console, "No exception, and nothing vanishes: each oddity becomes a finding.")
    for damage in damaged:
        console.print()
        say(console, damage.arrived.capitalize())
        _item(console, damage.finding)


def _show_shrunk(console: Console, shrunk: Shrunk) -> None:
    _head(console, 4, "Compaction")
    say(
        console,
        "The old part becomes a summary, long results are shortened. We ask for a cut before"
        f" entry {shrunk.asked}, between a call and its result; allowed cuts are before"
        f" {', '.join(map(str, shrunk.cut_points))}.",
    )
    table = simple_table("", "entries", "tool calls", "open calls", "bytes stored")
    for column in table.columns[1:]:
        column.justify = "right"
    for name, size in (("before", shrunk.before), ("after", shrunk.after)):
        numbers = (size.entries, size.calls, size.open_calls, size.bytes)
        table.add_row(name, *(f"{number:,}" for number in numbers))
    console.print(Padding(table, (1, 0, 0, 2), expand=False))
    console.print()
    for finding in shrunk.findings:
        _item(console, finding)


def _show_reloaded(console: Console, reloaded: Reloaded) -> None:
    _head(console, 5, "Stored, cut off, loaded again")
    say(
        console,
        f"{reloaded.entries_stored} entries were stored, one line each."
        f" We cut off the last {reloaded.bytes_missing} bytes, as a crash would."
        f" {reloaded.entries_read} entries came back, and the report says:",
    )
    _item(console, reloaded.finding)
    console.print()
    lost = reloaded.lost
    say(
        console,
        f"That line held the result of {lost.tool}, so this call is open again."
        f" It can be closed as {lost.outcome}; then the model reads:",
    )
    say(console, f'"{lost.text}"', indent="    ")


def _show_hops(console: Console, hops: Sequence[Hop]) -> None:
    _head(console, 6, "The same conversation for any provider")
    say(
        console,
        "Ids and places as each of them wants it; results stand behind their calls. A judge that"
        " shares no code with the renderer checks every body.",
    )
    table = simple_table(
        "provider", "format", "id of the first call", "calls", "repairs", "verdict"
    )
    shown = [hop for hop in hops if hop.provider in _SHOWN]
    for hop in shown:
        verdict = f"{hop.refused} violations" if hop.refused else "accepted"
        id = hop.first_id if len(hop.first_id) <= _WIRE_ID_SHOWN else f"{hop.first_id[:19]}.."
        numbers = (str(hop.calls), str(hop.repairs))
        table.add_row(hop.provider, hop.format, id or "(none)", *numbers, verdict)
    console.print(Padding(table, (1, 0, 0, 2), expand=False))
    console.print()
    others = [hop for hop in hops if hop not in shown]
    fine = sum(not hop.refused for hop in others)
    say(console, f"Of {len(others)} more providers, {fine} get a body the judge accepts as well.")


def _show_checks(console: Console, checks: Iterable[Check], summary: str) -> None:
    _head(console, 7, "What this run has shown")
    for check in checks:
        mark, style = ("yes", "green") if check.holds else ("NO ", "bold red")
        say(console, f"{mark}  {check.claim}", style=style)
    console.print()
    say(console, summary, style="bold")
    say(console, "Next: README.md for a first program, docs/ for every part in detail.")


def _head(console: Console, number: int, title: str) -> None:
    console.print()
    console.print(f"{number}. {title}", style="bold cyan")


def _item(console: Console, finding: Finding) -> None:
    done = finding.action.replace("_", " ")
    say(console, f"{finding.code} ({done}): {finding.why}", style="yellow", indent="    ")


def _counts(findings: Iterable[Finding]) -> str:
    found: dict[str, int] = {}
    for finding in findings:
        found[finding.code] = found.get(finding.code, 0) + 1
    return ", ".join(f"{count} x {code}" for code, count in found.items())
