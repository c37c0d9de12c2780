"""A request for a summary in place of a reply (`compaction`): what it cannot have is left out.

Docs "Compact on demand": nothing is said after the summary, so neither where to stop nor the form
of a reply nor a forced call means anything there, and the API refuses them. It cannot be combined
with summaries at a threshold (`context_management`) either.
"""

from typing import Any

from canonicall.findings import Finding
from canonicall.wire.losses import dropped

FIELD = "compaction"
_CHOICE, _OUTPUT = "tool_choice", "output_config"
_NEVER = ("context_management", "stop_sequences")
_WHY = "A request for a summary cannot have it."


def fit_compaction(body: dict[str, Any], findings: list[Finding]) -> dict[str, Any]:
    """`body`, which asks for a summary, without what the API refuses beside that."""
    lost = [name for name in _NEVER if name in body]
    if body.get(_CHOICE, {}).get("type") in ("any", "tool"):
        lost.append(_CHOICE)
    output = dict(body.get(_OUTPUT, {}))
    if output.pop("format", None) is not None:
        lost.append(_OUTPUT)
    findings += [dropped(f"params.{name}", _WHY) for name in lost]
    left = {name: field for name, field in body.items() if name not in lost}
    return left | ({_OUTPUT: output} if _OUTPUT in lost and output else {})
