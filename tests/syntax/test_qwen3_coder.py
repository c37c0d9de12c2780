"""Qwen3-Coder and Seed-OSS: what models leave out, and what stands in values."""

import pytest

from canonicall.folding import fold
from canonicall.request import Tool
from canonicall.syntax.declaration import Syntax
from canonicall.syntax.registry import get_syntax
from canonicall.syntax.scanner import TextScanner
from syntax.tag_syntaxes import WEATHER, call, codes, printed, read, said

SYNTAX = "qwen3_coder_xml"


def test_the_form_of_the_template():
    text = printed(SYNTAX, call(city="Oslo", days=2))
    assert text == (
        "<tool_call>\n<function=weather>\n<parameter=city>\nOslo\n</parameter>\n"
        "<parameter=days>\n2\n</parameter>\n</function>\n</tool_call>"
    )


def test_text_around_calls_is_kept():
    text = f"First. {printed(SYNTAX, call(city='A'))} Then. {printed(SYNTAX, call(city='B'))} End."
    parsed = read(text, SYNTAX)
    assert said(parsed) == [("weather", {"city": "A"}), ("weather", {"city": "B"})]
    assert parsed.text.split() == ["First.", "Then.", "End."]


@pytest.mark.parametrize(
    "text",
    [
        "<function=weather><parameter=city>Oslo</parameter></function>",
        "<function=weather><parameter=city>Oslo</parameter></function></tool_call>",
        "<tool_call><function=weather><parameter=city>Oslo</parameter></tool_call>",
        "<tool_call><function=weather><parameter=city>Oslo</function></tool_call>",
        "<tool_call><function=weather><parameter=city>Oslo</tool_call>",
        '<tool_call><function="weather"><parameter="city">Oslo</parameter></function></tool_call>',
        '<tool_call><function name="weather"><parameter name="city">Oslo</parameter></function>',
        "<tool_call><function=weather\n<parameter=city>Oslo</parameter></function></tool_call>",
        '<tool_call><function=weather>{"city": "Oslo"}</function></tool_call>',
        '<tool_call>{"name": "weather", "arguments": {"city": "Oslo"}}</tool_call>',
        "<tool_call><tool_call><function=weather><parameter=city>Oslo</parameter></function>",
        "<function=weather><parameter=city>Oslo</parameter></function></function></tool_c",
        "<tool_call>function=weather>\n<parameter=city>Oslo</parameter></function></tool_call>",
        '<tool_call><invoke name="weather"><parameter name="city">Oslo</parameter></invoke></tool_call>',
    ],
)
def test_calls_with_something_missing_or_written_otherwise(text):
    parsed = read(text, SYNTAX)
    assert said(parsed) == [("weather", {"city": "Oslo"})]
    assert not parsed.calls[0].truncated
    assert not parsed.text


@pytest.mark.parametrize(
    ("body", "arguments", "words"),
    [
        ("<parameter>city</parameter>\nOslo\n", {"city": "Oslo"}, ""),
        ("<parameter>city</parameter>Oslo</parameter>", {"city": "Oslo"}, ""),
        ("<parameter>city</parameter>a </parameter> b\n", {"city": "a </parameter> b"}, ""),
        (
            "<parameter>city</parameter>\nOslo\n<parameter>days</parameter>\n2\n</parameter>\n",
            {"city": "Oslo", "days": 2},
            "",
        ),
        (
            "<parameter>city</parameter>Oslo<parameter=days>2</parameter>",
            {"city": "Oslo", "days": 2},
            "",
        ),
        ("<parameter>Oslo</parameter>", {}, "Oslo"),
        ("<parameter>no name</parameter>Oslo", {}, "no name</parameter>Oslo"),
        ("<parameter>other</parameter>Oslo", {}, "other</parameter>Oslo"),
    ],
)
def test_a_name_inside_of_the_tag_names_what_stands_behind_it(body, arguments, words):
    parsed = read(f"<tool_call><function=weather>{body}</function></tool_call>", SYNTAX)
    assert said(parsed) == [("weather", arguments)]
    assert parsed.text == words


def test_words_in_a_tag_that_is_not_closed_are_not_lost():
    text = 'Write <function name="weather" and more\n</function> there.'
    parsed = read(text, SYNTAX)
    assert (parsed.calls, parsed.text, codes(parsed)) == ((), text, ["call_unreadable"])
    text = '<function=weather><parameter name="city" and more\nOslo</parameter></function>'
    parsed = read(text, SYNTAX)
    assert said(parsed) == [("weather", {"city": "Oslo"})]
    assert (parsed.text, codes(parsed)) == ("and more", ["text_in_call"])


def test_a_missing_end_of_a_value_is_told_by_the_next_argument_of_the_tool():
    text = "<function=weather><parameter=city>a <parameter=x> b<parameter=days>2</function>"
    assert said(read(text, SYNTAX)) == [("weather", {"city": "a <parameter=x> b", "days": 2})]
    unknown = said(read(text, SYNTAX, None))
    assert unknown == [("weather", {"city": "a ", "x": " b", "days": "2"})]


@pytest.mark.parametrize(
    "value",
    [
        "a </parameter> b",
        "</function> and </tool_call>",
        "</parameter",
        "\n\nlines\n\n",
        "<div>{'a': \"b\"}</div> & co",
        "</parameter>" + " " * 300 + "</function>",
    ],
)
def test_values_may_contain_tags_that_end_nothing(value):
    assert said(read(printed(SYNTAX, call(city=value)), SYNTAX)) == [("weather", {"city": value})]


def test_a_call_in_a_thought_ends_it():
    parsed = read(f"<think>So {printed(SYNTAX, call(city='Oslo'))}", SYNTAX)
    assert parsed.thinking == "So"
    assert said(parsed) == [("weather", {"city": "Oslo"})]


def test_what_is_no_call_is_text():
    for text in ("<tool_call><terminal>ls</tool_call>", "<function=>x", "a <functions> b"):
        parsed = read(text, SYNTAX)
        assert parsed.text == text
        assert not parsed.calls


def test_an_empty_block_says_nothing():
    parsed = read("<tool_call>\n</tool_call>Hello", SYNTAX)
    assert parsed.text == "Hello"
    assert codes(parsed) == ["call_unreadable"]


def test_a_bad_block_does_not_spoil_the_next():
    bad = "<tool_call><function=></function></tool_call>"
    parsed = read(bad + printed(SYNTAX, call(city="Oslo")), SYNTAX)
    assert said(parsed) == [("weather", {"city": "Oslo"})]
    assert parsed.text == bad


def test_words_between_arguments_are_kept():
    text = "<function=weather>hm <parameter=city>Oslo</parameter></function>"
    parsed = read(text, SYNTAX)
    assert said(parsed) == [("weather", {"city": "Oslo"})]
    assert parsed.text.strip() == "hm"
    assert codes(parsed) == ["text_in_call"]


def test_mended_values_are_told():
    tool = Tool("f", parameters={"properties": {"a": {"type": "object"}}})
    parsed = read("<function=f><parameter=a>{'b': True}</parameter></function>", SYNTAX, [tool])
    assert said(parsed) == [("f", {"a": {"b": True}})]
    assert codes(parsed) == ["arguments_repaired"]


def test_a_value_that_waits_is_left_out_when_cut():
    parsed = read("<function=weather><parameter=city>Oslo</parameter><parameter=days>12", SYNTAX)
    assert said(parsed) == [("weather", {"city": "Oslo"})]
    assert parsed.calls[0].truncated


def test_seed_oss_has_its_own_tags():
    text = "<seed:think>Hm.</seed:think>" + printed("seed_oss", call(city="Oslo\n"))
    parsed = read(text, "seed_oss", [WEATHER])
    assert parsed.thinking == "Hm."
    assert said(parsed) == [("weather", {"city": "Oslo\n"})]
    assert "<seed:tool_call>" in text


def test_the_same_opening_tag_of_three_syntaxes_is_told_apart():
    """By what comes next: JSON, a function's tag, or a name."""
    names = ("hermes", SYNTAX, "glm45_xml")
    openers = tuple(opener for name in names for opener in get_syntax(name).openers)
    together = Syntax(name="together", openers=openers)
    for name in names:
        text = printed(name, call(city="Oslo"))
        for pieces in ([text], text):
            scanner = TextScanner(together, tools=[WEATHER])
            events = [event for piece in pieces for event in scanner.feed(piece)]
            reply = fold([*events, *scanner.close()])
            assert [(one.name, one.args) for one in reply.calls] == [("weather", {"city": "Oslo"})]
