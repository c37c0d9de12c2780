"""The request types of an SDK as a judge: what a body has that the types do not say is refused.

Left to itself, pydantic would let too much pass: unknown keys of a TypedDict are ignored, an
`Iterable` is read only when somebody iterates over it, and a number in quotes is a number. Here
the core schema of the types is rewritten first, so that a body has to be exactly what they say.
"""

import pytest

from judges.sources import MISSING

pydantic = pytest.importorskip("pydantic", reason=MISSING)
pydantic_core = pytest.importorskip("pydantic_core", reason=MISSING)

_OBJECTS = ("typed-dict", "model-fields")
_LEFT_OUT = ("metadata", "serialization")


class TypedJudge:
    """Judges values by a type. `models` says whether pydantic models in it describe JSON too.

    Where TypedDicts describe it, a model is an object that only a Python program can pass.
    """

    def __init__(self, type, *, models=False):
        schema = pydantic.TypeAdapter(type).core_schema
        self._models = models
        self._named = dict(_named(schema))
        self._validator = pydantic_core.SchemaValidator(self._strict(schema))

    def __call__(self, value):
        """What is wrong with `value`, a line each; nothing when it is right."""
        try:
            self._validator.validate_python(value, strict=True)
        except pydantic.ValidationError as error:
            return [_line(one) for one in error.errors()]
        return []

    def _strict(self, schema):
        if isinstance(schema, (list, tuple)):
            return type(schema)(self._strict(one) for one in schema)
        if not isinstance(schema, dict):
            return schema
        made = {name: self._strict(one) for name, one in schema.items() if name not in _LEFT_OUT}
        match made.get("type"):
            case "model" if self._models:
                made = made["schema"] | {name: made[name] for name in ("ref",) if name in made}
            case "function-before" if self._models:
                made = made["schema"]
            case "typed-dict" | "model-fields":
                made.pop("extras_schema", None)
                made["extra_behavior"] = "forbid"
            case "generator":
                made["type"] = "list"
            case "union":
                made = self._sorted_union(made)
        return made

    def _sorted_union(self, union):
        """The union with its choices in drawers, so that an error is about the right one only."""
        choices = [one[0] if isinstance(one, tuple) else one for one in union["choices"]]
        key = "type" if any(self._tags(one, "type") for one in choices) else "role"
        drawers = {}
        for choice in choices:
            for tag in self._tags(choice, key) or self._kinds(choice):
                drawers.setdefault(tag, []).append(choice)
        if None in drawers:
            return union
        return {name: union[name] for name in ("ref",) if name in union} | {
            "type": "tagged-union",
            "discriminator": lambda value: _drawer(value, key),
            "choices": {
                tag: held[0] if len(held) == 1 else {"type": "union", "choices": held}
                for tag, held in drawers.items()
            },
        }

    def _tags(self, choice, key):
        """The values of `key` that a choice of objects stands for."""
        schema = self._resolved(choice)
        field = schema.get("fields", {}).get(key) if schema["type"] in _OBJECTS else None
        if field is None:
            return ()
        inner, optional = field["schema"], not field.get("required", True)
        while inner["type"] in ("nullable", "default"):
            inner, optional = inner["schema"], True
        if inner["type"] != "literal":
            return ()
        return (*inner["expected"], *(["object"] if optional else []))

    def _kinds(self, choice):
        """What else a choice stands for; None where that is not to be told from outside."""
        known = {"str": ("str",), "list": ("list",), "none": ("NoneType",), "bool": ("bool",)}
        schema = self._resolved(choice)
        if _is_for_programs(schema):
            return ()
        if schema["type"] == "literal" and all(isinstance(o, str) for o in schema["expected"]):
            return ("str",)
        return known.get(schema["type"], (None,))

    def _resolved(self, schema):
        through = ("model", "function-before") if self._models else ()
        while schema["type"] in ("definition-ref", *through):
            by_name = schema["type"] == "definition-ref"
            schema = self._named[schema["schema_ref"]] if by_name else schema["schema"]
        return schema


def _is_for_programs(schema):
    """Models beside TypedDicts, alone or as a union of their own."""
    if schema["type"] == "tagged-union":
        return all(map(_is_for_programs, schema["choices"].values()))
    return schema["type"] == "model"


def _drawer(value, key):
    if isinstance(value, dict):
        return value.get(key) or "object"
    return type(value).__name__


def _named(schema):
    if isinstance(schema, dict):
        if "ref" in schema:
            yield schema["ref"], schema
        for one in schema.values():
            yield from _named(one)
    elif isinstance(schema, (list, tuple)):
        for one in schema:
            yield from _named(one)


def _line(error):
    where = ".".join(map(str, error["loc"]))
    return f"{where}: {error['msg']}, got {error['input']!r:.80}"
