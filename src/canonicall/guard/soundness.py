"""Calls that are known at a glance to be sound: nearly all of them.

The arguments are written as JSON, one quick pass in which everything odd shows, and given to the
compiled validator. Whatever is in doubt is no for an answer: then it is looked at with care.
"""

import re
from typing import Any

import msgspec

from canonicall.guard.sanitising import Limits
from canonicall.guard.validators import UnusableSchema, known_validators, validator_of

_ENCODE = msgspec.json.Encoder().encode
_SUSPECT = re.compile(rb"\\[bfu]").search
"""Finds escaped control characters but those that stay, and backslashes that are meant as such."""
_WITHOUT_CONTROL = re.compile(rb"(?:[^\\]++|\\[^bfu]|\\u(?!00[01]))*+")


def is_sound(args: dict[str, Any] | None, schema: dict[str, Any] | None, limits: Limits) -> bool:
    """Whether arguments are clean, within limits, and accepted by the schema."""
    if args is None:
        return False
    try:
        written = _ENCODE(args)
        if _SUSPECT(written) and not _WITHOUT_CONTROL.fullmatch(written):
            return False
        size = len(written)
        # In few bytes there is no room for too many brackets.
        if size > 2 * limits.max_depth and not _is_within(written, limits):
            return False
        if schema is None or size > limits.max_bytes:
            return size <= limits.max_bytes
        known = known_validators.get(id(schema))
        validator = validator_of(schema) if known is None else known[1]
        return validator.is_valid(args)
    except (UnusableSchema, TypeError, ValueError, RecursionError):
        return False


def _is_within(written: bytes, limits: Limits) -> bool:
    return written.count(b"{") + written.count(b"[") <= limits.max_depth
