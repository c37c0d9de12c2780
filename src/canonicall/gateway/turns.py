"""One request for a reply, as the gateway sees it: who asks whom for what, and what was noticed."""

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any
from urllib.parse import quote

from msgspec import Struct, field, to_builtins
from msgspec.structs import replace

from canonicall.client.failure import Failure
from canonicall.client.notices import Saved
from canonicall.facts.target import Target
from canonicall.findings import Action, Finding
from canonicall.gateway.exchange import HttpRequest
from canonicall.gateway.fronts.front import Asked, Front
from canonicall.gateway.turn_tree import Storing
from canonicall.reply import Usage
from canonicall.runtime.model import Notice

STRICT = "x-canonicall-strict"
_NO = ("", "0", "false", "no", "off")
_LONGEST_LIST = 2000
"""Characters; servers and proxies refuse long headers."""


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
    is_operator: Callable[[], bool] = bool
    """Whether its client may know where upstreams are; asked where something failed."""
    strict: bool = False
    repeats: dict[str, Any] = field(default_factory=dict)
    """What the reply repeats of the request, as the client sent it."""
    storing: Storing | None = None
    """What is stored with the reply; None where nothing is."""
    is_delta: bool = False
    """Whether it refers to what only its provider has."""
    is_bound: bool = False
    """Whether it is in the middle of a turn: another target is asked only after the first one of
    the chain has failed for good."""

    target: Target | None = None
    """Who answered, or was asked last."""
    is_forwarded: bool = False
    is_complete: bool = True
    is_given: bool = False
    """Whether the client was sent the event that ends the reply."""
    attempts: int = 0
    on_body: list[Finding] = field(default_factory=list)
    """What had to be mended before the body could be read."""
    on_request: list[Finding] = field(default_factory=list)
    on_reply: list[Finding] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    ids: dict[str, str] = field(default_factory=dict)
    """Canonical call ids, and what they are on the wire to the target."""
    names: dict[str, str] = field(default_factory=dict)
    """Names of tools as they were sent, and the client's own, for those that differ."""
    usage: Usage | None = None
    is_estimated: bool = False
    """Whether `usage` is an estimate: the provider gave no figures."""
    reply: bytes = b""
    """A reply that was forwarded to its end, for the counters."""
    said: int = 0
    """Bytes of what the model said, for the estimate."""
    upstream_seconds: float = 0.0
    first_byte_seconds: float = 0.0

    @property
    def findings(self) -> tuple[Finding, ...]:
        return (*self.on_body, *self.on_request, *self.on_reply)

    @property
    def unsent(self) -> dict[str, Any]:
        """What the reply repeats of the request, and a provider that gets it whole does not see."""
        return {name: one for name, one in self.repeats.items() if name not in self.body}

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
            "tokens": shown_tokens(self.usage, is_estimated=self.is_estimated),
            "request": [told(one) for one in (*self.on_body, *self.on_request)],
            "response": [told(one) for one in self.on_reply],
            "ids": self.ids,
            "names": self.names,
            "notices": [
                {"kind": one.kind, "detail": one.detail}
                for one in self.notices
                # Files are for operators, who know the folder.
                if not isinstance(one, Saved)
            ],
            "failures": [_failure(one) for one in self.failures],
        }

    def headers(self) -> dict[str, str]:
        """What every response says of it."""
        named = first_headers(self.id, self.findings)
        if self.target is not None:
            named["x-canonicall-target"] = _ascii(target_name(self.target))
        if self.names:
            named["x-canonicall-renamed-tools"] = _renamed(self.names)
        if self.is_forwarded:
            named["x-canonicall-forwarded"] = "true"
        return named


def shown_tokens(usage: Usage | None, *, is_estimated: bool) -> dict[str, Any] | None:
    """Tokens as JSON; an estimate is marked as one."""
    if usage is None:
        return None
    shown: dict[str, Any] = to_builtins(replace(usage, native=None))
    return {**shown, "estimated": True} if is_estimated else shown


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


def first_headers(id: str, findings: Sequence[Finding]) -> dict[str, str]:
    """What every response says, also where no target was found."""
    return {
        "x-canonicall-request-id": id,
        "x-canonicall-changes": summary_of(findings) or "none",
    }


def summary_of(findings: Sequence[Finding]) -> str:
    """Codes and how often, for a header: `orphan_result=1, thinking_dropped=2`."""
    counts: dict[str, int] = {}
    for one in findings:
        if one.action is not Action.KEPT:
            counts[one.code] = counts.get(one.code, 0) + 1
    return ", ".join(f"{code}={count}" for code, count in counts.items())


def _failure(failure: Failure) -> dict[str, Any]:
    """A failure as JSON, with the diagnostics of the request where a provider answered it."""
    shown = {"kind": failure.kind, "message": failure.message}
    if failure.diagnostics is None:
        return shown
    return {**shown, "diagnostics": to_builtins(failure.diagnostics)}


def _renamed(names: dict[str, str]) -> str:
    """Tools for a header, each with the name it was sent under: `get.weather=get_weather_amDwMqzp`.

    Other characters than letters, digits, `_`, `.`, `-` and `~` are percent-encoded. The report
    has those that find no room.
    """
    shown = [f"{quote(own, safe='')}={quote(wire, safe='')}" for wire, own in names.items()]
    lengths = accumulate(len(one) + 2 for one in shown)
    fitting = sum(length <= _LONGEST_LIST for length in lengths)
    return ", ".join(shown[:fitting] if fitting == len(shown) else [*shown[:fitting], "..."])


def _ascii(text: str) -> str:
    return text.encode("ascii", "replace").decode("ascii").replace("\n", " ").replace("\r", " ")
