"""Judge a finished request body by its provider's rules and a stream by the grammar of its format,
and explain what a provider answered.

Nothing here is shared with what renders and encodes: two readings of the same rules, which have to
agree. The parts are loaded when they are first used.
"""

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from canonicall.facts.target import Target
    from canonicall.findings import Report
    from canonicall.verify.explainer import Explained, Explanation, explain
    from canonicall.verify.streams.checker import StreamChecker, verify_stream
    from canonicall.verify.violation import Violation

_HOME = {
    "Explained": "canonicall.verify.explainer",
    "Explanation": "canonicall.verify.explainer",
    "StreamChecker": "canonicall.verify.streams.checker",
    "Violation": "canonicall.verify.violation",
    "explain": "canonicall.verify.explainer",
    "verify_stream": "canonicall.verify.streams.checker",
}

__all__ = [
    "Explained",
    "Explanation",
    "StreamChecker",
    "Violation",
    "explain",
    "verify",
    "verify_stream",
]


def verify(body: "dict[str, Any] | bytes | str", target: "str | Target") -> "Report":
    """What a provider would refuse in this body; nothing if it would accept it.

    A name asks the service as it is known to be: the model that the body names counts, and where
    the provider speaks several formats, the one the body is in. If neither names a model, a rule
    that only some models have is not applied, and `Report.notes` says so. A `Target` is taken at
    its word: its rules are those that are rendered by, and for some services they are narrower.
    """
    judge = import_module("canonicall.verify.judge")
    report: Report
    if isinstance(target, str):
        report = _by_name(judge.readable(body), target)
    else:
        report = judge.verify(body, target)
    return report


def _by_name(body: "dict[str, Any] | bytes | str", name: str) -> "Report":
    judge = import_module("canonicall.verify.judge")
    bodies = import_module("canonicall.facts.bodies")
    report: Report
    if api := bodies.api_without_rules(body, name):
        report = judge.unjudged(api)
        return report
    target = bodies.target_for(body, name)
    report = judge.verify(body, target.as_served)
    if not target.model:
        report = judge.agreed(report, body, bodies.targets_of_models(target))
    return report


def __getattr__(name: str) -> "Any":
    if name not in _HOME:
        raise AttributeError(f"module 'canonicall.verify' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
