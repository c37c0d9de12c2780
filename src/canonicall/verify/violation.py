"""A violation: a finding about a body that its provider, or a stream that clients would refuse."""

from canonicall.findings import Action, Fault, Finding
from canonicall.verify.codes import CODES
from canonicall.verify.streams.codes import STREAM_CODES

_KNOWN = CODES | STREAM_CODES


class Violation(Finding, frozen=True, kw_only=True):
    """One rule broken, in the provider's words and in ours."""

    action: Action = Action.REFUSED
    fault: Fault = Fault.RENDER
    error: str = ""
    """What the provider answers; empty where it has no words of its own for it."""
    repair: str = ""
    """What to do, in one sentence."""
    source: str = ""
    """Where the rule is written or was seen."""


def refuse(code: str, where: str, error: str = "", *, source: str, why: str = "") -> Violation:
    """The violation `code` at `where`, with the meaning and the repair of its table."""
    known = _KNOWN[code]
    return Violation(
        code=code,
        where=where,
        why=why or known.why,
        fault=known.fault,
        error=error,
        repair=known.repair,
        source=source,
    )
