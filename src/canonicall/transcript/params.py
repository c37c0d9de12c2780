"""The parameters of a request, as one target takes them.

In: a request. Out: the same request without the parameters that the target refuses, and a finding
for each of them.
"""

from msgspec.structs import replace

from canonicall.findings import Action, Fault, Finding
from canonicall.request import Params, Request
from canonicall.target import Target

_UNSET = Params()


def fitted_params(request: Request, target: Target) -> tuple[Request, list[Finding]]:
    """`request` with parameters that `target` takes."""
    refused = [
        name
        for name in target.refused_params
        if getattr(request.params, name, None) != getattr(_UNSET, name, None)
    ]
    if not refused:
        return request, []
    why = "This model refuses to be told it."
    findings = [
        Finding("param_dropped", f"params.{name}", Action.DROPPED, why, Fault.RENDER)
        for name in refused
    ]
    params = replace(request.params, **{name: getattr(_UNSET, name) for name in refused})
    return replace(request, params=params), findings
