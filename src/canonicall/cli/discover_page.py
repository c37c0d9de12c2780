"""What `canonicall discover` shows: what was found, the proof of it, and what to do with it."""

from typing import Any

import msgspec

from canonicall.cli.files import STANDARD, shown
from canonicall.cli.page import add_row, item, open_console, say, show_table, simple_table
from canonicall.discovery.statement import QUESTIONS, Statement
from canonicall.discovery.tooling import ToolingInfo

_PROOF = 90
"""Characters of an answer that are shown as its proof."""
_TAKEN = "200"
_UNKNOWN = "unknown"


def show_tooling(info: ToolingInfo, provider: str, output: str | None) -> None:
    """Print everything; beside a profile that has standard output, to standard error.

    `output`: where the profile was written.
    """
    console = open_console(stderr=output == STANDARD, widest=140)
    say(console, f"{info.url} speaks {info.wire_format}", style="bold cyan", indent="")
    others = [one for one in info.formats if one != info.wire_format]
    item(console, "model   ", info.model, indent=2)
    item(console, "also    ", ", ".join(others), indent=2)
    item(console, "calls   ", f"{info.format or _UNKNOWN}, read by {info.parser}", indent=2)
    item(console, "example ", info.example, indent=2)
    item(console, "schemas ", f"as {info.schema_style} has them", indent=2)
    item(console, "requests", f"{info.requests}", indent=2)
    console.print()
    table = simple_table("question", "answer", "proof")
    for one in info.statements:
        add_row(table, QUESTIONS[one.question][0], _worded(one.answer), _proof(one))
    show_table(console, table)
    if info.unknown:
        say(console, f"Not known: {', '.join(info.unknown)}.")
    if info.quirks:
        console.print()
        say(console, "Quirks", style="bold cyan", indent="")
        for quirk in info.quirks:
            say(console, quirk)
    _show_documented(console, info)
    console.print()
    _show_next(console, info, provider, output)


def _show_documented(console: Any, info: ToolingInfo) -> None:
    if not info.documented:
        return
    console.print()
    say(console, "The documentation", style="bold cyan", indent="")
    table = simple_table("question", "says", "probe", "verdict", "words")
    for one in info.documented:
        said, probed = _worded(one.said), _worded(one.probed)
        add_row(table, one.question, said, probed, one.verdict, one.quote[:_PROOF])
    show_table(console, table)
    if any(one.verdict == "contradicts" for one in info.documented):
        say(console, "Where they contradict each other, the profile follows the probe.")


def _show_next(console: Any, info: ToolingInfo, provider: str, output: str | None) -> None:
    if output is None:
        say(console, "Write its profile with -o FILE.", indent="")
        return
    if output != STANDARD:
        say(console, f"The profile is in {shown(output)}. To use it:", indent="")
        say(console, f"register_provider(Path({output!r}).read_text())", indent="    ")
        say(console, f'Agent("{provider}:{info.model}", ...)', indent="    ")


def _proof(one: Statement) -> str:
    """The probe and its status; the words of the endpoint where it refused."""
    if not one.evidence:
        return one.note
    first = one.evidence[0]
    status, _, words = first.received.partition(" ")
    said = "" if status == _TAKEN else f" {words[:_PROOF]}"
    return f"{one.note} {first.probe}: {status}{said}".strip()


def _worded(answer: Any) -> str:
    match answer:
        case None:
            return _UNKNOWN
        case bool():
            return "yes" if answer else "no"
        case str():
            return answer
        case _:
            return msgspec.json.encode(answer).decode()
