"""`canonicall check`: what a provider would refuse in a transcript, before it is sent.

In: files, each one document or one a line. Out: every violation with its place, for people or as
one JSON object a document. A file is judged line by line and is never held whole.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import click
import msgspec
from msgspec import Struct
from rich.text import Text

from canonicall.cli.arguments import (
    EVERY_PROVIDER,
    INPUT,
    TargetName,
    from_option,
    json_option,
    profile_option,
)
from canonicall.cli.files import UnusableFile, reading, shown
from canonicall.cli.judging import Subject, Verdict
from canonicall.cli.overview import FAILED, FOUND, OK
from canonicall.cli.page import (
    counted,
    open_console,
    say,
    show_findings,
    show_table,
    show_violations,
    simple_table,
    suggest_fix,
)
from canonicall.cli.verbs import complain
from canonicall.client.refusals import KIND
from canonicall.errors import CanonicallError
from canonicall.facts.registry import provider_names
from canonicall.importing.pieces import pieces


class Judged(Struct, frozen=True):
    """One document and what became of it."""

    file: str
    line: int
    """From 1; 0 where the file is one document."""
    formats: tuple[str, ...] = ()
    """The formats it can be; it is read as the first, or as the target's own."""
    verdicts: tuple[Verdict, ...] = ()
    error: str = ""
    is_broken: bool = False
    """It is a coding agent's session, and the agent cannot go on with it as it is."""
    is_session: bool = False
    """It is a coding agent's session file that can be repaired in its own form."""

    @property
    def place(self) -> str:
        return f"{self.file}, line {self.line}" if self.line else self.file

    @property
    def read_as(self) -> str:
        others = " or ".join(self.formats[1:])
        return f"{self.formats[0]} (could be {others})" if others else self.formats[0]

    @property
    def is_refused(self) -> bool:
        return any(verdict.violations for verdict in self.verdicts)

    @property
    def is_unknown(self) -> bool:
        """It continues what none of the targets keeps, so none could judge it."""
        return bool(self.verdicts) and all(one.judged == "not judged" for one in self.verdicts)


@click.command()
@click.argument("files", nargs=-1, required=True, type=INPUT, metavar="FILE...")
@click.option(
    "--as",
    "target",
    type=TargetName(or_all=True),
    metavar="PROVIDER[:MODEL]",
    help="Whose rules count; `all` for the matrix of all providers. Only a refused request that"
    " `run --save-refused` wrote says it itself.",
)
@from_option
@profile_option
@json_option
def check(files: Sequence[str], target: str | None, format: str, as_json: bool) -> int:
    """Find what a provider would refuse in a transcript.

    FILE is a request body of any format or a list of messages, a file with one of these a line, or
    a stored conversation; - is standard input. A body in the provider's own format is judged as it
    is, anything else as it would be sent; the output says which. Of a coding agent's session file,
    what the agent sends next is judged, without any repair. A request that continues what a
    provider keeps, by `previous_response_id` for example, is judged by what is in it; another
    provider cannot judge it.

    \b
    Examples:
      canonicall check request.json --as anthropic
      canonicall check log.jsonl --as openai:gpt-5 --json
      canonicall check ~/.claude/projects/PROJECT/SESSION.jsonl --as anthropic
      canonicall check - --as all < request.json

    Ends with 3 if a provider would refuse something, with 1 if a document cannot be read or judged.
    """
    targets = provider_names() if target == EVERY_PROVIDER else (target or "",)
    found: Iterator[Judged] = (one for file in files for one in _judged(file, targets, format))
    if target is None and len(files) == 1:
        found, target = _named(found)
    if as_json:
        seen = _print_records(found)
    elif target == EVERY_PROVIDER:
        seen = _show_matrix(found)
    else:
        seen = _show_each(found)
    if seen["to_repair"] and not as_json:
        console = open_console()
        console.print()
        one = target if target and target != EVERY_PROVIDER else "PROVIDER"
        name = files[0] if len(files) == 1 else "FILE"
        is_session = seen["sessions"] == seen["to_repair"]
        sets_aside = bool(seen["unreadable"])
        suggest_fix(console, name, one, sets_aside=sets_aside, is_session=is_session)
    if seen["unreadable"] or seen["unknown"]:
        return FAILED
    return FOUND if seen["refused"] else OK


def _judged(file: str, targets: Sequence[str], format: str) -> Iterator[Judged]:
    with reading(file) as lines:
        for piece in pieces(lines, format):
            subject = Subject(piece.data, format)
            name = shown(file)
            try:
                verdicts = tuple(subject.verdict(one or _own_target(subject)) for one in targets)
                yield Judged(
                    name,
                    piece.line,
                    subject.formats,
                    verdicts,
                    is_broken=subject.is_broken,
                    is_session=subject.can_be_written_back,
                )
            except CanonicallError as error:
                yield Judged(name, piece.line, error=str(error))


def _named(found: Iterator[Judged]) -> tuple[Iterator[Judged], str | None]:
    """The documents again, and who the first says has refused it."""
    first = next(found)
    verdict = next(iter(first.verdicts), None)
    return chain([first], found), verdict.target if verdict else None


def _own_target(subject: Subject) -> str:
    """Who refused the request, where the document says so."""
    is_one = KIND.encode() in subject.data
    refused = subject.body.refused if is_one and subject.body is not None else None
    if refused is None:
        context = click.get_current_context()
        option = next(one for one in context.command.params if one.name == "target")
        raise click.MissingParameter(ctx=context, param=option)
    return refused.target


def _count(seen: Counter[str], judged: Judged) -> None:
    seen["documents"] += 1
    seen["refused"] += judged.is_refused
    seen["unreadable"] += bool(judged.error)
    seen["unknown"] += judged.is_unknown
    to_repair = judged.is_refused or judged.is_broken
    seen["to_repair"] += to_repair
    seen["sessions"] += to_repair and judged.is_session


def _print_records(found: Iterator[Judged]) -> Counter[str]:
    """One JSON object for each document, as soon as it is judged."""
    seen: Counter[str] = Counter()
    for judged in found:
        _count(seen, judged)
        record: dict[str, Any] = {"file": judged.file, "line": judged.line or None}
        if judged.error:
            record["error"] = judged.error
        else:
            record |= {"formats": judged.formats, "verdicts": judged.verdicts}
            if judged.is_broken:
                record["broken"] = True
        click.echo(msgspec.json.encode(record))
    return seen


def _show_each(found: Iterator[Judged]) -> Counter[str]:
    """Every document that is refused; a document that is a whole file in any case."""
    console = open_console()
    seen: Counter[str] = Counter()
    for judged in found:
        _count(seen, judged)
        if judged.error:
            complain(str(UnusableFile(judged.place, judged.error)))
        elif judged.is_refused or judged.is_unknown or not judged.line:
            if seen["shown"]:
                console.print()
            seen["shown"] += 1
            _show(judged)
    if seen["documents"] > 1:
        if seen["shown"]:
            console.print()
        say(console, _summary(seen), style="bold", indent="")
    return seen


def _show(judged: Judged) -> None:
    console = open_console()
    (verdict,) = judged.verdicts
    who = f"{verdict.target.partition(':')[0]}" + (f" ({verdict.model})" if verdict.model else "")
    how = {
        "as it is": f"judged as it is, for {who}",
        "as sent": f"session of {judged.read_as}, judged as it is sent next, to {who}",
        "as rendered": f"read as {judged.read_as}, judged as it would be sent to {who}",
        "not judged": f"read as {judged.read_as}, not judged for {who}",
    }
    say(console, f"{judged.place}: {how[verdict.judged]}", style="bold", indent="")
    if verdict.changes:
        console.print()
        show_findings(console, verdict.changes)
    show_violations(console, verdict.violations)
    console.print()
    for note in verdict.notes:
        say(console, note)
    if verdict.violations:
        told = f"{counted(len(verdict.violations), 'violation')}: this would be refused."
        say(console, told, style="bold red")
    elif not judged.is_unknown:
        changed = f" after {counted(len(verdict.changes), 'change')}" if verdict.changes else ""
        say(console, f"Nothing to refuse{changed}.", style="green")
        if judged.is_broken:
            agent = judged.formats[0]
            broken = f"The session is broken: {agent} goes on without these changes."
            say(console, broken, style="bold red")


def _show_matrix(found: Iterator[Judged]) -> Counter[str]:
    """A row for each provider, over all documents. Only sums are kept."""
    console = open_console(widest=120)
    seen: Counter[str] = Counter()
    rows: dict[str, _Row] = {}
    title = ""
    for judged in found:
        _count(seen, judged)
        if judged.error:
            complain(str(UnusableFile(judged.place, judged.error)))
            continue
        title = f"{judged.place}, read as {judged.read_as}"
        for verdict in judged.verdicts:
            rows.setdefault(verdict.target, _Row(verdict.format)).take_in(verdict)
    if not rows:
        return seen
    say(console, _summary(seen) if seen["documents"] > 1 else title, style="bold", indent="")
    console.print()
    table = simple_table("provider", "format", "judged", "changes", "verdict", "codes")
    table.columns[3].justify = "right"
    for name, row in rows.items():
        table.add_row(name, *row.cells())
    show_table(console, table, is_wide=True)
    return seen


class _Row:
    """What one provider says, summed up over documents."""

    def __init__(self, format: str) -> None:
        self._format = format
        self._documents = self._refused = self._unknown = self._changes = 0
        self._ways: set[str] = set()
        self._codes: Counter[str] = Counter()

    def take_in(self, verdict: Verdict) -> None:
        self._documents += 1
        self._refused += bool(verdict.violations)
        self._unknown += verdict.judged == "not judged"
        self._changes += len(verdict.changes)
        self._ways.add(verdict.judged)
        self._codes.update(one.code for one in verdict.violations)

    def cells(self) -> tuple[str | Text, ...]:
        told, style = ("refused", "bold red") if self._refused else ("accepted", "green")
        if self._refused and self._documents > 1:
            told = f"{self._refused:,} refused"
        elif self._unknown == self._documents:
            told, style = "not known", "yellow"
        verdict = Text(told, style=style)
        codes = (f"{count:,} {code}" if count > 1 else code for code, count in self._codes.items())
        ways = ", ".join(sorted(self._ways))
        return self._format, ways, f"{self._changes:,}", verdict, "\n".join(codes)


def _summary(seen: Counter[str]) -> str:
    others = (("unreadable", "unreadable"), ("unknown", "not judged"))
    rest = "".join(f", {seen[key]:,} {told}" for key, told in others if seen[key])
    return f"{counted(seen['documents'], 'document')}: {seen['refused']:,} refused{rest}."
