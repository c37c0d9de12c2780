"""One request for a reply, as the gateway sees it: who asks whom for what, and what was noticed."""

from typing import Any

from msgspec import Struct, field

from canonicall.client.failure import Failure
from canonicall.findings import Action, Finding
from canonicall.gateway.exchange import HttpRequest
from canonicall.gateway.fronts.front import Asked, Front
from canonicall.reply import Usage
from canonicall.runtime.model import Notice
from canonicall.target import Target

STRICT = "x-canonicall-strict"
_NO = ("", "0", "false", "no", "off")


class Turn(Struct, kw_only=True):
    """What is known from the start, and what became known on the way."""

    id: str
    front: Front
    asked: Asked
    http: HttpRequest
    body: dict[str, Any]
    data: bytes
    """The body as it is forwarded."""
    model: str
    """As the client names it."""
    streams: bool
    chain: tuple[Target, ...]
    session: str
    key: str = ""
    """The name of the virtual key it came with."""
    strict: bool = False

    target: Target | None = None
    """Who answered, or was asked last."""
    is_forwarded: bool = False
    is_complete: bool = True
    attempts: int = 0
    on_body: list[Finding] = field(default_factory=list)
    """What had to be mended before the body could be read."""
    on_request: list[Finding] = field(default_factory=list)
    on_reply: list[Finding] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    ids: dict[str, str] = field(default_factory=dict)
    """Canonical call ids, and what they are on the wire to the target."""
    usage: Usage | None = None
    upstream_seconds: float = 0.0
    first_byte_seconds: float = 0.0

    @property
    def findings(self) -> tuple[Finding, ...]:
        return (*self.on_body, *self.on_request, *self.on_reply)

    def report(self) -> dict[str, Any]:
        """All of it, for people and machines."""
        return {
            "id": self.id,
            "key": self.key,
            "front": self.front.format,
            "model": self.model,
            "target": target_name(self.target),
            "forwarded": self.is_forwarded,
            "complete": self.is_complete,
            "attempts": self.attempts,
            "request": [told(one) for one in (*self.on_body, *self.on_request)],
            "response": [told(one) for one in self.on_reply],
            "ids": self.ids,
            "notices": [{"kind": one.kind, "detail": one.detail} for one in self.notices],
            "failures": [{"kind": one.kind, "message": one.message} for one in self.failures],
        }

    def headers(self) -> dict[str, str]:
        """What every response says of it."""
        named = {"x-canonicall-request-id": self.id}
        if self.target is not None:
            named["x-canonicall-target"] = _ascii(target_name(self.target))
        summary = summary_of(self.findings)
        named["x-canonicall-changes"] = summary or "none"
        if self.is_forwarded:
            named["x-canonicall-forwarded"] = "true"
        return named


def wants_strict(request: HttpRequest) -> bool:
    """Whether a request asks to be refused rather than repaired."""
    return request.headers.get(STRICT, "").strip().lower() not in _NO


def target_name(target: Target | None) -> str:
    """A target as it is written."""
    return "" if target is None else f"{target.provider}:{target.model}"


def told(finding: Finding) -> dict[str, str]:
    """A finding as JSON."""
    return {
        "code": finding.code,
        "where": finding.where,
        "action": str(finding.action),
        "why": finding.why,
        "fault": str(finding.fault),
        "came": finding.came,
        "went": finding.went,
        "rule": finding.rule,
    }


def summary_of(findings: tuple[Finding, ...]) -> str:
    """Codes and how often, for a header: `orphan_result=1, thinking_dropped=2`."""
    counts: dict[str, int] = {}
    for one in findings:
        if one.action is not Action.KEPT:
            counts[one.code] = counts.get(one.code, 0) + 1
    return ", ".join(f"{code}={count}" for code, count in counts.items())


def _ascii(text: str) -> str:
    return text.encode("ascii", "replace").decode("ascii").replace("\n", " ").replace("\r", " ")
