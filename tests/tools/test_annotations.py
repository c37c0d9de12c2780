"""Annotations of every kind: the schema a model gets, and the value the function gets."""

import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum, IntEnum
from pathlib import Path, PurePosixPath
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NamedTuple,
    NewType,
    Optional,
    TypedDict,
    TypeVar,
)
from uuid import UUID

import jsonschema_rs
import msgspec
import pytest
from msgspec import Meta, Struct
from pydantic import BaseModel, Field

from batches import each
from canonicall import InvalidArguments, InvalidValue, tool

T = TypeVar("T")


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Mixed(Enum):
    ONE = 1
    TEXT = "x"
    HALF = 0.5


class Options(TypedDict, total=False):
    depth: int


class Point(NamedTuple):
    x: int
    y: int = 0


@dataclass
class Cat:
    name: str


@dataclass
class Dog:
    name: str
    tricks: list[str]


@dataclass
class Node:
    value: int
    next: Optional["Node"] = None


@dataclass
class Box(Generic[T]):
    held: T


class Place(Struct, forbid_unknown_fields=True):
    """Where it is."""

    city: str
    zip: Annotated[str, Meta(pattern="^[0-9]{4}$")] = "4051"


class Leg(BaseModel):
    length: int = Field(ge=1)


class Animal(BaseModel):
    legs: list[Leg]
    parent: Optional["Animal"] = None


class Name(str):
    __slots__ = ()


class Count(int):
    pass


class Share(float):
    pass


UserId = NewType("UserId", int)


def taking(annotation):
    """A tool with one parameter of this annotation; it gives back what it got."""

    def give(value):
        return value

    give.__annotations__ = {"value": annotation}
    return tool(give)


def schema_of(annotation):
    return taking(annotation).parameters["properties"]["value"]


CASES = [
    (str, "a", "a"),
    (int, 3, 3),
    (int, 3.0, 3),
    (float, 3, 3.0),
    (bool, True, True),
    (Any, {"a": [None]}, {"a": [None]}),
    (object, 1, 1),
    (int | None, None, None),
    (int | str | None, "x", "x"),
    (Literal["a", 1], 1, 1),
    (Color, "red", Color.RED),
    (Level, 2, Level.HIGH),
    (Mixed, 0.5, Mixed.HALF),
    (Mixed | None, "x", Mixed.TEXT),
    (Mixed | list[int], [1], [1]),
    (list[int], [1, 2.0], [1, 2]),
    (Sequence[str], ["a"], ["a"]),
    (Iterable[int], [1], [1]),
    (set[str], ["a", "b"], {"a", "b"}),
    (frozenset[int], [1], frozenset({1})),
    (tuple[int, str], [1, "a"], (1, "a")),
    (tuple[int, ...], [1, 2], (1, 2)),
    (dict[str, list[int]], {"a": [1]}, {"a": [1]}),
    (dict[int, str], {"1": "a"}, {1: "a"}),
    (Options, {"depth": 1}, {"depth": 1}),
    (Point, [1], Point(1, 0)),
    (date, "2026-01-02", date(2026, 1, 2)),
    (datetime, "2026-01-02T03:04:05", datetime(2026, 1, 2, 3, 4, 5)),  # noqa: DTZ001  # as it came
    (UUID, "12345678-1234-5678-1234-567812345678", UUID("12345678-1234-5678-1234-567812345678")),
    (Decimal, "1.10", Decimal("1.10")),
    (bytes, "aGk=", b"hi"),
    (Path, "a/b", Path("a/b")),
    (PurePosixPath | None, "a/b", PurePosixPath("a/b")),
    (list[Path] | Path, "a", Path("a")),
    (Cat, {"name": "cat"}, Cat("cat")),
    (Dog | Cat, {"name": "cat"}, Cat("cat")),
    (Dog | Cat, {"name": "dog", "tricks": []}, Dog("dog", [])),
    (list[Dog | Cat | None], [None, {"name": "cat"}], [None, Cat("cat")]),
    (datetime | str, "soon", "soon"),
    (Node, {"value": 1, "next": {"value": 2}}, Node(1, Node(2))),
    (Box[int], {"held": 1}, Box(1)),
    (Box[list[Cat]], {"held": [{"name": "cat"}]}, Box([Cat("cat")])),
    (Place, {"city": "Basel"}, Place("Basel")),
    (UserId, 7, 7),
    (Name, "x", Name("x")),
    (Count, 3, Count(3)),
    (Share | None, 0.5, Share(0.5)),
    (Annotated[int, Meta(ge=1)], 1, 1),
    (Annotated[list[int], Field(min_length=1)], [1], [1]),
    (Animal, {"legs": [{"length": 1}]}, Animal(legs=[Leg(length=1)])),
    (list[Animal | int], [1, {"legs": []}], [1, Animal(legs=[])]),
]


def names_of(cases):
    """Names that are the same in every process: the values have sets among them."""
    return [f"{number}-{str(annotation)[:50]}" for number, (annotation, *_) in enumerate(cases)]


@each(("annotation", "given", "value"), CASES, ids=names_of(CASES))
def test_a_value_is_accepted_by_the_schema_and_becomes_what_the_annotation_says(
    annotation, given, value
):
    made = taking(annotation)
    assert jsonschema_rs.is_valid(made.parameters, {"value": given})
    got = made.call({"value": given})
    assert got == value
    assert type(got) is type(value)


BAD = [
    (int, 3.5, "value"),
    (int, True, "value"),
    (str, 1, "value"),
    (Color, "green", "value"),
    (Mixed, True, "value"),
    (Mixed, "y", "value"),
    (list[int], [1, "x"], "value[1]"),
    (tuple[int, str], [1], "value"),
    (dict[str, list[int]], {"a": ["x"]}, "value[...][0]"),
    (Node, {"value": 1, "next": {"value": "x"}}, "value.next.value"),
    (Place, {"city": "Basel", "zip": "x"}, "value.zip"),
    (Place, {"city": "Basel", "country": "x"}, "value"),
    (Dog | Cat, {"tricks": []}, "value"),
    (Annotated[int, Field(ge=1)], 0, "value"),
    (Animal, {"legs": [{"length": 0}]}, "value"),
    (Path, 3, "value"),
    (Count, "x", "value"),
]


@pytest.mark.parametrize(("annotation", "given", "where"), BAD, ids=names_of(BAD))
def test_a_bad_value_is_refused_by_both_with_its_path(annotation, given, where):
    made = taking(annotation)
    assert not jsonschema_rs.is_valid(made.parameters, {"value": given})
    with pytest.raises(InvalidArguments) as caught:
        made.call({"value": given})
    assert (caught.value.tool, caught.value.where) == ("give", f"args.{where}")


@pytest.mark.parametrize(
    ("annotation", "given"),
    [
        (date, "soon"),
        (datetime, "soon"),
        (UUID, "x"),
        (Decimal, "x"),
        (bytes, "?"),
        (dict[int, str], {"a": "b"}),
    ],
    ids=str,
)
def test_what_a_schema_cannot_say_is_refused_by_the_conversion(annotation, given):
    made = taking(annotation)
    assert jsonschema_rs.is_valid(made.parameters, {"value": given})
    with pytest.raises(InvalidArguments, match="args"):
        made.call({"value": given})


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (datetime, {"type": "string", "format": "date-time"}),
        (date, {"type": "string", "format": "date"}),
        (Annotated[int, "How many."], {"type": "integer", "description": "How many."}),
        (
            Annotated[list[Annotated[str, "One."]], Meta(description="All.", max_length=3)],
            {
                "type": "array",
                "items": {"type": "string", "description": "One."},
                "maxItems": 3,
                "description": "All.",
            },
        ),
        (
            Annotated[int, Field(description="Many.", ge=1, lt=9)],
            {"type": "integer", "minimum": 1, "exclusiveMaximum": 9, "description": "Many."},
        ),
        (
            datetime | str,
            {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "string"}]},
        ),
        (Mixed, {"enum": [1, "x", 0.5]}),
        (Path, {"type": "string"}),
        (Any, {}),
    ],
    ids=str,
)
def test_the_schema_says_what_is_meant(annotation, schema):
    assert schema_of(annotation) == schema


def test_definitions_are_shared_and_recursive():
    parameters = taking(list[Node | Animal]).parameters
    assert set(parameters["$defs"]) == {"Node", "Animal.Animal", "Animal.Leg"}
    assert parameters["properties"]["value"]["items"]["anyOf"][0] == {"$ref": "#/$defs/Node"}
    jsonschema_rs.meta.validate(parameters)


def test_two_classes_of_one_name_keep_their_own_definitions():
    def first():
        class Item(BaseModel):
            size: Leg

        return Item

    def second():
        class Item(BaseModel):
            weight: Leg

        return Item

    made = taking(dict[str, first() | second()])
    for given, is_valid in (({"size": {"length": 1}}, True), ({"weight": {"length": 0}}, False)):
        assert jsonschema_rs.is_valid(made.parameters, {"value": {"a": given}}) is is_valid


@pytest.mark.parametrize("annotation", [complex, type, list[complex]], ids=str)
def test_what_has_no_form_in_json_is_refused_when_the_tool_is_made(annotation):
    with pytest.raises(InvalidValue, match=r"give: .*no JSON Schema.*tool_from_schema"):
        taking(annotation)


def test_hostile_depth_is_refused_not_crashed_on():
    deep: Any = {"value": 1}
    for _ in range(100_000):
        deep = {"value": 1, "next": deep}
    with pytest.raises(InvalidArguments, match="nested too deeply"):
        taking(Node).call({"value": deep})


@pytest.mark.parametrize("annotation", [Any, list[Any], dict[str, Any], Place, Animal])
def test_hostile_depth_beside_a_fault_is_refused_too(annotation):
    """Looking for 3.0 in place of 3 goes as deep as the value does."""
    deep: Any = 1.0
    for _ in range(100_000):
        deep = [deep]

    def give(value, number: int): ...

    give.__annotations__["value"] = annotation
    with pytest.raises(InvalidArguments):
        tool(give).call({"value": deep, "number": "x"})


def test_metadata_without_a_hash_is_no_obstacle():
    annotation = Annotated[str, Meta(examples=[["a"]])] | Annotated[date, Meta(examples=[{}])]
    assert taking(annotation).call({"value": "x"}) == "x"


def test_a_class_whose_fields_cannot_be_told_apart_is_refused_in_words():
    @dataclass
    class Pet:
        kind: Cat | Dog

    for annotation in (Pet, Pet | None, list[Pet]):
        with pytest.raises(InvalidValue, match="more than one dataclass"):
            taking(annotation)


def test_no_library_of_others_is_loaded():
    program = (
        "import sys\nfrom canonicall import tool\n"
        "@tool\ndef f(a: int, b: list[str]): ...\nf.call({'a': 1, 'b': []})\n"
        "print({'pydantic', 'mcp', 'annotated_types'} & set(sys.modules))"
    )
    shown = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == "set()"


def test_arguments_are_converted_by_msgspec():
    """The words of its errors, and its structs as they are."""
    with pytest.raises(InvalidArguments, match=r"^args\.value: Expected `int`, got `str`\.$"):
        taking(int).call({"value": "x"})
    assert isinstance(taking(Place).call({"value": {"city": "Bern"}}), msgspec.Struct)
