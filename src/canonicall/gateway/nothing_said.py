"""Bodies that say 200 and nothing else.

Hosts send `choices: null` where thinking has eaten all tokens, or where they failed without telling
(langwatch tasks#465). Clients read the first choice and break; such a body is no reply.
"""

import re

from canonicall.codec import decode_response
from canonicall.errors import CanonicallError
from canonicall.target import Target

_NO_CHOICE = re.compile(rb'"(?:choices|candidates)"\s*:\s*(?:null|\[\s*\])')
"""Inside of texts the quotes would be escaped."""


def says_nothing(data: bytes, target: Target) -> bool:
    """Whether there is neither a message in a body nor a word on why there is none."""
    if _NO_CHOICE.search(data) is None:
        return False
    try:
        reply = decode_response(data, target.format)
    except CanonicallError:
        return False
    return not reply.message.blocks and not reply.finish
