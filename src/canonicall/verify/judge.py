"""`verify`: a request body in, everything its provider would refuse out."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

import msgspec
from msgspec.structs import replace

from canonicall.errors import UnknownName
from canonicall.facts.target import Target
from canonicall.findings import Report
from canonicall.verify.anthropic import violations as anthropic
from canonicall.verify.bedrock import violations as bedrock
from canonicall.verify.cohere import violations as cohere
from canonicall.verify.gemini import violations as gemini
from canonicall.verify.kinds import wrong_kinds
from canonicall.verify.node import Node, WrongKind
from canonicall.verify.ollama import violations as ollama
from canonicall.verify.openai_chat import violations as openai_chat
from canonicall.verify.openai_responses import violations as openai_responses
from canonicall.verify.stored_state import limits_of_report
from canonicall.verify.violation import Violation, refuse

FORMATS: dict[str, Callable[[dict[str, Any], Target], Iterator[Violation]]] = {
    "anthropic": anthropic,
    "bedrock": bedrock,
    "cohere": cohere,
    "gemini": gemini,
    "ollama": ollama,
    "openai-chat": openai_chat,
    "openai-responses": openai_responses,
}


Body: TypeAlias = dict[str, Any] | bytes | str
_UNREADABLE = (msgspec.DecodeError, UnicodeError, RecursionError)


def verify(body: Body, target: Target) -> Report:
    """What breaks the rules of the target in `body`; empty where nothing does.

    A body that cannot be read is a violation as well (`malformed_body`), never an exception. A
    request that continues what the provider keeps is judged by what is in it, and a note says so. A
    target of an unknown format raises `UnknownName`.
    """
    if target.format not in FORMATS:
        raise UnknownName("format", target.format, FORMATS)
    parsed = readable(body)
    if not isinstance(parsed, dict):
        return Report(tuple(_judged(body, target)))
    said = limits_of_report(Node(parsed), target.format)
    return Report(tuple(_judged(parsed, target)), (said,) if said else ())


NO_MODEL = "No model is named: a rule that only some of the provider's models have is not applied."


def agreed(report: Report, body: Body, models: Iterable[Target]) -> Report:
    """What is left of a report on a body without a model: what each of the models refuses."""
    kept, notes = report.findings, report.notes
    judged: set[Target] = set()
    for target in models:
        notes = (*report.notes, NO_MODEL)
        if not kept:
            break
        rules = replace(target.as_served, model="")
        if rules in judged:
            continue  # Models that differ in name only refuse the same.
        judged.add(rules)
        same = {(one.code, one.where) for one in verify(body, rules)}
        kept = tuple(one for one in kept if (one.code, one.where) in same)
    return Report(kept, notes)


def unjudged(api: str) -> Report:
    """The report on a body for an API without rules here."""
    return Report(notes=(f"Not judged: this is a body for {api}, whose rules are not known here.",))


def readable(body: Body) -> Any:
    """The value in a JSON text; a text that is none stays, for `verify` to say so."""
    try:
        return _parsed(body)
    except _UNREADABLE:
        return body


def _judged(body: Body, target: Target) -> Iterator[Violation]:
    try:
        parsed = _parsed(body)
    except _UNREADABLE as error:
        yield _malformed("$", f"not JSON: {error}")
        return
    try:
        wrong, rest = wrong_kinds(Node.of(parsed, "$").fields, target.format)
        yield from wrong
        places = {one.where for one in wrong}
        for violation in FORMATS[target.format](rest, target):
            if violation.code not in target.unenforced and violation.where not in places:
                yield violation
    except WrongKind as wrong:
        yield _malformed(wrong.where, wrong.what)


def _parsed(body: Body) -> Any:
    return msgspec.json.decode(body) if isinstance(body, bytes | bytearray | str) else body


def _malformed(where: str, what: str) -> Violation:
    return refuse("malformed_body", where, source="the type the format documents", why=what + ".")
