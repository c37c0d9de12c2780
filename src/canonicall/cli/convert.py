"""`canonicall convert`: transcripts of any format in, bodies for one provider or format out.

A file with one document a line may be of any length: it is read, converted and written in chunks,
on all cores, and the lines keep their order. What cannot be converted is set aside.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, nullcontext
from hashlib import sha256
from itertools import chain, combinations
from pathlib import Path
from typing import Any, BinaryIO

import click
import msgspec
from msgspec import Struct

from canonicall.cli.arguments import (
    INPUT,
    TargetName,
    from_option,
    json_option,
    output_option,
    profile_option,
)
from canonicall.cli.chunks import CountedLines, all_done, chunks, usable_cores
from canonicall.cli.convert_progress import Progress
from canonicall.cli.convert_summary import summary_record, tell_rejected, tell_summary
from canonicall.cli.converting import Aim, Chunk, Converted, Done, Tally, converted, report_lines
from canonicall.cli.files import STANDARD, UnusableFile, is_same_file, reading, shown, writing
from canonicall.cli.overview import FOUND, OK
from canonicall.cli.page import open_console, say
from canonicall.cli.resuming import Mark, PartFile, ResumableFiles
from canonicall.cli.session_repair import keep_session
from canonicall.cli.version import versions
from canonicall.errors import CanonicallError
from canonicall.facts.registry import registered_profiles
from canonicall.importing.pieces import Piece, pieces

_FILE = click.Path(dir_okay=False, writable=True)


@click.command()
@click.argument("file", type=INPUT)
@click.option(
    "--to",
    "target",
    required=True,
    type=TargetName(lists_formats=True),
    metavar="FORMAT|PROVIDER[:MODEL]",
    help="A provider, or a wire format, which means the provider that defines it.",
)
@from_option
@profile_option
@output_option
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many processes work on a long file; as many as there are cores if not given.",
)
@click.option("--strict", is_flag=True, help="Stop at the first line that cannot be converted.")
@click.option(
    "--rejected",
    type=_FILE,
    metavar="FILE",
    help="Where lines go that cannot be converted; OUT.rejected.jsonl if not given.",
)
@click.option("--report", type=_FILE, metavar="FILE", help="Write every finding as a line of JSON.")
@click.option("--resume", is_flag=True, help="Go on where a run to the same OUT was ended.")
@json_option
def convert(**options: Any) -> int:
    """Convert transcripts to the format of another provider.

    FILE is a request body of any format, a list of messages, a stored conversation, the session of
    a coding agent, or a file of any length with one body a line; - is standard input. Requests are
    converted; a response is not a transcript, and is rejected as such. Lines that cannot be
    converted are set aside with their number and the reason.

    OUT appears when all of it is written. Until then it is OUT.part, and a run that was ended goes
    on with --resume, to the same bytes.

    \b
    Examples:
      canonicall convert request.json --to gemini
      canonicall convert log.jsonl --to anthropic:claude-opus-4-6 -o out.jsonl
      canonicall convert log.jsonl --to openai-responses -o out.jsonl --resume

    Ends with 3 if lines were set aside, or a provider would refuse something.
    """
    wanted = Wanted(**options)
    job = Conversion(wanted)
    tally = job.run()
    job.sum_up(tally)
    return FOUND if tally.rejected or tally.refused else OK


class Wanted(Struct, frozen=True, kw_only=True):
    """What the command line asks for."""

    file: str
    target: str
    format: str
    output: str
    jobs: int | None
    strict: bool
    rejected: str | None
    report: str | None
    resume: bool
    as_json: bool

    @property
    def makes_file(self) -> bool:
        """The output is a file that can be replaced, no pipe or device."""
        place = Path(self.output)
        return self.output != STANDARD and (place.is_file() or not place.exists())

    @property
    def is_resumable(self) -> bool:
        return self.makes_file and self.file != STANDARD and Path(self.file).is_file()

    @property
    def rejected_file(self) -> str:
        """Where lines go that cannot be converted; "" for nowhere."""
        return self.rejected or (f"{self.output}.rejected.jsonl" if self.makes_file else "")

    def forbid_one_file_for_two(self) -> None:
        """What is written must not replace what is read, nor what else is written."""
        given = {
            "FILE": self.file,
            "--output": self.output,
            "--rejected": self.rejected_file,
            "--report": self.report or "",
        }
        for (one, name), (other, again) in combinations(given.items(), 2):
            is_in_place = (one, other) == ("FILE", "--output")
            if name and again and not is_in_place and is_same_file(name, again):
                raise click.UsageError(f"{one} and {other} are the same file, {again}.")


class Conversion:
    """The conversion of one file."""

    def __init__(self, wanted: Wanted) -> None:
        if wanted.resume and not wanted.is_resumable:
            raise click.UsageError("--resume needs a FILE that is not '-', and an --output file.")
        wanted.forbid_one_file_for_two()
        self._wanted = wanted
        self._aim = Aim(
            wanted.target,
            wanted.format,
            wanted.strict,
            wanted.report is not None,
            registered_profiles(),
        )
        self._console = open_console(stderr=True)

    def run(self) -> Tally:
        """Convert everything that is in the file."""
        with reading(self._wanted.file) as file:
            files = self._files(file)
            if self._wanted.resume:
                files.resume(shown(self._wanted.file))
            if files.mark.line:
                return self._run_lines(file, files)
            lines = CountedLines(file)
            found = pieces(lines, self._aim.format)
            first = next(found)
            if not first.line:
                return self._run_document(first)
            return self._run_bulk(chunks(chain((first,), found), lines), files)

    def sum_up(self, tally: Tally) -> None:
        """What was done, on standard error."""
        aside = self._wanted.rejected_file if tally.rejected else ""
        names = {
            "file": shown(self._wanted.file),
            "output": self._wanted.output,
            "target": self._aim.target,
            "rejected_file": aside or None,
            "report": self._wanted.report,
        }
        if self._wanted.as_json:
            click.echo(msgspec.json.encode(summary_record(tally, names)), err=True)
        else:
            tell_summary(self._console, tally, names)

    def _files(self, file: BinaryIO) -> ResumableFiles:
        """The files to write, none of which is opened yet."""
        files: dict[str, PartFile] = {}
        if self._wanted.makes_file:
            files["output"] = PartFile(self._wanted.output)
        if self._wanted.rejected_file:
            files["rejected"] = PartFile(
                self._wanted.rejected_file, is_kept_empty=self._wanted.rejected is not None
            )
        if self._wanted.report:
            files["report"] = PartFile(self._wanted.report)
        state = self._wanted.output if self._wanted.is_resumable else ""
        return ResumableFiles(files, state, self._settings(file) if state else {})

    def _settings(self, file: BinaryIO) -> dict[str, object]:
        """What must not change between a run and the one that goes on with it."""
        known = os.fstat(file.fileno())
        return {
            "size of the input": known.st_size,
            "time of the input": known.st_mtime_ns,
            "--to": self._aim.target,
            "--from": self._aim.format,
            "--profile": sha256(msgspec.json.encode(self._aim.profiles)).hexdigest(),
            "--rejected": self._wanted.rejected_file,
            "--report": self._wanted.report or "",
            "version of canonicall": versions()["canonicall"],
        }

    def _run_lines(self, file: BinaryIO, files: ResumableFiles) -> Tally:
        """Go on behind the lines that are done."""
        mark = files.mark
        file.seek(mark.offset)
        lines = CountedLines(file, line=mark.line, offset=mark.offset)
        if not self._wanted.as_json:
            say(self._console, f"Going on behind line {mark.line:,}.", indent="")
        return self._run_bulk(chunks(lines.pieces(), lines), files)

    def _run_bulk(self, work: Iterator[Chunk], files: ResumableFiles) -> Tally:
        try:
            with files:
                if not files.mark.is_finished:
                    self._convert_lines(work, files)
        except (KeyboardInterrupt, OSError, CanonicallError):
            if files.is_resumable and not self._wanted.as_json:
                safe = "The work so far is safe: run the same command with --resume to go on."
                say(self._console, safe, style="yellow", indent="")
            raise
        return files.mark.tally

    def _convert_lines(self, work: Iterator[Chunk], files: ResumableFiles) -> None:
        told = files.mark.tally.rejected
        converting = all_done(work, self._aim, self._wanted.jobs or usable_cores())
        # Closing it ends the worker processes.
        with closing(converting), self._stream() as out, self._progress(files.mark) as progress:
            for done in converting:
                if out is not None:
                    out.write(done.output)
                    out.flush()
                files.add(done)
                self._stop_if_strict(done)
                self._tell_rejected(done, told, progress)
                told += len(done.rejected)
                progress.advance(done.line, done.offset)

    def _stream(self) -> AbstractContextManager[BinaryIO | None]:
        """Standard output, a pipe or a device, which are written to as the work goes on."""
        if self._wanted.makes_file:
            return nullcontext()
        return writing(self._wanted.output)

    def _progress(self, mark: Mark) -> Progress:
        wanted = self._wanted
        is_page_free = wanted.output != STANDARD or not sys.stdout.isatty()
        size = Path(wanted.file).stat().st_size if wanted.file != STANDARD else None
        shows = is_page_free and not wanted.as_json
        return Progress(size, mark.line, mark.offset, shows=shows)

    def _stop_if_strict(self, done: Done) -> None:
        if self._aim.is_strict and done.rejected:
            bad = done.rejected[0]
            raise UnusableFile(f"{shown(self._wanted.file)}, line {bad.line}", bad.why)

    def _tell_rejected(self, done: Done, told: int, progress: Progress) -> None:
        if not self._wanted.as_json:
            console = progress.console or self._console
            tell_rejected(console, done.rejected, told, self._wanted.rejected_file)

    def _run_document(self, piece: Piece) -> Tally:
        """A file that is one document."""
        keep_session(self._wanted.file, self._wanted.output, self._aim.format)
        try:
            done = converted(piece.data, self._aim, in_one_line=False)
        except CanonicallError as error:
            raise UnusableFile(shown(self._wanted.file), error) from None
        with writing(self._wanted.output) as out, self._report_file() as report:
            out.write(done.data)
            if report is not None:
                report.writelines(report_lines(0, (*done.findings, *done.refused)))
        return _tally_of(done)

    def _report_file(self) -> AbstractContextManager[BinaryIO | None]:
        if self._wanted.report is None:
            return nullcontext()
        return writing(self._wanted.report)


def _tally_of(done: Converted) -> Tally:
    tally = Tally()
    tally.count(done)
    return tally
