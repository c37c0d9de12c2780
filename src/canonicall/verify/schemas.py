"""Reading the schemas of tools: what several providers' rules need to know about a JSON Schema.

A schema comes from anywhere: it can be thousands of levels deep and its references can run in
circles. Nothing here recurses, every part is looked at once, and after `MOST` parts the reading
stops. A place is a chain of steps, made into text only where a rule is broken.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

from msgspec import Struct

MOST = 100_000
"""Parts of one schema that are looked at."""

MAPS = ("properties", "patternProperties", "dependentSchemas")
LISTS = ("anyOf", "oneOf", "allOf", "prefixItems", "items")
SINGLES = (
    *("items", "additionalProperties", "additionalItems", "not", "if", "then", "else", "contains"),
    *("propertyNames", "unevaluatedItems", "unevaluatedProperties"),
)
WALKED = {*MAPS, *LISTS, *SINGLES}
_VALUES = {"properties", "patternProperties", "items", "prefixItems", "additionalProperties"}
"""Where a value inside the value is meant, not the value itself."""

Steps: TypeAlias = tuple[str | int, ...]
Children: TypeAlias = Callable[[dict[str, Any]], Iterable[tuple[Steps, Any]]]


class Spot(Struct, frozen=True):
    """A part of a schema and the way that leads to it."""

    schema: Any
    base: str
    parent: "Spot | None" = None
    steps: Steps = ()

    @property
    def path(self) -> Steps:
        """Every step from the root of the schema."""
        chain: list[Steps] = []
        spot: Spot | None = self
        while spot is not None:
            chain.append(spot.steps)
            spot = spot.parent
        return tuple(step for steps in reversed(chain) for step in steps)

    @property
    def where(self) -> str:
        return self.base + "".join(
            f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path
        )

    @property
    def is_property(self) -> bool:
        return self.steps[:1] == ("properties",)

    @property
    def properties(self) -> dict[str, Any]:
        found = self.schema.get("properties") if isinstance(self.schema, dict) else None
        return found if isinstance(found, dict) else {}

    @property
    def required(self) -> list[str]:
        return [name for name in self.values("required") if isinstance(name, str)]

    def values(self, key: str) -> list[Any]:
        """What a keyword lists; nothing where it is no list."""
        found = self.schema.get(key) if isinstance(self.schema, dict) else None
        return found if isinstance(found, list) else []

    def types(self) -> tuple[str, ...]:
        """The names in `type`, be it one name or a list of them."""
        kind = self.schema.get("type") if isinstance(self.schema, dict) else None
        names = kind if isinstance(kind, list) else [kind]
        return tuple(name for name in names if isinstance(name, str))


def children(schema: dict[str, Any]) -> Iterator[tuple[Steps, Any]]:
    """The schemas inside a schema; definitions are not, until something refers to them."""
    for key, inner in schema.items():
        if key not in WALKED:
            continue
        if key in MAPS:
            if isinstance(inner, dict):
                yield from (((key, name), one) for name, one in inner.items())
        elif isinstance(inner, list) and key in LISTS:
            yield from (((key, at), one) for at, one in enumerate(inner))
        elif isinstance(inner, dict | bool) and key in SINGLES:
            yield (key,), inner


def walk(root: Spot, inside: Children = children) -> Iterator[Spot]:
    """Every schema under `root`, from the outside in, and what is referred to, once each."""
    waiting, referred = [root], {"#"}
    for _ in range(MOST):
        if not waiting:
            return
        spot = waiting.pop()
        yield spot
        if not isinstance(spot.schema, dict):
            continue
        inner = [Spot(one, root.base, spot, steps) for steps, one in inside(spot.schema)]
        waiting += reversed(inner)
        ref = spot.schema.get("$ref")
        if isinstance(ref, str) and ref not in referred:
            referred.add(ref)
            waiting += [one for one in resolve(root, ref) if one.steps[0] not in WALKED]


def resolve(root: Spot, ref: str) -> list[Spot]:
    """What a reference into the same schema leads to; nothing where it leads nowhere."""
    if ref != "#" and not ref.startswith("#/"):
        return []
    value, steps = root.schema, list[str | int]()
    for part in ref.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and name in value:
            value = value[name]
            steps.append(name)
        elif isinstance(value, list) and name.isdecimal() and int(name[:9]) < len(value):
            value = value[int(name[:9])]
            steps.append(int(name[:9]))
        else:
            return []
    return [Spot(value, root.base, root, tuple(steps))]


def references(root: Spot) -> Iterator[tuple[Spot, str]]:
    """Every reference, with the schema that holds it."""
    for spot in walk(root):
        if isinstance(spot.schema, dict) and isinstance(spot.schema.get("$ref"), str):
            yield spot, spot.schema["$ref"]


def circle(root: Spot) -> tuple[str, ...]:
    """References that lead back to where they started, in order; nothing where none do.

    Goes down from reference to reference. What was gone through without a circle is not gone
    through again.
    """
    first, looked_at = _refs_in(root.schema)
    done, began = set[str](), {"#": iter(first)}
    while began and looked_at < MOST:
        latest = next(reversed(began))
        ref = next(began[latest], None)
        if ref is None:
            began.pop(latest)
            done.add(latest)
        elif ref in began:
            way = list(began)
            return (*way[way.index(ref) :], ref)
        elif ref not in done:
            inner, size = _refs_in([spot.schema for spot in resolve(root, ref)])
            began[ref] = iter(inner)
            looked_at += size + 1
    return ()


def _refs_in(schema: Any) -> tuple[list[str], int]:
    """The references that stand in a schema, not those behind them; how much was looked at."""
    found: dict[str, None] = {}
    waiting = list(schema) if isinstance(schema, list) else [schema]
    for looked_at in range(MOST):
        if not waiting:
            return list(found), looked_at
        one = waiting.pop()
        if not isinstance(one, dict):
            continue
        if isinstance(one.get("$ref"), str):
            found[one["$ref"]] = None
        waiting += [inner for _, inner in children(one)]
    return list(found), MOST


def optional_properties(spot: Spot) -> int:
    """How many properties an object may lack."""
    return len(spot.properties.keys() - set(spot.required))


def is_union(spot: Spot) -> bool:
    """More than one type can stand here."""
    return isinstance(spot.schema, dict) and (
        isinstance(spot.schema.get("anyOf"), list) or len(spot.types()) > 1
    )


def object_levels(root: Spot) -> int:
    """How many objects stand inside each other along the deepest way; references end a way.

    Options of an object (`anyOf`) are no level of their own: nothing is documented about them.
    """
    deepest, waiting = 0, [(root.schema, 0, True)]
    for _ in range(MOST):
        if not waiting:
            break
        schema, level, is_new = waiting.pop()
        if isinstance(schema, dict):
            if is_new and isinstance(schema.get("properties"), dict):
                level, is_new = level + 1, False
            deepest = max(deepest, level)
            waiting += [
                (one, level, is_new or steps[0] in _VALUES) for steps, one in children(schema)
            ]
    return deepest
