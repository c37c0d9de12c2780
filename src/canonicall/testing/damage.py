"""Damage to request bodies: what careless clients, proxies and hand-written histories do to them.

In: a body as JSON values, and a source of chance. Out: the body damaged in one to four places, as
JSON values (`damaged`) or as the bytes of JSON (`damaged_json`). Damage is done anywhere: values of
a wrong kind, parts missing, doubled, moved or taken from another format, other ids and roles,
broken arguments, text that UTF-8 cannot carry, numbers that JSON does not have, deep nesting. In
bytes there may also be doubled keys, a byte order mark, bytes that are not UTF-8, and an end in the
middle. `damaged_once` is every body that one change at one place makes, without chance.

Equal chance gives equal damage. The body that came is not changed.
"""

import json
import marshal
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any, NamedTuple, TypeAlias

from canonicall.testing.vocabulary import VOCABULARIES, samples

_MOST = 4
_TURNS_AT = frozenset(known.turns_at for known in VOCABULARIES.values())
"""Where most of the damage is done; the rest of a body is often larger and less sensitive."""
_AGAIN = "~again"
"""Marks a key that is written a second time."""
_IDS = (
    *("id", "call_id", "tool_call_id", "tool_use_id", "toolUseId", "item_id", "name", "tool_name"),
    *("previous_response_id", "encrypted_content", "signature", "thoughtSignature"),
)
_ARGUMENTS_AT = ("arguments", "input", "args", "parameters", "input_schema", "json", "response")
_ROLES = (
    *("user", "assistant", "system", "tool", "model", "developer", "function", "", "narrator"),
    *(None, "User", "chatbot"),
)
_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 2.5, 1e308, -0.0, 2**63, 10**30, -(2**70), "", " ", "\x00", "text"),
    *("null", "data:,", "x" * 300, [], {}, [[]], [None], [{}], {"": ""}, {"type": None}, "12"),
    *({"type": "text"}, {"type": "mystery"}, {"text": 1}, ["text", 7, None], {"$ref": "#"}),
    *({"role": "user"}, "auto", "none", {"type": "object", "properties": []}),
)
_NOT_NUMBERS = (float("nan"), float("inf"), float("-inf"))
_TEXTS = (
    *(
        "",
        " ",
        "\n\t ",
        "\ud800",
        "a\udc00b",
        "\x00",
        "\x1b[31mred\x07",
        "\ufeffmark",
        "\u2028line",
    ),
    *("e\u0301 \U0001f600", '<tool_call>{"name": "f"}</tool_call>', "x" * 3_000, "[DONE]", "{}"),
    *("Error: no", "[image/png]", "data:image/png;base64,aGk=", "https://a.test/b.png", "\xa0"),
)
_ARGUMENTS = (
    *(
        "",
        "null",
        "[]",
        "{",
        '{"a": ',
        '{"a": 1}{"b": 2}',
        '"{}"',
        "{'a': 1}",
        '{"a": NaN}',
        "{}\n",
    ),
    *(
        '{"a": 1, "a": 2}',
        "text",
        '{"a": "\\ud800"}',
        '{"a": 1e999}',
        '{"a": 123456789012345678901}',
    ),
    *(" {}", '{"\\ud800": 1}', "7", '{"a":' * 300 + "1" + "}" * 300),
)
_KEYS = (
    *("role", "type", "content", "id", "name", "parts", "text", "input", "", "\ud800", "é" * 50),
    *("tool_calls", "function", "cache_control", "$ref", "refusal", "reasoning", "thought"),
)
_DEPTHS = (1, 1, 2, 3, 30, 100, 260)


class Place(NamedTuple):
    """A value in a body: what holds it, and under which key or index."""

    holder: Any
    key: Any

    @property
    def value(self) -> Any:
        return self.holder[self.key]

    def put(self, value: Any) -> None:
        self.holder[self.key] = value


Damage: TypeAlias = Callable[[list[Place], Random], None]


def damaged(body: Any, chance: Random) -> Any:
    """`body` as JSON values, damaged."""
    return _damaged(body, chance, _DAMAGES)


def damaged_json(body: Any, chance: Random) -> bytes:
    """`body` as JSON text, damaged as values, as text, or both."""
    try:
        text = json.dumps(_damaged(body, chance, (*_DAMAGES, _doubled_key, _doubled_key)))
    except RecursionError:
        text = json.dumps(body)
    data = text.replace(f'{_AGAIN}"', '"').encode()
    return chance.choice(_SPOILT)(data, chance) if _happens(chance, 15) else data


def damaged_once(body: Any) -> Iterator[Any]:
    """Every body that differs from `body` in one place, by one of the changes of a fixed list."""
    root = [_copied(body)]
    for place in places_in(root)[1:]:
        holder, value = place.holder, place.value
        for other in _others(place):
            place.put(other)
            yield _copied(root[0])
        place.put(value)
        before = holder.copy()
        for after in _holders(place):
            holder.clear()
            (holder.update if isinstance(holder, dict) else holder.extend)(after)
            yield _copied(root[0])
        holder.clear()
        (holder.update if isinstance(holder, dict) else holder.extend)(before)


def _holders(place: Place) -> Iterator[Any]:
    """What may hold the value of a place instead of what holds it."""
    holder, key, value = place.holder.copy(), place.key, place.value
    if isinstance(holder, dict):
        rest = {name: inner for name, inner in holder.items() if name != key}
        yield rest
        yield from ({**rest, name: value} for name in (*_KEYS, f"x_{key}", *holder))
    else:
        before, after = holder[:key], holder[key + 1 :]
        yield [*before, *after]
        yield [*before, value, value, *after]
        yield [value, *before, *after]
        yield [*holder, value]


def _others(place: Place) -> Iterator[Any]:
    """What may be in a place instead of what is there."""
    value = place.value
    yield from map(_copied, (*_VALUES, *_NOT_NUMBERS))
    yield from ([_copied(value)], {"value": _copied(value)})
    if isinstance(value, str):
        yield from _TEXTS
        yield from (value + text for text in _TEXTS)
    if place.key == "role":
        yield from _ROLES
    elif place.key == "type":
        yield from sorted({one["type"] for one in samples() if "type" in one})
    elif place.key in _IDS and isinstance(value, str):
        yield from _other_ids(value)
    elif place.key in _ARGUMENTS_AT:
        text = value if isinstance(value, str) else json.dumps(value)
        yield from (*_ARGUMENTS, text[: len(text) // 2], [_copied(value)])
    if isinstance(value, dict):
        yield from map(_copied, value.values())
        for part in samples():
            yield _copied(part)
            yield _copied(value) | _copied(part)
    elif isinstance(value, list):
        yield from map(_copied, value)
        for part in samples():
            yield [_copied(part), *_copied(value)]
            yield [*_copied(value), _copied(part)]


def _damaged(body: Any, chance: Random, damages: Sequence[Damage]) -> Any:
    """The body after its damage: never another value as a whole, so that an object stays one."""
    body = _copied(body)
    for _ in range(chance.randint(1, _MOST)):
        places = places_in([body])[1:]
        turns = [one.value for one in places if one.key in _TURNS_AT]
        if turns and isinstance(turns[0], list) and _happens(chance, 65):
            places = places_in(turns[0]) or places
        if not places:
            break
        chance.choice(damages)(places, chance)
    return body


def places_in(root: list[Any]) -> list[Place]:
    """Every value in a list, in the order of its text."""
    found: list[Place] = []
    open_ends = [Place(root, at) for at in reversed(range(len(root)))]
    while open_ends:
        place = open_ends.pop()
        found.append(place)
        value = place.value
        if isinstance(value, dict):
            open_ends.extend(Place(value, key) for key in reversed(value))
        elif isinstance(value, list):
            open_ends.extend(Place(value, at) for at in reversed(range(len(value))))
    return found


def _happens(chance: Random, percent: int) -> bool:
    return chance.randrange(100) < percent


def _wrong_kind(places: list[Place], chance: Random) -> None:
    chance.choice(places).put(_copied(chance.choice(_VALUES)))


def _not_a_number(places: list[Place], chance: Random) -> None:
    numbers = [one for one in places if isinstance(one.value, (int, float))]
    chance.choice(numbers or places).put(chance.choice(_NOT_NUMBERS))


def _missing(places: list[Place], chance: Random) -> None:
    place = chance.choice(places)
    del place.holder[place.key]


def _doubled(places: list[Place], chance: Random) -> None:
    place = _one(places, chance, _is_item)
    if isinstance(place.holder, list):
        at = chance.randint(0, len(place.holder)) if _happens(chance, 50) else place.key
        place.holder.insert(at, _copied(place.value))


def _doubled_key(places: list[Place], chance: Random) -> None:
    """A key twice in one object, with an equal value or with another one."""
    place = _one(places, chance, lambda one: isinstance(one.holder, dict))
    if isinstance(place.holder, dict):
        other = chance.choice(places).value if _happens(chance, 50) else place.value
        place.holder[place.key + _AGAIN] = _copied(other)


def _moved(places: list[Place], chance: Random) -> None:
    place = _one(places, chance, _is_item)
    if isinstance(place.holder, list):
        value = place.holder.pop(place.key)
        place.holder.insert(chance.randint(0, len(place.holder)), value)


def _reordered(places: list[Place], chance: Random) -> None:
    chosen = _one(places, chance, _is_list).value
    if isinstance(chosen, list):
        chance.shuffle(chosen)


def _cut(places: list[Place], chance: Random) -> None:
    """A list without its head or without its tail."""
    chosen = _one(places, chance, _is_list)
    if isinstance(chosen.value, list):
        at = chance.randint(0, len(chosen.value))
        chosen.put(chosen.value[at:] if _happens(chance, 50) else chosen.value[:at])


def _other_id(places: list[Place], chance: Random) -> None:
    ids = [one for one in places if one.key in _IDS and isinstance(one.value, str)]
    if ids:
        place = chance.choice(ids)
        value = place.value
        place.put(chance.choice((chance.choice(ids).value, *_other_ids(value))))


def _other_ids(value: str) -> tuple[str, ...]:
    return (
        *("", f" {value} ", value[:-1], value.upper()),
        *(f"call_{value}", value.partition("_")[2], f"{value}.with/other:characters"),
        *(value * 20, "id\u00fc", value + "\ud83d", "1", "null", f"{value}|fc_1", "\n"),
    )


def _other_role(places: list[Place], chance: Random) -> None:
    roles = [one for one in places if one.key in ("role", "type")]
    if roles:
        place = chance.choice(roles)
        place.put(
            chance.choice(_ROLES) if place.key == "role" else _copied(chance.choice(roles).value)
        )


def _swapped(places: list[Place], chance: Random) -> None:
    """Two values of one name in each other's place: roles, ids, texts."""
    place = chance.choice(places)
    other = _one(places, chance, lambda one: one.key == place.key)
    if _holds(place.value, other.holder) or _holds(other.value, place.holder):
        return
    first, second = place.value, other.value
    place.put(second)
    other.put(first)


def _other_text(places: list[Place], chance: Random) -> None:
    texts = [one for one in places if isinstance(one.value, str)]
    if texts:
        place = chance.choice(texts)
        text = chance.choice(_TEXTS)
        place.put(place.value + text if _happens(chance, 40) else text)


def _broken_arguments(places: list[Place], chance: Random) -> None:
    found = [one for one in places if one.key in _ARGUMENTS_AT]
    if found:
        place = chance.choice(found)
        value = place.value
        text = value if isinstance(value, str) else json.dumps(value)
        cut = text[: chance.randint(0, len(text))]
        place.put(chance.choice((*_ARGUMENTS, cut, cut, cut, [value], {"value": value})))


def _transplanted(places: list[Place], chance: Random) -> None:
    """A part of the body in the place of another one."""
    value = _copied(chance.choice(places).value)
    chance.choice(places).put(value)


def _foreign(places: list[Place], chance: Random) -> None:
    """A part of any format: in the place of an object, or in a list."""
    part = _copied(chance.choice(samples()))
    place = _one(places, chance, lambda one: isinstance(one.value, dict) or _is_list(one))
    if _is_list(place):
        place.value.insert(chance.randint(0, len(place.value)), part)
    elif isinstance(place.value, dict) and _happens(chance, 40):
        place.put(_copied(place.value) | part)
    else:
        place.put(part)


def _inserted(places: list[Place], chance: Random) -> None:
    """A part of the body, or something unknown, in a list where it does not belong."""
    lists = [one.value for one in places if _is_list(one)]
    if lists:
        chosen = chance.choice(lists)
        value = chance.choice(places).value if _happens(chance, 60) else chance.choice(_VALUES)
        chosen.insert(chance.randint(0, len(chosen)), _copied(value))


def _other_key(places: list[Place], chance: Random) -> None:
    keyed = [one for one in places if isinstance(one.holder, dict)]
    if keyed:
        place = chance.choice(keyed)
        name = place.key
        others = (name.upper(), f"{name}s", f"x_{name}", name[:-1], chance.choice(keyed).key)
        place.holder[chance.choice((*others, *_KEYS))] = place.holder.pop(name)


def _wrapped(places: list[Place], chance: Random) -> None:
    place = chance.choice(places)
    value = place.value
    for _ in range(chance.choice(_DEPTHS)):
        value = [value] if _happens(chance, 50) else {"value": value}
    place.put(value)


def _unwrapped(places: list[Place], chance: Random) -> None:
    place = _one(places, chance, lambda one: isinstance(one.value, (dict, list)))
    value = place.value
    inner = list(value.values()) if isinstance(value, dict) else value
    if isinstance(inner, list) and inner:
        place.put(chance.choice(inner))


_DAMAGES: tuple[Damage, ...] = (
    *(_wrong_kind, _wrong_kind, _wrong_kind, _not_a_number, _missing, _missing, _missing, _doubled),
    *(_doubled, _moved, _moved, _reordered, _cut, _cut, _other_id, _other_id, _other_id, _wrapped),
    *(_other_role, _other_role, _swapped, _other_text, _other_text, _broken_arguments, _foreign),
    *(_broken_arguments, _transplanted, _foreign, _foreign, _inserted, _other_key, _unwrapped),
)


def _cut_off(data: bytes, chance: Random) -> bytes:
    return data[: chance.randint(0, len(data))]


def _bad_bytes(data: bytes, chance: Random) -> bytes:
    at = chance.randint(0, len(data))
    return data[:at] + chance.choice((b"\xff\xfe", b"\xed\xa0\x80", b"\x00", b"\xc3")) + data[at:]


def _marked(data: bytes, chance: Random) -> bytes:  # noqa: ARG001 -- one of several
    return b"\xef\xbb\xbf" + data


def _followed(data: bytes, chance: Random) -> bytes:
    return data + chance.choice((b" {}", b"\n", b",", b"null", b"\x00"))


def _nested(data: bytes, chance: Random) -> bytes:
    depth = chance.choice((300, 5_000))
    return b"[" * depth + data + b"]" * depth


_SPOILT = (_cut_off, _bad_bytes, _marked, _followed, _nested)


def _one(places: list[Place], chance: Random, fits: Callable[[Place], bool]) -> Place:
    """One of the places that fit, or any where none does."""
    return chance.choice([one for one in places if fits(one)] or places)


def _is_item(place: Place) -> bool:
    return isinstance(place.holder, list)


def _is_list(place: Place) -> bool:
    return isinstance(place.value, list)


def _holds(value: Any, holder: Any) -> bool:
    """Whether `holder` is `value` or somewhere inside: a swap of both would make a circle."""
    return value is holder or any(one.value is holder for one in places_in([value]))


def _copied(value: Any) -> Any:
    """Equal, and not the same: two places must not be damaged by one damage. It may be deep."""
    return marshal.loads(marshal.dumps(value))  # noqa: S302 -- written right here
