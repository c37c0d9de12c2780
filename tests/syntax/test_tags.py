"""What holds for every syntax written as tags."""

import json
import re
from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from canonicall.errors import InvalidValue
from canonicall.folding import fold
from canonicall.request import Tool
from canonicall.syntax.registry import get_syntax
from canonicall.syntax.scanner import TextScanner
from syntax.tag_syntaxes import NAMES, WEATHER, call, codes, printed, read, said, streamed_arguments

# Every law runs for every syntax, so each has fewer examples.
a_few = settings(max_examples=40)
each_syntax = pytest.mark.parametrize("syntax", NAMES)
_tags = st.sampled_from(
    [
        *("<tool_call>", "</tool_call>", "<function=f>", "</function>", "<parameter=a>"),
        *("</parameter>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>", "</invoke>"),
        *('<invoke name="f">', '<parameter name="a">', "]<]minimax[>[", "</a>", "<a>", "<item>"),
        *("<|close|>argument<|sep|>", "<|eom|>", "</param>", "]]>", "<![CDATA[", "</think>"),
        *("\uff5cDSML\uff5c", "null", "\n", "</", "<"),
    ]
)
_TAG = re.compile(r"(<[^<>]*>|\n|]<]minimax\[>\[)")
_texts = st.lists(st.text(max_size=5) | _tags, max_size=6).map("".join)
_plain = st.text(st.characters(exclude_characters="<>[]|&", exclude_categories=["Cs"]))
_keys = st.text(st.sampled_from("abcxyz_0"), min_size=1, max_size=4).map("k".__add__)
_values = st.recursive(
    st.none() | st.booleans() | st.integers() | _texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_keys, inner, max_size=3),
    max_leaves=6,
)


def _tool(args):
    """A tool that takes these arguments."""
    return Tool("f", parameters=_schema_of(args))


def _schema_of(value):
    if isinstance(value, dict):
        return {"type": "object", "properties": {key: _schema_of(value[key]) for key in value}}
    if isinstance(value, list):
        return {"type": "array", "items": {"anyOf": [_schema_of(one) for one in value]}}
    return {"const": value}


@each_syntax
@a_few
@given(args=st.dictionaries(_keys, _values, max_size=3))
def test_printed_calls_are_read_again(syntax, args):
    """Whatever the arguments, they come back, or printing them is refused."""
    try:
        text = printed(syntax, call("f", **args))
    except InvalidValue:
        assume(False)
    assert said(read(text, syntax, [_tool(args)])) == [("f", args)]


@each_syntax
@a_few
@given(args=st.dictionaries(_keys, _plain, max_size=3))
def test_values_without_tags_can_always_be_said(syntax, args):
    text = printed(syntax, call("f", **args), call("f", **args))
    assert said(read(text, syntax, [_tool(args)])) == [("f", args), ("f", args)]


@each_syntax
@a_few
@given(text=_texts | st.text(), cuts=st.lists(st.integers(0, 40)))
def test_any_text_is_read_alike_in_any_pieces(syntax, text, cuts):
    """Never an exception, whatever the text, and the same in any pieces."""
    bounds = sorted({0, len(text), *(min(cut, len(text)) for cut in cuts)})
    scanner = TextScanner(syntax)
    events = []
    for begin, end in pairwise(bounds):
        events.extend(scanner.feed(text[begin:end]))
    assert fold([*events, *scanner.close()]) == read(text, syntax, None).reply


@each_syntax
@a_few
@given(st.data())
def test_damaged_calls_are_read_alike_in_any_pieces(syntax, data):
    """The same for printed calls from which something is missing."""
    text = printed(syntax, call(city="Oslo", days=2, options={"a": [1]}), call(city="Bergen"))
    begin, end = sorted(data.draw(st.tuples(*[st.integers(0, len(text))] * 2)))
    read(text[:begin] + text[end:], syntax)


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
