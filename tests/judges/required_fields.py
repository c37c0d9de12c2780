"""The response types of an SDK as a judge of what has to be in a reply: fields that are missing.

The SDKs leave a reply unchecked and read a missing field as None. Which fields are required is in
the order of their types all the same: the generator writes the required fields first, nullable ones
among them. So a field that may be None is required if one that may not follows it.
"""

from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import pytest

from judges.sources import MISSING

pydantic = pytest.importorskip("pydantic", reason=MISSING)


def missing(value: Any, kind: Any, where: str = "$") -> list[str]:
    """The places of all fields that the type requires and the value does not have."""
    origin, args = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return missing(value, args[0], where)
    if origin in (Union, UnionType):
        chosen = _chosen(value, args)
        return [] if chosen is None else missing(value, chosen, where)
    if isinstance(value, list) and origin is list:
        found = [missing(one, args[0], f"{where}[{at}]") for at, one in enumerate(value)]
        return [place for places in found for place in places]
    if not _is_model(kind):
        return []
    assert isinstance(value, dict), f"{where}: an object belongs here, not {value!r}"
    fields = kind.model_fields
    places = [f"{where}.{name}" for name in required(kind) if name not in value]
    for name in fields.keys() & value.keys():
        places += missing(value[name], fields[name].annotation, f"{where}.{name}")
    return places


def required(model: Any) -> list[str]:
    """The fields of a model up to the last one that may not be None."""
    names = list(model.model_fields)
    last = [at for at, name in enumerate(names) if model.model_fields[name].is_required()]
    return names[: last[-1] + 1] if last else []


def _chosen(value: Any, types: tuple[Any, ...]) -> Any:
    """The one of several types that an object is of, by the constants in it."""
    flat = [inner for one in types for inner in _flat(one)]
    if isinstance(value, list):
        return next((one for one in flat if get_origin(one) is list), None)
    if not isinstance(value, dict):
        return None
    fitting = [one for one in flat if _is_model(one) and _fits(value, one)]
    return fitting[0] if fitting else None


def _flat(kind: Any) -> list[Any]:
    if get_origin(kind) is Annotated:
        return _flat(get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType):
        return [inner for one in get_args(kind) for inner in _flat(one)]
    return [kind]


def _fits(value: dict[str, Any], model: Any) -> bool:
    return all(
        value.get(name) in get_args(field.annotation)
        for name, field in model.model_fields.items()
        if field.is_required() and get_origin(field.annotation) is Literal and name in value
    )


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, pydantic.BaseModel)
