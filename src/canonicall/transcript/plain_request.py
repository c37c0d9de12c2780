"""The parts of a request beside its conversation, as JSON can write them.

In: a request. Out: the same request, in which tools and parameters hold no half characters; a
finding for each place. The conversation has been through the same when it was made.
"""

from typing import Any

import msgspec
from msgspec.structs import replace

from canonicall.errors import InvalidValue
from canonicall.findings import Finding
from canonicall.plain import plain_json
from canonicall.request import Request

_PARTS = ("tools", "tool_choice", "params", "model", "native", "spelled", "continues")


def plain_request(request: Request) -> tuple[Request, list[Finding]]:
    """`request` as it can be sent. A value that JSON has no form for raises `InvalidValue`."""
    parts = {name: getattr(request, name) for name in _PARTS}
    try:
        msgspec.json.encode(parts)
    except (UnicodeEncodeError, TypeError):
        findings: list[Finding] = []
        return replace(request, **_plain(parts, findings)), findings
    except RecursionError:
        # A schema that holds itself: it is cut where schemas are fitted.
        pass
    return request, []


def _plain(parts: dict[str, Any], findings: list[Finding]) -> dict[str, Any]:
    kinds = {one.name: one.type for one in msgspec.structs.fields(Request)}
    made = {}
    for name, part in parts.items():
        try:
            builtins = msgspec.to_builtins(part)
        except (TypeError, RecursionError) as error:
            raise InvalidValue(f"{error}.", where=name) from None
        plain, told = plain_json(builtins, name)
        findings += told
        made[name] = msgspec.convert(plain, kinds[name])
    return made
