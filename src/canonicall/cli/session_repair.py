"""`canonicall fix --in-place --write-session`: a coding agent's session, repaired in place."""

import click
import msgspec
from msgspec import Struct

from canonicall.cli.files import (
    UnusableFile,
    back_up,
    is_same_file,
    read_bytes,
    reading,
    writing,
)
from canonicall.cli.overview import FOUND, OK
from canonicall.cli.page import open_console, say, show_findings, show_violations
from canonicall.codec import encode_request
from canonicall.errors import CanonicallError
from canonicall.facts.registry import get_target
from canonicall.findings import Finding
from canonicall.importing.documents import kind_of
from canonicall.importing.kinds import DocumentKind, WrittenBack
from canonicall.importing.pieces import pieces
from canonicall.request import Request
from canonicall.verify import verify


class Session(Struct, frozen=True):
    """A session file that was found to be one."""

    file: str
    data: bytes
    kind: DocumentKind


def session_in(file: str, format: str) -> Session | None:
    """The session that a file holds; None where it holds something else."""
    with reading(file) as lines:
        first = next(pieces(lines, format))
    if first.line:
        return None
    kind = kind_of(first.data, format)
    return Session(file, first.data, kind) if kind.is_session else None


def keep_session(file: str, output: str, format: str) -> None:
    """Refuse to write something else in the place of a session."""
    if is_same_file(file, output) and (session := session_in(file, format)) is not None:
        what = f"this is a session of {session.kind.name}, and nothing else must take its place."
        raise UnusableFile(file, f"{what} Name another file with -o.")


def repair_session(session: Session, target: str, *, is_wanted: bool, as_json: bool) -> int:
    """Write the session with what it lacks, keep the old one, and say what was done."""
    if not is_wanted:
        what = (
            f"this is a session of {session.kind.name}, and a body must not take its place. Add"
            " --write-session to repair the session itself, or name another file with -o."
        )
        raise UnusableFile(session.file, what)
    done, request = _written_back(session)
    encoded = encode_request(request, target)
    remaining = verify(encoded.body, get_target(target)).findings
    backup = _replaced(session, done.data) if done.data != session.data else ""
    if as_json:
        record = {
            "file": session.file,
            "line": None,
            "target": target,
            "changed": bool(backup),
            "findings": done.findings,
            "remaining": remaining,
            "backup": backup or None,
        }
        click.echo(msgspec.json.encode(record), err=True)
    else:
        _tell(session.file, done, remaining, backup)
    return FOUND if remaining else OK


def _written_back(session: Session) -> tuple[WrittenBack, Request]:
    """The session in its own form, repaired, and what it says then."""
    kind = session.kind
    if kind.write_back is None:
        what = f"sessions of {kind.name} are not repaired in place: it closes open calls itself."
        raise UnusableFile(session.file, what)
    try:
        done = kind.write_back(session.data)
        request = kind.read(done.data).request
    except CanonicallError as error:
        raise UnusableFile(session.file, error) from None
    still_open = request.conversation.ledger.open
    if still_open:
        what = (
            f"calls would still have no result ({len(still_open)}): a file of this form cannot be"
            " repaired in place. Write a body to another file with -o."
        )
        raise UnusableFile(session.file, what)
    return done, request


def _replaced(session: Session, data: bytes) -> str:
    """Replace the file; where it is kept as it was."""
    if read_bytes(session.file) != session.data:
        what = "it has been written to meanwhile: end the agent's session first."
        raise UnusableFile(session.file, what)
    backup = back_up(session.file)
    with writing(session.file) as out:
        out.write(data)
    return backup


def _tell(file: str, done: WrittenBack, remaining: tuple[Finding, ...], backup: str) -> None:
    console = open_console(stderr=True)
    if not backup:
        say(console, f"{file}: nothing to repair.", style="green", indent="")
    show_findings(console, done.findings)
    if backup:
        say(console, f"The session as it was: {backup}", indent="")
    if remaining:
        say(console, "This would still be refused:", style="bold red")
        show_violations(console, remaining)
