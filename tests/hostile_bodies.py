"""Request bodies that no client should send, made from sound ones: always the same, by a seed."""

import copy
import gzip
import json
import zlib
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from msgspec import Struct, field

_NESTED: Any = "x"
for _ in range(150):
    _NESTED = [_NESTED]
VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        -1,
        1.5,
        1e308,
        2**63,
        "",
        " ",
        "\x00",
        "x",
        "x" * 3000,
        "\ud83d\ude00",
    ),
    *([], {}, [[]], [None], [{}], {"": ""}, {"type": None}, {"type": "text"}, {"role": "user"}),
    *([1, "a", None, {}], {"type": "tool_use"}, {"type": "tool_result"}, "data:,", "tool_calls"),
    *([{"type": []}], {"$ref": "#"}, {"type": {"type": {}}}, _NESTED, "assistant", "user", "tool"),
)
"""What takes the place of something else."""
KEYS = ("role", "type", "content", "id", "name", "parts", "text", "input", "", "\x00", "é" * 50)


class Hostile(Struct, frozen=True):
    """One request."""

    data: bytes
    headers: dict[str, str] = field(default_factory=dict)


def hostile(body: dict[str, Any], random: Random) -> Hostile:
    """A hostile request made from a sound body."""
    kind = random.random()
    if kind < 0.75:
        changed = copy.deepcopy(body)
        for _ in range(random.choice((1, 1, 2, 4))):
            _change(changed, random)
        return Hostile(json.dumps(changed).encode())
    data = json.dumps(body).encode()
    if kind < 0.93:
        return Hostile(random.choice(_BYTES)(data, random))
    return random.choice(_WRAPPED)(data, random)


def _change(body: dict[str, Any], random: Random) -> None:
    places = list(_places(body))
    if not places:
        return
    holder, key = random.choice(places)
    what = random.randrange(5)
    if what < 3:
        holder[key] = copy.deepcopy(random.choice(VALUES))
    elif what == 3:
        del holder[key]
    elif isinstance(holder, dict):
        holder[random.choice(KEYS)] = holder.pop(key)
    else:
        holder.insert(random.randrange(len(holder) + 1), copy.deepcopy(holder[key]))


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in a body, as what holds it and under which key."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        pairs = list(one.items() if isinstance(one, dict) else enumerate(one))
        for key, inner in pairs:
            yield one, key
            if isinstance(inner, (dict, list)):
                waiting.append(inner)


def _cut(data: bytes, random: Random) -> bytes:
    return data[: random.randrange(len(data))]


def _flipped(data: bytes, random: Random) -> bytes:
    made = bytearray(data)
    for _ in range(random.randrange(1, 6)):
        made[random.randrange(len(made))] = random.randrange(256)
    return bytes(made)


def _with_value(text: bytes) -> Callable[[bytes, Random], bytes]:
    """Some value of the body becomes this text."""

    def made(data: bytes, random: Random) -> bytes:
        places = [at for at in range(len(data)) if data[at : at + 2] == b": "]
        at = random.choice(places) + 2
        end = at
        while end < len(data) and data[end : end + 1] not in b",}]":
            end += 1
        return data[:at] + text + data[end:]

    return made


_BYTES: tuple[Callable[[bytes, Random], bytes], ...] = (
    _cut,
    _flipped,
    *map(
        _with_value,
        (
            *(b"NaN", b"-Infinity", b"1e999", b"9" * 5000, b"-0", b"1E+2", b'"\\ud800"'),
            *(b'"\\udc00\\ud800"', b'"\\u0000"', b'"\xff\xfe"', b'"\xed\xa0\x80"', b"undefined"),
            *(b"[" * 20_000, b'{"a":' * 5000 + b"1" + b"}" * 5000, b"[" * 400 + b"]" * 400),
        ),
    ),
    lambda data, _: b"\xef\xbb\xbf" + data,
    lambda data, _: data.decode().encode("utf-16"),
    lambda data, _: data.decode().encode("utf-32"),
    lambda data, _: data[:-1] + b',"model":"other","messages":null,"stream":true}',
    lambda data, _: data + data,
    lambda data, _: b"[" + data + b"]",
    lambda data, _: b" " * 5000 + data + b"\n" * 5000,
    lambda data, random: random.randbytes(random.randrange(200)),
    lambda data, _: data.replace(b'"', b"'"),
    lambda data, _: b"a=b&c=d",
    lambda data, _: b"null",
    lambda data, _: b"",
)


def _encoded(coding: str, pack: Callable[[bytes, Random], bytes]) -> Callable[..., Hostile]:
    return lambda data, random: Hostile(pack(data, random), {"content-encoding": coding})


_BOMB = gzip.compress(b"[" * 3_000_000)
_WRAPPED: tuple[Callable[[bytes, Random], Hostile], ...] = (
    _encoded("gzip", lambda data, _: gzip.compress(data)),
    _encoded("deflate", lambda data, _: zlib.compress(data)),
    _encoded("gzip", lambda data, random: _cut(gzip.compress(data), random)),
    _encoded("gzip", lambda data, random: _flipped(gzip.compress(data), random)),
    _encoded("gzip", lambda data, _: gzip.compress(data) + gzip.compress(b"more")),
    _encoded("gzip", lambda data, _: _BOMB),
    _encoded("gzip", lambda data, _: data),
    _encoded("br", lambda data, _: data),
    _encoded("gzip, gzip", lambda data, _: gzip.compress(gzip.compress(data))),
    _encoded("\xff", lambda data, _: data),
    lambda data, _: Hostile(data, {"content-length": "9" * 5000}),
    lambda data, _: Hostile(data, {"content-length": "-1"}),
    lambda data, _: Hostile(data, {"content-length": "99999999999"}),
    lambda data, _: Hostile(data, {"content-type": "text/plain; charset=utf-7"}),
    lambda data, _: Hostile(data, {"x-canonicall-strict": "\xff", "session_id": "\x80" * 300}),
    lambda data, _: Hostile(data, {"traceparent": "00-" + "z" * 400, "x-session-id": "s"}),
)
