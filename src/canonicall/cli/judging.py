"""One document against one provider: as it is, or as it would be sent.

In: the bytes of a document and a target's name. Out: a `Verdict`. A body that can be in the
target's own format is judged as it is, and so is what a coding agent sends next, by its session
file. Anything else is rendered for the target first, and what had to be changed for that is part of
the verdict. A request that continues what another provider keeps cannot be rendered, so it is not
judged.
"""

from functools import cached_property
from typing import Literal

from msgspec import Struct

from canonicall.codec import Encoded, encode_request
from canonicall.coverage import refuse_unsent
from canonicall.errors import CanonicallError, StateElsewhere
from canonicall.facts.bodies import target_for
from canonicall.facts.registry import get_target
from canonicall.facts.target import Target
from canonicall.findings import Action, Finding
from canonicall.importing.documents import (
    BODY,
    Recognised,
    document_in,
    kind_of,
    read_document,
    without_mark,
)
from canonicall.importing.documents import recognise as recognise_body
from canonicall.importing.kinds import Document, DocumentKind, Sent
from canonicall.verify import verify


class Verdict(Struct, frozen=True):
    """What a provider would say."""

    target: str
    format: str
    model: str
    judged: Literal["as it is", "as sent", "as rendered", "not judged"]
    """as sent: what the agent of a session sends next. not judged: the target lacks what the
    request continues; the notes say so."""
    violations: tuple[Finding, ...]
    changes: tuple[Finding, ...] = ()
    """What rendering dropped, added, changed or moved."""
    notes: tuple[str, ...] = ()
    """What the verdict does not cover."""


class Subject:
    """One document, read at most once however many providers judge it."""

    def __init__(self, data: bytes, format: str) -> None:
        self.data = data
        self._format = format

    @property
    def formats(self) -> tuple[str, ...]:
        """The formats it can be; it is read as the first, or as a target's own that is in it."""
        return self.body.possible if self.body else (self.document.format,)

    @cached_property
    def _kind(self) -> DocumentKind:
        return kind_of(self.data, self._format)

    @cached_property
    def body(self) -> Recognised | None:
        """The request body, not decoded; None where the document is something else."""
        if self._kind is BODY:
            return recognise_body(self.data, self._format)
        return None

    @cached_property
    def document(self) -> Document:
        if self.body is not None:
            return document_in(self.body)
        return read_document(self.data, self._format)

    def target(self, name: str) -> Target:
        """The target. Where only the provider is named, a body in a format of its own says by its
        format and its model which of the provider's rules count."""
        if self.body is None:
            return get_target(name)
        target = target_for(self.body.body, name)
        return target if self.is_own(target) else get_target(name)

    def is_own(self, target: Target) -> bool:
        """Whether it is a body in the target's format already."""
        return self.body is not None and target.format in self.body.possible

    def document_for(self, target: Target) -> Document:
        """The document, read in the target's own format where it can be that."""
        if self.body is not None and self.is_own(target) and target.format != self.body.format:
            return read_document(self.data, target.format)
        return self.document

    def encoded_for(self, target: Target) -> Encoded:
        """The document as the target gets it; `MostlyUnread` where that is less than half of it."""
        request = self.document_for(target).request
        encoded = encode_request(request, target)
        refuse_unsent(request, encoded.report, encoded.target)
        return encoded

    @cached_property
    def sent(self) -> Sent | None:
        """What the coding agent sends next, where the document is a session of one."""
        return None if self.body is not None else self.document.sent

    @cached_property
    def is_broken(self) -> bool:
        """Whether it is a session that its agent cannot go on with."""
        return self.body is None and is_broken(self._kind, without_mark(self.data), self.document)

    @cached_property
    def can_be_written_back(self) -> bool:
        """Whether it is a session file that can be repaired in its own form."""
        return would_write_back(self._kind, without_mark(self.data))

    def verdict(self, name: str) -> Verdict:
        if self.sent is not None:
            target = target_for(self.sent.body, name)
            if target.format == self.sent.format:
                found = refused_of(self.sent, target)
                return Verdict(name, target.format, target.model, "as sent", found)
        target = self.target(name)
        who = (name, target.format, target.model)
        if self.body is not None and self.is_own(target):
            report = verify(self.body.body, name)
            found = (*self.body.findings, *report)
            return Verdict(*who, "as it is", found, notes=report.notes)
        try:
            encoded = self.encoded_for(target)
        except StateElsewhere as error:
            return Verdict(*who, "not judged", (), notes=(_sentence(error),))
        found = verify(encoded.body, target).findings
        told = changes((*self.reading_findings, *encoded.report))
        return Verdict(*who, "as rendered", found, told)

    def violations(self, target: Target) -> tuple[Finding, ...]:
        """What the service would refuse in the body as it stands; nothing where there is none."""
        if self.body is None:
            return ()
        return (*self.body.findings, *verify(self.body.body, target.as_served))

    def notes(self, target: Target) -> tuple[str, ...]:
        """What is not known of the body as it is: what a request continues, for example."""
        return verify(self.body.body, target.as_served).notes if self.body is not None else ()

    @property
    def reading_findings(self) -> tuple[Finding, ...]:
        """What was found while reading that the report of the encoder does not repeat."""
        known = self.document.request.findings
        return tuple(one for one in self.document.findings if one not in known)


def _sentence(error: CanonicallError) -> str:
    text = str(error)
    return text[:1].upper() + text[1:]


def refused_of(sent: Sent, target: Target) -> tuple[Finding, ...]:
    """What the service would refuse in the history that an agent sends."""
    found = verify(sent.body, target.as_served)
    return tuple(one for one in found if one.where.startswith(sent.place))


def is_broken(session: DocumentKind, data: bytes, document: Document) -> bool:
    """Whether a session cannot go on as it is: its agent's own provider would refuse it.

    Of an agent that speaks several formats, nothing is known but what its repair would change.
    """
    if document.sent is not None:
        return bool(refused_of(document.sent, target_for(document.sent.body, document.sent.format)))
    return would_write_back(session, data)


def would_write_back(kind: DocumentKind, data: bytes) -> bool:
    """Whether the repair of a session file would change it."""
    return kind.write_back is not None and bool(kind.write_back(data).findings)


def changes(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """The findings that say that something is not as it was."""
    return tuple(one for one in findings if one.action is not Action.KEPT)
