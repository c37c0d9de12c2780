"""Bodies that say 200 and nothing else.

Hosts send `choices: null` where thinking has eaten all tokens, or where they failed without telling
(langwatch tasks#465). Clients read the first choice and break; such a body is no reply.
"""

import re

from canonicall.client.failure import AttemptFailed, of_cut
from canonicall.codec.decode import decode_response
from canonicall.errors import CanonicallError
from canonicall.facts.target import Target
from canonicall.gateway.exchange import HttpResponse

_NO_CHOICE = re.compile(rb'"(?:choices|candidates)"\s*:\s*(?:null|\[\s*\])')
"""Inside of texts the quotes would be escaped."""


def refuse_empty(response: HttpResponse, target: Target) -> HttpResponse:
    """`response`; `AttemptFailed` where its body has no message, and no word on why."""
    data = response.body
    if isinstance(data, bytes) and _NO_CHOICE.search(data) and _says_nothing(data, target):
        raise AttemptFailed(of_cut(target, "there is no message in the reply."))
    return response


def _says_nothing(data: bytes, target: Target) -> bool:
    try:
        reply = decode_response(data, target.format)
    except CanonicallError:
        return False
    return not reply.message.blocks and not reply.finish
