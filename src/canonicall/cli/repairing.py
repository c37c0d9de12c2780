"""One document as a provider accepts it.

In: the bytes of a document and a target's name. Out: the bytes of a body, and what was done. What
the provider accepts as it is stays as it is, to the byte.
"""

import msgspec
from msgspec import Struct

from canonicall.cli.judging import Subject
from canonicall.findings import Finding
from canonicall.verify import verify


class Repaired(Struct, frozen=True):
    """A document after its repair."""

    data: bytes
    target: str
    is_changed: bool
    findings: tuple[Finding, ...] = ()
    """What was done to it."""
    remaining: tuple[Finding, ...] = ()
    """What the provider would still refuse."""
    foreign_model: str = ""
    """The model that another provider's body named, and that is still in it."""
    renamed_tools: dict[str, str] = {}
    """The names of tools that the provider does not take, and those they have now."""
    notes: tuple[str, ...] = ()
    """What is not known of it: what a request continues, for example."""


def repaired(data: bytes, format: str, name: str, *, in_one_line: bool) -> Repaired:
    """The document for the target of this name, as one line or for people to read."""
    subject = Subject(data, format)
    target = subject.target(name)
    is_own = subject.is_own(target)
    notes = subject.notes(target) if is_own else ()
    if is_own and not subject.violations(target):
        unended = in_one_line and not data.endswith(b"\n")
        return Repaired(data + b"\n" if unended else data, name, is_changed=False, notes=notes)
    encoded = subject.encoded_for(target)
    value: object = encoded.body
    if subject.body is not None and subject.body.is_list and len(encoded.body) == 1:
        # A bare list comes back as one, where nothing else has to be said.
        (value,) = encoded.body.values()
    written = msgspec.json.encode(value)
    return Repaired(
        (written if in_one_line else msgspec.json.format(written, indent=2)) + b"\n",
        name,
        is_changed=True,
        findings=(*subject.reading_findings, *encoded.report),
        remaining=verify(encoded.body, target).findings,
        foreign_model="" if is_own or target.model else str(encoded.body.get("model") or ""),
        renamed_tools={own: wire for wire, own in encoded.transcript.names.items()},
        notes=notes,
    )
