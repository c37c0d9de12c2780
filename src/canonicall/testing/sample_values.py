"""Values made from a schema and from what the user said: arguments, replies. The same every time.

Good enough for a model that only plays one: every required field is there, of the right type, and
names, numbers and choices that the user mentioned are used before anything is made up.
"""

import math
import re
from collections.abc import Iterator
from typing import Any

_DEEPEST = 12
_MOST_VALUES = 1000
"""A schema that refers to itself could ask for more values than there is memory."""
_QUOTED = re.compile(r"[\"'`\u201c]([^\"'`\u201d]{1,200})[\"'`\u201d]")
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?")
_FILE = re.compile(r"[\w./-]{0,200}\w\.[A-Za-z]\w{1,7}")
_NAME = re.compile(r"\b[A-ZÀ-ÖØ-Þ][\w-]+(?: [A-ZÀ-ÖØ-Þ][\w-]+)*")
_FORMATS = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00Z",
    "time": "12:00:00Z",
    "email": "someone@example.com",
    "uri": "https://example.com/",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "ipv4": "127.0.0.1",
}


def sample_arguments(schema: dict[str, Any] | None, said: str = "") -> dict[str, Any]:
    """Arguments that fit `schema`, with what `said` mentions."""
    made = sample_value(schema or {}, said)
    return made if isinstance(made, dict) else {}


def sample_value(schema: dict[str, Any], said: str = "") -> Any:
    """A value that fits `schema`, with what `said` mentions."""
    return _Sampler(schema, said).value(schema, "", 0)


class _Sampler:
    def __init__(self, root: dict[str, Any], said: str) -> None:
        self._root = root
        self._said = said
        self._left = _MOST_VALUES
        self._numbers = iter(_NUMBER.findall(said))
        self._words = _words(said)

    def value(self, schema: Any, name: str, depth: int) -> Any:
        """A value for the field `name`; null where there are too many, or too deep."""
        self._left -= 1
        if self._left < 0 or depth > _DEEPEST:
            return None
        schema = self._resolved(schema)
        if "const" in schema:
            return schema["const"]
        options = schema.get("enum")
        if isinstance(options, list) and options:
            mentioned = [one for one in options if str(one).lower() in self._said.lower()]
            return (mentioned or options)[0]
        if "default" in schema:
            return schema["default"]
        for union in ("anyOf", "oneOf", "allOf"):
            members = schema.get(union)
            if isinstance(members, list) and members and "type" not in schema:
                return self.value(members[0], name, depth + 1)
        return self._of_type(_type_of(schema), schema, name, depth)

    def _of_type(self, kind: str, schema: dict[str, Any], name: str, depth: int) -> Any:
        match kind:
            case "object":
                return self._object(schema, depth)
            case "array":
                least = schema.get("minItems")
                count = least if isinstance(least, int) and 0 < least <= 20 else 1
                items = schema.get("items", {})
                return [self.value(items, name, depth + 1) for _ in range(count)]
            case "integer" | "number":
                return self._number(kind, schema)
            case "boolean":
                return True
            case "null":
                return None
            case _:
                return self._text(schema, name)

    def _object(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        """The required fields; where none is, those there are."""
        fields = schema.get("properties")
        if not isinstance(fields, dict) or depth >= _DEEPEST:
            return {}
        required = schema.get("required")
        listed = required if isinstance(required, list) else []
        named = [name for name in listed if isinstance(name, str)] or list(fields)[:3]
        return {name: self.value(fields.get(name, {}), name, depth + 1) for name in named}

    def _number(self, kind: str, schema: dict[str, Any]) -> Any:
        said = next(self._numbers, None)
        least, most = _limit(schema, "minimum"), _limit(schema, "maximum")
        number = (1 if least is None else least) if said is None else float(said)
        if least is not None:
            number = max(number, least)
        if most is not None:
            number = min(number, most)
        return int(number) if kind == "integer" or number == int(number) else number

    def _text(self, schema: dict[str, Any], name: str) -> str:
        form = schema.get("format")
        if isinstance(form, str) and form in _FORMATS:
            return _FORMATS[form]
        return next(self._words, name or "text")

    def _resolved(self, schema: Any) -> dict[str, Any]:
        """`schema` behind its references to this document; what leads nowhere allows anything."""
        for _ in range(_DEEPEST):
            if not isinstance(schema, dict):
                return {}
            reference = schema.get("$ref")
            if not isinstance(reference, str) or not reference.startswith("#"):
                return schema
            schema = self._at(reference)
        return {}

    def _at(self, reference: str) -> Any:
        place: Any = self._root
        for step in reference.lstrip("#/").split("/"):
            place = place.get(step, {}) if isinstance(place, dict) and step else place
        return place


def _limit(schema: dict[str, Any], name: str) -> float | None:
    limit = schema.get(name)
    return limit if isinstance(limit, int | float) and math.isfinite(limit) else None


def _type_of(schema: dict[str, Any]) -> str:
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), "null")
    if isinstance(kind, str):
        return kind.lower()
    return "object" if "properties" in schema else "string"


def _words(said: str) -> Iterator[str]:
    """What may be meant by a text field: quoted words first, then files, then names."""
    yield from _QUOTED.findall(said)
    tokens = (token.strip("(),;:!?").rstrip(".") for token in said.split())
    yield from (token for token in tokens if _FILE.fullmatch(token))
    first, *later = _NAME.findall(said) or [""]
    # The first word of a sentence is written like a name; it is the last guess.
    begins = bool(first) and said.lstrip().startswith(first)
    yield from (name for name in ([*later, first] if begins else [first, *later]) if name)
