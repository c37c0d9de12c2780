"""`canonicall fix`: a transcript in, the body that a provider accepts out.

The repaired body goes to standard output or to a file, what was changed to standard error. A file
with one document a line is repaired line by line; where one of them cannot be read, no file is
written.
"""

from typing import BinaryIO

import click
import msgspec

from canonicall.cli.arguments import (
    INPUT,
    TargetName,
    from_option,
    json_option,
    output_option,
    profile_option,
)
from canonicall.cli.files import STANDARD, UnusableFile, back_up, reading, shown, writing
from canonicall.cli.judging import changes
from canonicall.cli.overview import FOUND, OK
from canonicall.cli.page import Tally, counted, open_console, say, show_violations
from canonicall.cli.repairing import Repaired, repaired
from canonicall.cli.session_repair import keep_session, repair_session, session_in
from canonicall.errors import CanonicallError
from canonicall.importing.pieces import Piece, pieces


@click.command()
@click.argument("file", type=INPUT)
@click.option(
    "--as",
    "target",
    required=True,
    type=TargetName(),
    metavar="PROVIDER[:MODEL]",
    help="Who has to accept it.",
)
@from_option
@profile_option
@output_option
@click.option(
    "--in-place", is_flag=True, help="Write to FILE itself, and keep the old one as FILE.bak."
)
@click.option(
    "--write-session",
    is_flag=True,
    help="With --in-place, repair a coding agent's session file in its own format.",
)
@json_option
def fix(
    file: str,
    target: str,
    format: str,
    output: str,
    in_place: bool,
    write_session: bool,
    as_json: bool,
) -> int:
    """Repair a transcript, so that a provider accepts it.

    FILE is a request body of any format, a list of messages, a stored conversation, the session of
    a coding agent, or a file with one of these a line; - is standard input. What the provider
    accepts already stays as it is. What was changed is told on standard error, with --json as one
    JSON object a document.

    The session file of a coding agent is never replaced by a body. With --in-place --write-session
    it gets the results it lacks, in the agent's own form; every other byte stays as it is.

    \b
    Examples:
      canonicall fix request.json --as anthropic > repaired.json
      canonicall fix log.jsonl --as openai -o repaired.jsonl
      canonicall fix request.json --as mistral --in-place
      canonicall fix session.jsonl --as anthropic --in-place --write-session

    A request that continues what a provider keeps, by `previous_response_id` for example, is
    repaired by what is in it, and for that provider alone.

    Ends with 3 if the provider would still refuse something.
    """
    if in_place and (output != STANDARD or file == STANDARD):
        raise click.UsageError("--in-place needs a FILE that is not '-', and no --output.")
    if write_session and not in_place:
        raise click.UsageError("--write-session goes with --in-place.")
    if in_place and (session := session_in(file, format)) is not None:
        return repair_session(session, target, is_wanted=write_session, as_json=as_json)
    if write_session:
        raise click.UsageError(f"{file} is not the session of a coding agent.")
    keep_session(file, output, format)
    job = _Job(file, target, format, as_json=as_json)
    if in_place:
        with writing(file, wanted=job.back_up_if_changed) as out:
            job.run(out)
    else:
        with writing(output) as out:
            job.run(out)
    if not as_json:
        job.sum_up()
    return FOUND if job.remaining else OK


class _Job:
    """The repair of one file."""

    def __init__(self, file: str, target: str, format: str, *, as_json: bool) -> None:
        self._file = file
        self._target = target
        self._format = format
        self._as_json = as_json
        self._console = open_console(stderr=True)
        self._tally = Tally()
        self._documents = self._changed = self._changes = 0
        self._backup = self._foreign_model = ""
        self._notes: dict[str, None] = {}
        self.remaining = 0

    def run(self, out: BinaryIO) -> None:
        """Write every document, repaired. What is still wrong is told at once."""
        with reading(self._file) as lines:
            for piece in pieces(lines, self._format):
                done = self._repaired(piece)
                out.write(done.data)
                self._take_in(done, piece.line)
                if self._as_json:
                    self._print_record(done, piece.line)
                elif done.remaining:
                    told = f"{self._place(piece.line)}: this would still be refused"
                    say(self._console, told, style="bold red", indent="")
                    show_violations(self._console, done.remaining)
                    self._console.print()

    def back_up_if_changed(self) -> bool:
        """Whether the file is to be replaced; then its copy is there already."""
        if self._changed:
            self._backup = back_up(self._file)
        return bool(self._changed)

    def sum_up(self) -> None:
        """What was done, over all documents."""
        console, name = self._console, shown(self._file)
        if not self._changed:
            told = f"{name}: {self._target} accepts it as it is."
            say(console, told, style="green", indent="")
            self._tell_notes()
            return
        documents = counted(self._documents, "document")
        among = f", {self._changed:,} of {documents}" if self._documents > 1 else ""
        told = f"{name}: {counted(self._changes, 'change')} for {self._target}{among}"
        say(console, told, style="bold", indent="")
        self._tally.show(console)
        self._tell_notes()
        if self._foreign_model:
            note = (
                f"The model is still {self._foreign_model!r}: name one of {self._target}'s with"
                f" --as {self._target}:MODEL."
            )
            say(console, note, style="yellow")
        if self._backup:
            say(console, f"The file as it was: {self._backup}", indent="")

    def _tell_notes(self) -> None:
        for note in self._notes:
            say(self._console, note)

    def _take_in(self, done: Repaired, line: int) -> None:
        self._documents += 1
        self._changed += done.is_changed
        self._changes += len(changes(done.findings))
        self.remaining += bool(done.remaining)
        self._notes.update(dict.fromkeys(done.notes))
        self._foreign_model = self._foreign_model or done.foreign_model
        self._tally.add(done.findings, f"line {line}, " if line else "")

    def _repaired(self, piece: Piece) -> Repaired:
        in_one_line = piece.line > 0
        try:
            return repaired(piece.data, self._format, self._target, in_one_line=in_one_line)
        except CanonicallError as error:
            more = " `canonicall convert` sets such lines aside." if piece.line else ""
            raise UnusableFile(self._place(piece.line), f"{error}{more}") from None

    def _place(self, line: int) -> str:
        return f"{shown(self._file)}, line {line}" if line else shown(self._file)

    def _print_record(self, done: Repaired, line: int) -> None:
        record = {
            "file": shown(self._file),
            "line": line or None,
            "target": done.target,
            "changed": done.is_changed,
            "findings": done.findings,
            "remaining": done.remaining,
            "foreign_model": done.foreign_model or None,
            "renamed_tools": done.renamed_tools,
            "notes": done.notes,
        }
        click.echo(msgspec.json.encode(record), err=True)
