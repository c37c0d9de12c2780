"""Annotations of parameters: as msgspec reads them, as JSON Schema, and values by them.

msgspec does nearly all of it. What it has no word for is put in terms it has: unions it cannot tell
apart become a choice that is tried in order, texts and constraints of others become its own, and
classes that know their schema themselves (pydantic's) are asked. Those are never imported here:
whoever annotates with one has it.
"""

from collections.abc import Iterable, Iterator
from enum import Enum
from types import GenericAlias, NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec
from msgspec import Meta

REF = "#/$defs/{name}"
_CONTAINERS = (list, dict, set, frozenset, tuple)
_CONSTRAINTS = ("ge", "gt", "le", "lt", "multiple_of", "min_length", "max_length", "pattern")
_TEXTS = ("description", "documentation")
"""Where metadata of others has its words: pydantic's Field, typing's Doc."""
_HINTS = {("datetime", "datetime"): "date-time", ("datetime", "time"): "time"}
"""Formats that msgspec leaves out, because a zone may be missing; a model needs the hint."""


class _AnyInstance(type):
    """msgspec asks whether what was made is an instance; an alternative is of any class."""

    def __instancecheck__(cls, instance: object) -> bool:
        return True


class Choice(metaclass=_AnyInstance):
    """A union of which msgspec cannot tell the alternatives apart: the first that fits is taken."""

    options: tuple[Any, ...] = ()


class Member(metaclass=_AnyInstance):
    """A member of an enum whose values msgspec does not take, because they are of several kinds."""

    enum: type[Enum] = Enum


def readable(annotation: Any) -> Any:
    """`annotation` in terms that msgspec knows."""
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _annotated(args[0], args[1:])
    if origin in (Union, UnionType):
        return _union(tuple(readable(one) for one in args))
    if origin in (Iterable, Iterator):
        return readable(GenericAlias(list, args))
    if origin in _CONTAINERS:
        return origin[tuple(one if one is ... else readable(one) for one in args)]
    return _class(annotation) if isinstance(annotation, type) else annotation


def _class(kind: type) -> Any:
    if kind is object:
        return Any
    format = _HINTS.get((kind.__module__, kind.__name__))
    if format is not None:
        return Annotated[kind, Meta(extra_json_schema={"format": format})]
    if issubclass(kind, Enum) and not _is_taken(kind):
        return _AnyInstance("Member", (Member,), {"enum": kind})
    return kind


def _annotated(inner: Any, metadata: tuple[Any, ...]) -> Any:
    made = readable(inner)
    for one in metadata:
        for part in (one, *_parts_of(one)):
            meta = part if isinstance(part, Meta) else _meta_of(part)
            made = made if meta is None else Annotated[made, meta]
    return made


def _parts_of(metadata: Any) -> list[Any]:
    """The constraints that one piece of metadata is made of."""
    parts = getattr(metadata, "metadata", None)
    return list(parts) if isinstance(parts, (list, tuple)) else []


def _meta_of(metadata: Any) -> Meta | None:
    """Metadata of others in msgspec's own, as far as it says something of the value."""
    if isinstance(metadata, str):
        return Meta(description=metadata)
    found = {name: getattr(metadata, name, None) for name in _CONSTRAINTS}
    found["description"] = next(
        (text for name in _TEXTS if isinstance(text := getattr(metadata, name, None), str)), None
    )
    given = {name: value for name, value in found.items() if value is not None}
    return Meta(**given) if given else None


def _union(members: tuple[Any, ...]) -> Any:
    whole = Union[members]  # type: ignore[valid-type]  # noqa: UP007  # made from values
    if _is_taken(whole):
        return whole
    options = tuple(one for one in members if one is not NoneType)
    choice = _AnyInstance("Choice", (Choice,), {"options": options})
    return choice | None if NoneType in members else choice


def _is_taken(annotation: Any) -> bool:
    try:
        msgspec.json.Decoder(annotation)
    except TypeError:
        return False
    return True


def value_as(kind: Any, value: Any) -> Any:
    """A JSON value as a class that msgspec does not know. Raises ValueError where it is none."""
    if not isinstance(kind, type):
        raise NotImplementedError(kind)
    make: Any = kind
    if issubclass(kind, Choice):
        return _chosen(kind.options, value)
    if issubclass(kind, Member):
        return _member(kind.enum, value)
    if _is_model(kind):
        return _validated(kind, value)
    if issubclass(kind, str) or hasattr(kind, "__fspath__"):
        return make(_as_plain(str, value))
    for plain in (int, float):
        if issubclass(kind, plain):
            return make(_as_plain(plain, value))
    raise NotImplementedError(kind)


def _as_plain(kind: type, value: Any) -> Any:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        # To an error of its own, msgspec would not add the path.
        raise ValueError(str(error)) from None


def _chosen(options: tuple[Any, ...], value: Any) -> Any:
    said = []
    for option in options:
        try:
            return msgspec.convert(value, option, dec_hook=value_as, str_keys=True)
        except msgspec.ValidationError as error:
            said.append(str(error))
    raise ValueError(said[0] if len(said) == 1 else f"Fits none of its forms: {'; '.join(said)}")


def _member(kind: type[Enum], value: Any) -> Enum:
    for member in kind:
        # 1 and True are equal in Python, and two things in JSON.
        if member.value == value and isinstance(member.value, bool) == isinstance(value, bool):
            return member
    raise ValueError(f"Expected one of {', '.join(repr(one.value) for one in kind)}")


def _is_model(kind: type) -> bool:
    return hasattr(kind, "model_json_schema") and hasattr(kind, "model_validate_json")


def _validated(kind: Any, value: Any) -> Any:
    try:
        return kind.model_validate_json(msgspec.json.encode(value))
    except ValueError as error:
        found = getattr(error, "errors", None)
        if not callable(found):
            raise
        told = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in found()[:5]]
        raise ValueError("; ".join(told)) from None


class Schemas:
    """The JSON Schema of a type, with the definitions it refers to."""

    def __init__(self, kind: Any) -> None:
        self._open: list[tuple[tuple[Any, ...], list[Any]]] = []
        """Choices whose alternatives are yet to be written: all at once, so that names are one's
        own."""
        self._models: dict[str, Any] = {}
        self._own: dict[str, Any] = {}
        choices: dict[int, Any] = {}
        while True:
            self._open, self._models, self._own = [], {}, {}
            (root, *written), defs = msgspec.json.schema_components(
                (kind, *choices.values()), schema_hook=self._hook, ref_template=REF
            )
            # By identity: annotations with metadata may have no hash.
            found = {id(one): one for options, _ in self._open for one in options}
            if found.keys() <= choices.keys():
                break
            choices = found
        by_option = dict(zip(choices, written, strict=True))
        for options, place in self._open:
            place += [by_option[id(one)] for one in options]
        self.root: dict[str, Any] = root
        self.defs: dict[str, Any] = {**defs, **self._own}

    def _hook(self, kind: Any) -> dict[str, Any]:
        if not isinstance(kind, type):
            raise NotImplementedError(kind)
        if issubclass(kind, Choice):
            place: list[Any] = []
            self._open.append((kind.options, place))
            return {"anyOf": place}
        if issubclass(kind, Member):
            return {"enum": [one.value for one in kind.enum]}
        if _is_model(kind):
            return self._model(kind)
        if issubclass(kind, str) or hasattr(kind, "__fspath__"):
            return {"type": "string"}
        for plain, name in ((int, "integer"), (float, "number")):
            if issubclass(kind, plain):
                return {"type": name}
        raise NotImplementedError(kind)

    def _model(self, kind: Any) -> dict[str, Any]:
        """The schema of a class that knows it. Its definitions get names that nobody else has."""
        name = kind.__name__
        while self._models.setdefault(name, kind) is not kind:
            name += "_"
        schema: dict[str, Any] = kind.model_json_schema(ref_template=f"#/$defs/{name}.{{model}}")
        for inner, held in schema.pop("$defs", {}).items():
            self._own[f"{name}.{inner}"] = held
        return schema
