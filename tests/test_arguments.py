"""The two forms of arguments: what is parsed, what is written, and what counts if they differ."""

import pytest

from canonicall import ToolCall
from canonicall.arguments import (
    agreeing,
    arguments_of,
    arguments_text,
    is_cut,
    parse_arguments,
    with_arguments,
    with_object,
)

CUSTOM = ToolCall(name="shell", raw="ls", kind="custom")


@pytest.mark.parametrize(
    ("raw", "args"),
    [
        (None, {}),
        ("", {}),
        ('""', {}),
        ('"null"', {}),
        ("null\n", {}),
        ('"{\\"a\\": 1}"', {"a": 1}),
        ('{"a": 1e400}', None),
        ('{"a": NaN}', None),
        ('{"a": 1} ', {"a": 1}),
        ('{"a": 1}x', None),
        ("{" * 100_000, None),
        ('{"a":' * 300 + "1" + "}" * 300, None),
    ],
)
def test_what_a_text_means(raw, args):
    assert parse_arguments(raw) == args


def test_a_replaced_character_is_reported_at_its_place():
    findings = []
    call = with_arguments(ToolCall(name="f", raw='{"a": [{"b": "x\\ud83d"}]}'), findings)
    assert call.args == {"a": [{"b": "x\ufffd"}]}
    assert call.raw == '{"a": [{"b": "x\\ud83d"}]}'
    assert [(one.code, one.where) for one in findings] == [("lone_surrogate", "args.a[0].b")]


def test_nothing_is_parsed_that_is_parsed_already():
    findings = []
    for call in (ToolCall(name="f", args={"a": 1}, raw="{"), CUSTOM):
        assert with_arguments(call, findings) is call
    assert findings == []


@pytest.mark.parametrize(
    ("raw", "cut"),
    [
        ('{"a": ', True),
        ('{"a": 1', True),
        ("[1,", True),
        ('"x', True),
        (' {"a": "b', True),
        ('{"a": 1}', False),
        ("[1,2]", False),
        ('"x"', False),
        ("5", False),
        ("tru", False),
        ("sunny", False),
        ("{'a': 1", False),
        ('{"a": 1}}', False),
        ("", False),
    ],
)
def test_only_text_that_ends_inside_its_json_was_cut(raw, cut):
    call = with_arguments(ToolCall(name="f", raw=raw), [])
    assert is_cut(call) is cut
    assert is_cut(ToolCall(name="f", raw=raw, truncated=True))
    assert not is_cut(ToolCall(name="f", raw=raw, kind="custom"))


@pytest.mark.parametrize(
    ("call", "args", "text"),
    [
        (ToolCall(args={"a": 1}), {"a": 1}, '{"a":1}'),
        (ToolCall(args={"a": 1}, raw='{ "a": 1 }'), {"a": 1}, '{ "a": 1 }'),
        (ToolCall(raw='{ "a": 1 }'), {"a": 1}, '{ "a": 1 }'),
        (ToolCall(args={}, raw="null"), {}, "{}"),
        (ToolCall(raw="null"), {}, "{}"),
        (ToolCall(raw="[1]"), {"_raw": "[1]"}, "[1]"),
        (CUSTOM, {"input": "ls"}, '{"input":"ls"}'),
        (ToolCall(kind="custom"), {"input": ""}, '{"input":""}'),
    ],
)
def test_what_is_written(call, args, text):
    assert arguments_of(call) == args
    assert arguments_text(call) == text
    whole = with_object(call)
    assert whole.args == args
    assert parse_arguments(arguments_text(whole)) == args


@pytest.mark.parametrize(
    ("call", "keeps"),
    [
        (ToolCall(args={"a": 1}, raw='{"a": 1}'), True),
        (ToolCall(args={"a": 1}, raw='"{\\"a\\": 1}"'), True),
        (ToolCall(args={"a": 2}, raw='{"a": 1}'), False),
        (ToolCall(args={"a": 2}, raw="{'a': 2}"), False),
        (ToolCall(args={"a": "x"}, raw='{"a": "x', truncated=True), True),
        (ToolCall(raw="{"), True),
        (CUSTOM, True),
    ],
)
def test_a_text_that_says_something_else_does_not_count(call, keeps):
    assert (agreeing(call) is call) is keeps
    assert agreeing(call).args == call.args
