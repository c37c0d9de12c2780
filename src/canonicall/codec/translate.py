"""A body or a list of tools of one format as another target takes it: decoded, then encoded."""

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from canonicall.codec.coverage import refuse_unsent
from canonicall.codec.decode import Body, decode_request, decode_tools
from canonicall.codec.encode import Encoded, encode_request
from canonicall.conversation import Conversation
from canonicall.facts.names import TargetName
from canonicall.facts.registry import get_target
from canonicall.facts.target import Format, Target
from canonicall.findings import Finding
from canonicall.request import Request
from canonicall.transcript.policy import DEFAULT, Policy
from canonicall.wire.formats import get_format


def translate(
    body: Body,
    source: TargetName,
    target: TargetName | Target,
    *,
    policy: Policy = DEFAULT,
    provider: str = "",
) -> Encoded:
    """A request body of one format as the body another target accepts.

    `source` is the format of the body, or a provider that the body was written for. A body of which
    less than half would go out is a `MostlyUnread`.
    """
    request = decode_request(body, source, provider=provider)
    encoded = encode_request(request, target, policy=policy)
    refuse_unsent(request, encoded.report, encoded.target)
    return encoded


class Translated(Struct, frozen=True):
    """A list of tools for one target, and all that was done to get it."""

    tools: list[dict[str, Any]]
    names: dict[str, str]
    """Wire name to own name, for the names that differ."""
    findings: tuple[Finding, ...]


def translate_tools(
    tools: list[dict[str, Any]],
    source: Format | str,
    target: TargetName | Target,
    *,
    strict: bool | None = None,
    lossy: bool = True,
) -> Translated:
    """A provider's list of tools, in the format `source`, as `target` takes it.

    With `strict` every function is made strict, or none is. Without `lossy`, a schema that the
    target cannot say is an `UntranslatableSchema`.
    """
    goal = get_target(target)
    decoded, findings = decode_tools(tools, source)
    request = Request(Conversation(), decoded, findings=findings)
    if strict is not None:
        made = (replace(t, strict=strict) if t.kind == "function" else t for t in request.tools)
        request = replace(request, tools=tuple(made))
    policy = Policy(
        schemas="fit" if lossy else "refuse", strict_tools="made" if strict else "exact"
    )
    encoded = encode_request(request, goal, policy=policy)
    found: Any = encoded.body
    for field in get_format(goal.format).tools_at:
        found = found.get(field, {})
    # A request of nothing but tools gets what every request needs; that is not about them.
    other = encode_request(replace(request, tools=()), goal).report
    about = tuple(one for one in encoded.report if one not in other)
    return Translated(found or [], encoded.transcript.names, about)
