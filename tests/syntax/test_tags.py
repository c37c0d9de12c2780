"""What holds for every syntax written as tags."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batches import each
from canonicall.request import Tool
from canonicall.syntax.registry import get_syntax
from canonicall.syntax.scanner import TextScanner
from syntax.tag_syntaxes import NAMES, WEATHER, call, codes, printed, read, said, streamed_arguments

# Every law runs for every syntax, so each has fewer examples.
a_few = settings(max_examples=20)
each_syntax = pytest.mark.parametrize("syntax", NAMES)
_TAG = re.compile(r"(<[^<>]*>|\n|]<]minimax\[>\[)")
_plain = st.text(st.characters(exclude_characters="<>[]|&", exclude_categories=["Cs"]))
_keys = st.text(st.sampled_from("abcxyz_0"), min_size=1, max_size=4).map("k".__add__)


def _tool(args):
    """A tool that takes these texts."""
    return Tool("f", parameters={"properties": {key: {"type": "string"} for key in args}})


@a_few
@given(args=st.dictionaries(_keys, _plain, max_size=3))
@each("syntax", NAMES)
def test_values_without_tags_can_always_be_said(syntax, args):
    text = printed(syntax, call("f", **args), call("f", **args))
    assert said(read(text, syntax, [_tool(args)])) == [("f", args), ("f", args)]


@each_syntax
@a_few
@given(data=st.data())
def test_tags_in_any_order_are_read_alike_in_any_pieces(syntax, data):
    """The same for the tags of a call in any order, and with other text between them."""
    tags = _TAG.split(printed(syntax, call(city="Oslo", days=2), call(note="null")))
    others = [
        "text",
        '{"city": "x"}',
        " ",
        " " * 300,
        "</think>",
        "<",
        "{",
        "/",
        ">",
        "null",
        "\\n",
    ]
    drawn = data.draw(st.lists(st.sampled_from([*filter(None, tags), *others]), max_size=20))
    read(
        printed(syntax, call(city="Oslo"))[: data.draw(st.integers(0, 80))] + "".join(drawn), syntax
    )


@each_syntax
def test_types_come_from_the_schema(syntax):
    args = {"city": "12", "days": 3, "options": {"deep": [1, None]}, "note": None}
    parsed = read(f"So: {printed(syntax, call(**args))} Done.", syntax)
    if syntax == "muse_glimmer_atem":
        parsed = read(printed(syntax, call(**args)), syntax)
    assert said(parsed) == [("weather", args)]
    assert not codes(parsed)
    assert json.loads(parsed.calls[0].raw or "") == args


@each_syntax
def test_several_calls(syntax):
    calls = [call(city="Oslo"), call(), call(city="Bergen", days=1)]
    parsed = read(printed(syntax, *calls), syntax)
    assert said(parsed) == [("weather", one.args) for one in calls]
    assert not parsed.text


@each_syntax
def test_a_call_that_is_cut_is_kept_and_marked(syntax):
    text = printed(syntax, call(city="Oslo", note="Tromso"))
    for cut in ("Tro", "Trom", "Troms"):
        parsed = read(text[: text.index(cut) + len(cut)], syntax)
        assert said(parsed) == [("weather", {"city": "Oslo", "note": cut})]
        assert parsed.calls[0].truncated


@each_syntax
def test_strings_stream_as_they_come(syntax):
    """No more is held back than a tag and what may follow it."""
    text = printed(syntax, call(city="x" * 500))
    begin = text.index("x" * 500)
    scanner = TextScanner(syntax, tools=[WEATHER])
    scanner.feed(text[:begin])
    assert len(streamed_arguments(scanner, "x" * 300)) >= 300


@each_syntax
def test_tools_that_were_not_offered(syntax):
    """Called with a finding; where the tags are no tokens it is no call, and stays text."""
    text = printed(syntax, call("unknown", city="Oslo"))
    parsed = read(text, syntax)
    if get_syntax(syntax).is_marked:
        assert said(parsed) == [("unknown", {"city": "Oslo"})]
        assert "tool_unknown" in codes(parsed)
    else:
        assert not parsed.calls
        assert "Oslo" in parsed.text


@pytest.mark.parametrize(
    ("syntax", "text"),
    [
        ("glm45_xml", "<tool_call>weather<arg_key>city</arg_key><arg_value>Oslo</tool_call>"),
        ("glm45_xml", "<tool_call>weather<arg_key>city</arg_key><arg_value>Oslo</arg_value>"),
        ("qwen3_coder_xml", "<function=weather><parameter=city>Oslo</parameter>"),
        ("qwen3_coder_xml", "<tool_call><function=weather><parameter=city>Oslo</function>"),
        ("minimax_m2", '<invoke name="weather"><parameter name="city">Oslo</parameter>'),
    ],
)
def test_the_end_of_the_turn_ends_a_call_whose_tags_are_missing(syntax, text):
    """And the call is whole: the model has said that it had nothing to add."""
    for end in get_syntax(syntax).noise:
        parsed = read(f"{text}\n{end}", syntax)
        assert said(parsed) == [("weather", {"city": "Oslo"})]
        assert (parsed.calls[0].truncated, parsed.text, codes(parsed)) == (False, "", [])
