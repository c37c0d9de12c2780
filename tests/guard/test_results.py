"""`result_blocks`: any Python value becomes the content of a result."""

import dataclasses
import datetime as dt
import decimal
import enum
import uuid
from collections import OrderedDict, deque
from types import MappingProxyType
from typing import NamedTuple

import msgspec
import pydantic
import pytest

from batches import each
from canonicall import Media, Outcome, Text, ToolCall, ToolResult, result_blocks

PNG = b"\x89PNG\r\n\x1a\n...."


@dataclasses.dataclass
class Point:
    x: int
    tags: set[str]


class Weather(pydantic.BaseModel):
    city: str
    day: dt.date


class Color(enum.Enum):
    RED = "red"


class Struct(msgspec.Struct, tag="s"):
    a: int


class Pair(NamedTuple):
    left: int
    right: int


class Opaque:
    """Says nothing of itself."""


class Rude:
    def __str__(self):
        raise RuntimeError

    def model_dump(self):
        raise RuntimeError


def text_of(value, **options):
    (block,) = result_blocks(value, **options).content
    return block.text


@each(
    ("value", "text"),
    [
        ("words", "words"),
        ("", ""),
        (42, "42"),
        (True, "true"),
        (1.5, "1.5"),
        ({"a": [1, None]}, '{"a":[1,null]}'),
        ([1, "a"], '[1,"a"]'),
        ((1, 2), "[1,2]"),
        ({3, 1, 2}, "[1,2,3]"),
        (frozenset({"b", "a"}), '["a","b"]'),
        (Point(1, {"b", "a"}), '{"x":1,"tags":["a","b"]}'),
        (
            Weather(city="Basel", day=dt.date(2026, 1, 2)),
            '{"city":"Basel","day":"2026-01-02"}',
        ),
        (Struct(1), '{"type":"s","a":1}'),
        (Pair(1, 2), '{"left":1,"right":2}'),
        (Color.RED, "red"),
        ({Color.RED: 1, 2: 3, None: 4, True: 5}, '{"red":1,"2":3,"null":4,"true":5}'),
        (dt.datetime(2026, 1, 2, 3, 4, tzinfo=dt.UTC), "2026-01-02T03:04:00Z"),
        (decimal.Decimal("1.10"), "1.10"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (OrderedDict(a=1), '{"a":1}'),
        (MappingProxyType({"a": 1}), '{"a":1}'),
        (deque([1]), "[1]"),
        (range(3), "[0,1,2]"),
        ({"a": b"bytes"}, '{"a":"bytes"}'),
        (b"plain output\n", "plain output\n"),
        (2**100, str(2**100)),
    ],
)
def test_values_that_json_or_text_can_say(value, text):
    """Without a finding: nothing is lost. The order of a set is always the same."""
    returned = result_blocks(value)
    assert returned.content == (Text(text=text),)
    assert (returned.error, returned.findings, returned.value) == (False, (), value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Opaque(), "<Opaque>"),
        ({"x": Opaque}, '{"x":"Opaque"}'),
        (Rude(), "<Rude>"),
        (float("nan"), "nan"),
        ([float("-inf")], '["-inf"]'),
        ({"a": b"\xff\xfe"}, '{"a":"//4="}'),
        ({1: "a", "1": "b"}, '{"1":"a","1 (str)":"b"}'),
        (1j, "1j"),
    ],
)
def test_what_has_no_form_is_told_as_text_and_reported(value, text):
    """Without the address in memory, which would differ in every process."""
    returned = result_blocks(value)
    assert returned.content[0].text == text
    assert {finding.code for finding in returned.findings} == {"value_as_text"}


def test_none_is_an_empty_result():
    assert result_blocks(None).content == ()


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (PNG, "image/png"),
        (bytearray(PNG), "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"RIFF....WEBP", "image/webp"),
        (b"%PDF-1.7", "application/pdf"),
        (b"\x00\x01\xff", "application/octet-stream"),
    ],
)
def test_bytes_are_media(data, media_type):
    (block,) = result_blocks(data).content
    assert isinstance(block, Media)
    assert block.media_type == media_type


def test_blocks_and_bytes_in_a_list_become_blocks_each():
    returned = result_blocks(["see:", PNG, Text(text="done"), {"a": 1}])
    assert [type(block).__name__ for block in returned.content] == ["Text", "Media", "Text", "Text"]


def test_a_result_keeps_its_content_and_its_error():
    given = ToolResult(content=(Text(text="no"),), error=True)
    returned = result_blocks(given)
    assert (returned.content, returned.error) == (given.content, True)


def test_an_exception_is_an_error_in_words():
    """Its type and its text, no traceback: the model has no use for the caller's files."""
    returned = result_blocks(FileNotFoundError("no such file: a.txt"))
    assert returned.error
    assert returned.content == (Text(text="FileNotFoundError: no such file: a.txt"),)
    result = returned.result(ToolCall(id="c", name="read"))
    assert (result.call_id, result.name, result.outcome) == ("c", "read", Outcome.FAILED)
    assert result_blocks(ValueError()).content == (Text(text="ValueError"),)


def test_long_results_are_shortened_and_the_value_is_kept():
    value = {"lines": "x" * 10_000}
    returned = result_blocks(value, limit=1_000)
    (block,) = returned.content
    assert len(block.text) <= 1_000
    assert block.text.startswith('{"lines":"xxx')
    assert block.text.endswith('xxx"}')
    assert [finding.code for finding in returned.findings] == ["result_shortened"]
    assert returned.value is value


def test_many_texts_are_bounded_together():
    returned = result_blocks([Text(text="x" * 100) for _ in range(1_000)], limit=500)
    assert sum(len(block.text) for block in returned.content) < 700
    assert {finding.code for finding in returned.findings} == {"result_shortened"}


def test_values_without_end_are_cut():
    """One that contains itself, and one that is nested more deeply than anybody reads."""
    loop: list[object] = []
    loop.append(loop)
    assert text_of(loop) == '["[circular]"]'
    deep: list[object] = []
    for _ in range(10_000):
        deep = [deep]
    assert text_of(deep) == "[" * 64 + '"[nested too deeply]"' + "]" * 64


def test_lone_surrogates_do_not_reach_a_provider():
    returned = result_blocks({"a": "\ud83d"})
    returned.content[0].text.encode()
    assert {finding.code for finding in returned.findings} == {"lone_surrogate"}
