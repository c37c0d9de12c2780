"""Ids as the providers themselves give them, from counters: the same run gives the same ids.

The forms are facts of hosts and formats; they are filled from the number of the call or reply.
"""

import re
from collections.abc import Callable
from hashlib import sha256

from canonicall.facts.habits import format_habits
from canonicall.facts.target import Target
from canonicall.ids import base64url
from canonicall.testing.habits import habits_of

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_MAKERS: dict[str, Callable[[bytes, int], str]] = {
    "hash": lambda seed, length: base64url(seed)[:length].replace("-", "A").replace("_", "B"),
    "word": lambda seed, length: "".join(_LETTERS[byte % 62] for byte in seed[:length]),
    "digits": lambda seed, length: "".join(str(byte % 9 + 1) for byte in seed[:length]),
    "hex": lambda seed, length: seed.hex()[:length],
}
_MADE = re.compile(r"\{(hash|word|digits|hex):(\d+)\}")
_NUMBER = re.compile(r"\{number:(\d+)\}")


def call_id(target: Target, name: str, number: int, seed: str = "") -> str:
    """The id of the `number`th call of a conversation, as this provider writes it."""
    own = habits_of(target).call_ids.get(target.format)
    form = own or format_habits(target.format).call_ids
    material = sha256(f"{seed}|{target.provider}|{name}|{number}".encode()).digest()
    made = _MADE.sub(lambda found: _MAKERS[found[1]](material, int(found[2])), form)
    return made.replace("{number}", str(number)).replace("{name}", name)


def response_id(format: str, number: int) -> str:
    """The id of the `number`th reply."""
    form = format_habits(format).response_ids
    return _NUMBER.sub(lambda found: str(number).zfill(int(found[1])), form)
