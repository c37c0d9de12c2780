"""The work of `canonicall convert`: one document, or a chunk of lines, as bodies for a target.

In: bytes. Out: bytes, what was found, and the lines that could not be converted. No files and no
terminal: a worker process does the same as the process that was started.
"""

from base64 import b64encode
from collections import Counter
from collections.abc import Iterable

import msgspec
from msgspec import Struct

from canonicall.cli.judging import Subject
from canonicall.errors import CanonicallError
from canonicall.facts.profile import Profile
from canonicall.facts.registry import get_target
from canonicall.findings import Finding
from canonicall.importing.pieces import Piece
from canonicall.verify import verify

_MOST_RENAMED = 1000


class Aim(Struct, frozen=True):
    """What every document is made into."""

    target: str
    """The name of a target."""
    format: str
    """The format of the input, or "auto"."""
    is_strict: bool = False
    """The first document that cannot be converted ends the work."""
    is_reported: bool = False
    """Every finding is written down."""
    profiles: tuple[Profile, ...] = ()
    """Providers that were made known by hand; another process does not know them."""


class Converted(Struct, frozen=True):
    """One document for its target."""

    data: bytes
    findings: tuple[Finding, ...] = ()
    refused: tuple[Finding, ...] = ()
    """What the provider would still refuse."""
    foreign_model: str = ""
    """The model that another provider's body named, and that is still in it."""
    renamed_tools: dict[str, str] = {}
    """The names of tools that the target does not take, and those they have now."""


class Rejected(Struct, frozen=True):
    """A line that could not be converted."""

    line: int
    why: str
    data: bytes

    @property
    def record(self) -> bytes:
        """It as a line of JSON. Text that is not UTF-8 keeps its bytes in base64."""
        given: dict[str, object] = {"line": self.line, "why": self.why}
        try:
            given["text"] = self.data.decode().rstrip("\r\n")
        except UnicodeDecodeError:
            given["base64"] = b64encode(self.data).decode()
        return msgspec.json.encode(given) + b"\n"


class Tally(Struct):
    """What became of many documents."""

    documents: int = 0
    rejected: int = 0
    refused: int = 0
    foreign_models: int = 0
    codes: dict[str, int] = {}
    renamed_tools: dict[str, str] = {}
    """Names that were changed, up to a limit, and the first that each was changed to."""

    def add(self, other: "Tally") -> None:
        self.documents += other.documents
        self.rejected += other.rejected
        self.refused += other.refused
        self.foreign_models += other.foreign_models
        self.codes = dict(Counter(self.codes) + Counter(other.codes))
        self._rename(other.renamed_tools)

    def count(self, done: Converted) -> None:
        self.documents += 1
        self.refused += bool(done.refused)
        self.foreign_models += bool(done.foreign_model)
        found = Counter(one.code for one in (*done.findings, *done.refused))
        self.codes = dict(Counter(self.codes) + found)
        self._rename(done.renamed_tools)

    def _rename(self, names: dict[str, str]) -> None:
        for own, wire in names.items():
            if len(self.renamed_tools) < _MOST_RENAMED:
                self.renamed_tools.setdefault(own, wire)


class Chunk(Struct, frozen=True):
    """Some lines of a file, and where the file goes on behind them."""

    pieces: tuple[Piece, ...]
    line: int
    """The number of the last line."""
    offset: int
    """How many bytes of the file are read then."""


class Done(Struct, frozen=True):
    """A chunk that was converted."""

    output: bytes
    report: bytes
    rejected: tuple[Rejected, ...]
    tally: Tally
    line: int
    offset: int


def converted(data: bytes, aim: Aim, *, in_one_line: bool) -> Converted:
    """The document for its target. What is accepted as it is stays as it is, to the byte."""
    subject = Subject(data, aim.format)
    target = get_target(aim.target)
    is_own = subject.is_own(target)
    if subject.body is not None and is_own:
        model = subject.body.body.get("model")
        named = f"{aim.target}:{model}" if model and target.provider else ""
        if named and not target.model and isinstance(model, str):
            target = get_target(named)
        if target.model in ("", model) and not subject.violations(target):
            return Converted(data.rstrip(b"\r\n") + b"\n")
    encoded = subject.encoded_for(target)
    written = encoded.data
    left = "" if is_own or target.model else str(encoded.body.get("model") or "")
    return Converted(
        (written if in_one_line else msgspec.json.format(written, indent=2)) + b"\n",
        (*subject.reading_findings, *encoded.report),
        verify(encoded.body, target).findings,
        left,
        {own: wire for wire, own in encoded.transcript.names.items()},
    )


def convert_chunk(chunk: Chunk, aim: Aim) -> Done:
    """Every line of a chunk, in order."""
    output: list[bytes] = []
    report: list[bytes] = []
    rejected: list[Rejected] = []
    tally = Tally()
    for piece in chunk.pieces:
        try:
            done = converted(piece.data, aim, in_one_line=True)
        except CanonicallError as error:
            rejected.append(Rejected(piece.line, str(error), piece.data))
            tally.rejected += 1
            if aim.is_strict:
                break
            continue
        output.append(done.data)
        tally.count(done)
        if aim.is_reported:
            report += report_lines(piece.line, (*done.findings, *done.refused))
    written = b"".join(output)
    return Done(written, b"".join(report), tuple(rejected), tally, chunk.line, chunk.offset)


def report_lines(line: int, findings: Iterable[Finding]) -> list[bytes]:
    """Each finding as a line of JSON, with the line of its document (null: the whole file)."""
    return [
        msgspec.json.encode({"line": line or None, **msgspec.structs.asdict(one)}) + b"\n"
        for one in findings
    ]
