"""Arguments for a tool, made from its schema and from what the user said. The same every time.

Good enough for a model that only plays one: every required field is there, of the right type, and
names, numbers and choices that the user mentioned are used before anything is made up.
"""

import re
from collections.abc import Iterator
from typing import Any

_DEEPEST = 12
_QUOTED = re.compile(r"[\"'`\u201c]([^\"'`\u201d]{1,200})[\"'`\u201d]")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
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
    made = _Sampler(schema or {}, said).value(schema or {}, "", 0)
    return made if isinstance(made, dict) else {}


class _Sampler:
    def __init__(self, root: dict[str, Any], said: str) -> None:
        self._root = root
        self._said = said
        self._numbers = iter(_NUMBER.findall(said))
        self._words = _words(said)

    def value(self, schema: Any, name: str, depth: int) -> Any:
        """A value for the field `name`."""
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
                return self.value(members[0], name, depth + 1) if depth < _DEEPEST else None
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
        named = required if isinstance(required, list) and required else list(fields)[:3]
        return {name: self.value(fields.get(name, {}), str(name), depth + 1) for name in named}

    def _number(self, kind: str, schema: dict[str, Any]) -> Any:
        said = next(self._numbers, None)
        least = schema.get("minimum", 1)
        number: Any = least if said is None else float(said)
        most = schema.get("maximum")
        if isinstance(least, int | float):
            number = max(number, least)
        if isinstance(most, int | float):
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


def _type_of(schema: dict[str, Any]) -> str:
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), "null")
    if isinstance(kind, str):
        return kind.lower()
    return "object" if "properties" in schema else "string"


def _words(said: str) -> Iterator[str]:
    """What may be meant by a text field: quoted words first, then names."""
    quoted = _QUOTED.findall(said)
    yield from quoted
    first, *later = _NAME.findall(said) or [""]
    # The first word of a sentence is written like a name; it is the last guess.
    begins = bool(first) and said.lstrip().startswith(first)
    yield from (name for name in ([*later, first] if begins else [first, *later]) if name)
