"""Calls that are known at a glance to be sound: nearly all of them.

The arguments are written as JSON, one quick pass in which everything odd shows, and given to the
compiled validator. Whatever is in doubt is no for an answer: then it is looked at with care.
"""

import re
from typing import Any

import msgspec

from canonicall.guard.sanitising import LIMITS, Limits
from canonicall.guard.validators import UnusableSchema, known_validators, validator_of

_ENCODE = msgspec.json.Encoder().encode
_BACKSLASH = ord("\\")
_SUSPECT = re.compile(rb"\\[bfu]").search
"""Finds escaped control characters but those that stay, and backslashes that are meant as such."""
_WITHOUT_CONTROL = re.compile(rb"(?:[^\\]++|\\[^bfu]|\\u(?!00[01]))*+")
_ROOMY = min(2 * LIMITS.max_depth, LIMITS.max_bytes)
"""In this many bytes there is no room for too many brackets, by the usual limits."""


def is_sound(args: dict[str, Any] | None, schema: dict[str, Any] | None, limits: Limits) -> bool:
    """Whether arguments are clean, within limits, and accepted by the schema."""
    if args is None:
        return False
    try:
        written = _ENCODE(args)
        if _BACKSLASH in written and _SUSPECT(written) and not _WITHOUT_CONTROL.fullmatch(written):
            return False
        if (len(written) > _ROOMY or limits is not LIMITS) and not _is_within(written, limits):
            return False
        return known_validators[id(schema)].validator.is_valid(args)
    except KeyError:
        return schema is None or _is_valid(args, schema)
    except (TypeError, ValueError, RecursionError):
        return False


def _is_valid(args: dict[str, Any], schema: dict[str, Any]) -> bool:
    """The same for a schema that is new here."""
    try:
        return validator_of(schema).is_valid(args)
    except (UnusableSchema, TypeError, ValueError, RecursionError):
        return False


def _is_within(written: bytes, limits: Limits) -> bool:
    brackets = written.count(b"{") + written.count(b"[")
    return len(written) <= limits.max_bytes and brackets <= limits.max_depth
