"""Damaged request bodies, made from recorded ones.

In: recorded bodies as JSON values, and a number. Out: JSON text as bytes; the same number and the
same bodies always give the same bytes, in every process and every version of Python.

Do not change this module: every change makes other bodies, and all stored hashes of damaged
bodies would change without a change of the library. It knows no format and uses nothing of
canonicall, `canonicall.testing.strategies` included, so that later work on the library leaves it
as it is. Damage is done anywhere in a body: values of a wrong type, missing and doubled parts,
moved messages, changed ids and roles, broken arguments, lone surrogates and control characters,
NaN, and in one body of fifty a text that is not JSON.
"""

import json
import random
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

_T = TypeVar("_T")

_LARGEST = 20_000
"""Characters of a body that is damaged; larger ones cost time and show nothing else."""
_TRIES = (False,) * 8
"""More damage for a body that is still whole: not every damage is possible in every body."""
_AGAIN = "~again"
"""Marks a key that is written a second time."""
_IDS = ("id", "call_id", "tool_call_id", "tool_use_id", "toolUseId", "item_id", "name")
_CONVERSATIONS = ("messages", "input", "contents")
"""Where most of the damage is done; the rest of a body is often larger and less sensitive."""
_ROLES = ("user", "assistant", "system", "tool", "model", "developer", "function", "", "narrator")
_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 2.5, 10**30, float("nan"), float("inf"), "", " ", "text", "null", [],
    [None], [[]], {}, {"type": "mystery"}, {"text": 1}, ["text", 7, None],
)  # fmt: skip
_TEXTS = (
    "", " ", "\n\t ", "\ud800", "a\udc00b", "\x00", "\x1b[31mred\x07", "\ufeffmark", "\u2028line",
    "e\u0301 \U0001f600", '<tool_call>{"name": "f"}</tool_call>', "x" * 3_000, "[DONE]", "{}",
)  # fmt: skip
_ARGUMENTS = (
    "", "null", "[]", "{", '{"a": ', '{"a": 1}{"b": 2}', '"{}"', "{'a': 1}", '{"a": NaN}',
    '{"a": 1, "a": 2}', "text", '{"a": "\\ud800"}', "{}\n",
)  # fmt: skip


class Damaged(NamedTuple):
    """A damaged body, and the number it was made by."""

    id: str
    format: str
    data: bytes


class Chance:
    """The same choices for the same seed. Only `Random.random` is the same in every Python."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed).random  # noqa: S311 -- nothing is secret

    def below(self, end: int) -> int:
        return int(self._random() * end)

    def one(self, values: Sequence[_T]) -> _T:
        return values[self.below(len(values))]

    def happens(self, percent: int) -> bool:
        return self.below(100) < percent


class Place(NamedTuple):
    """A value in a body: what holds it, and under which key or index."""

    holder: Any
    key: Any

    @property
    def value(self) -> Any:
        return self.holder[self.key]

    def put(self, value: Any) -> None:
        self.holder[self.key] = value


def damaged_bodies(
    recorded: Sequence[tuple[str, bytes]], count: int, start: int = 0
) -> Iterable[Damaged]:
    """Damaged bodies by number; `recorded` are formats and bodies as JSON text.

    One half is taken from all bodies alike, the other from every format alike: some are rare.
    """
    usable = [one for one in recorded if len(one[1]) <= _LARGEST]
    by_format = [[one for one in usable if one[0] == format] for format in dict(usable)]
    for number in range(start, start + count if usable else start):
        chance = Chance(f"golden {number}")
        format, text = chance.one(usable if chance.happens(50) else chance.one(by_format))
        body = json.loads(text)
        whole = json.dumps(body)
        for needed in (True, chance.happens(50), *_TRIES):
            if needed or json.dumps(body) == whole:
                body = _damaged(body, chance)
        yield Damaged(f"damaged-{number:04}", format, _text(body, chance))


def _damaged(body: Any, chance: Chance) -> Any:
    """The body after one more damage, most often to its conversation."""
    root = [body]
    places = _places(root)
    turns = [one for one in places if one.key in _CONVERSATIONS and isinstance(one.value, list)]
    if turns and chance.happens(70):
        places = _places(turns[0].value) or places
    damage = chance.one(_DAMAGES)
    damage(places, chance)
    return root[0] if root else None


def _places(root: list[Any]) -> list[Place]:
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


def _wrong_type(places: list[Place], chance: Chance) -> None:
    chance.one(places).put(_copied(chance.one(_VALUES)))


def _missing(places: list[Place], chance: Chance) -> None:
    place = chance.one(places)
    del place.holder[place.key]


def _doubled(places: list[Place], chance: Chance) -> None:
    place = chance.one(_in_lists(places) or places)
    if isinstance(place.holder, list):
        again = chance.below(len(place.holder) + 1) if chance.happens(50) else place.key
        place.holder.insert(again, _copied(place.value))


def _doubled_key(places: list[Place], chance: Chance) -> None:
    """A key twice in one object, with an equal value or with another one."""
    place = chance.one([one for one in places if isinstance(one.key, str)] or places)
    if isinstance(place.holder, dict):
        other = chance.one(places).value if chance.happens(50) else place.value
        place.holder[place.key + _AGAIN] = _copied(other)


def _moved(places: list[Place], chance: Chance) -> None:
    place = chance.one(_in_lists(places) or places)
    if isinstance(place.holder, list):
        value = place.holder.pop(place.key)
        place.holder.insert(chance.below(len(place.holder) + 1), value)


def _reversed(places: list[Place], chance: Chance) -> None:
    chosen = chance.one([one for one in places if isinstance(one.value, list)] or places)
    if isinstance(chosen.value, list):
        chosen.value.reverse()


def _cut(places: list[Place], chance: Chance) -> None:
    """A list without its head or without its tail."""
    chosen = chance.one([one for one in places if isinstance(one.value, list)] or places)
    if isinstance(chosen.value, list):
        at = chance.below(len(chosen.value) + 1)
        chosen.put(chosen.value[at:] if chance.happens(50) else chosen.value[:at])


def _other_id(places: list[Place], chance: Chance) -> None:
    ids = [one for one in places if one.key in _IDS and isinstance(one.value, str)]
    if ids:
        place = chance.one(ids)
        value = place.value
        others = (
            chance.one(ids).value, "", f" {value} ", value[:-1], value.upper(), f"call_{value}",
            value.partition("_")[2], f"{value}.with/other:characters", value * 20, "id\u00fc",
            value + "\ud83d", "1",
        )  # fmt: skip
        place.put(chance.one(others))


def _other_role(places: list[Place], chance: Chance) -> None:
    roles = [one for one in places if one.key in ("role", "type")]
    if roles:
        place = chance.one(roles)
        place.put(chance.one(_ROLES) if place.key == "role" else chance.one(roles).value)


def _other_text(places: list[Place], chance: Chance) -> None:
    texts = [one for one in places if isinstance(one.value, str)]
    if texts:
        place = chance.one(texts)
        text = chance.one(_TEXTS)
        place.put(place.value + text if chance.happens(40) else text)


def _broken_arguments(places: list[Place], chance: Chance) -> None:
    found = [one for one in places if one.key in ("arguments", "input", "args")]
    if found:
        place = chance.one(found)
        value = place.value
        cut = value[: chance.below(len(value) + 1)] if isinstance(value, str) else json.dumps(value)
        place.put(chance.one((*_ARGUMENTS, cut, cut, cut, [value], {"value": value})))


def _transplanted(places: list[Place], chance: Chance) -> None:
    """A part of the body at the place of another one."""
    value = _copied(chance.one(places).value)
    chance.one(places).put(value)


def _inserted(places: list[Place], chance: Chance) -> None:
    """A part of the body, or something unknown, in a list where it does not belong."""
    lists = [one.value for one in places if isinstance(one.value, list)]
    if lists:
        chosen = chance.one(lists)
        value = chance.one(places).value if chance.happens(60) else chance.one(_VALUES)
        chosen.insert(chance.below(len(chosen) + 1), _copied(value))


def _renamed_key(places: list[Place], chance: Chance) -> None:
    keyed = [one for one in places if isinstance(one.holder, dict)]
    if keyed:
        place = chance.one(keyed)
        name = place.key
        other = chance.one(
            (name.upper(), f"{name}s", f"x_{name}", name[:-1], chance.one(keyed).key)
        )
        place.holder[other] = place.holder.pop(name)


def _wrapped(places: list[Place], chance: Chance) -> None:
    place = chance.one(places)
    value = place.value
    for _ in range(1 + chance.below(30) if chance.happens(20) else 1):
        value = [value] if chance.happens(50) else {"value": value}
    place.put(value)


_DAMAGES: tuple[Callable[[list[Place], Chance], None], ...] = (
    _wrong_type, _missing, _missing, _missing, _doubled, _doubled, _doubled_key,
    _moved, _moved, _moved, _reversed, _cut, _cut, _other_id, _other_id, _other_id, _other_role,
    _other_role, _other_text, _other_text, _broken_arguments, _broken_arguments, _transplanted,
    _inserted, _inserted, _renamed_key, _wrapped,
)  # fmt: skip


def _in_lists(places: list[Place]) -> list[Place]:
    return [one for one in places if isinstance(one.holder, list)]


def _copied(value: Any) -> Any:
    """Equal, and not the same: two places must not be damaged by one damage."""
    if isinstance(value, dict):
        return {key: _copied(one) for key, one in value.items()}
    return [_copied(one) for one in value] if isinstance(value, list) else value


def _text(body: Any, chance: Chance) -> bytes:
    """The body as JSON; one in fifty is damaged once more as text."""
    text = json.dumps(body).replace(f'{_AGAIN}"', '"').encode()
    if not chance.happens(2):
        return text
    at = chance.below(len(text) + 1)
    spoilt = (text[:at], text[:at] + b"\xff\xfe" + text[at:], b"\xef\xbb\xbf" + text, text + b" {}")
    return chance.one(spoilt)
