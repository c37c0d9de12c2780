"""GLM-4.5 and those who write alike."""

import pytest

from canonicall.syntax.glm45 import hunyuan_v3_syntax
from canonicall.syntax.registry import register_syntax, unregister_syntax
from syntax.tag_syntaxes import call, codes, printed, read, said

SYNTAX = "glm45_xml"
ARGUMENT = "<arg_key>city</arg_key><arg_value>Oslo</arg_value>"


def test_the_form_of_the_template():
    assert printed(SYNTAX, call(city="Oslo")) == (
        "<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>\n</tool_call>"
    )


@pytest.mark.parametrize(
    "text",
    [
        f"<tool_call>weather{ARGUMENT}</tool_call>",
        f"<tool_call>\n weather \n{ARGUMENT}</tool_call>",
        f"<tool_call>weather\\n{ARGUMENT}\\n</tool_call>",
        "<tool_call>weather<arg_key>city</arg_key><arg_value>Oslo</tool_call>",
        "<tool_call>weather<arg_key>city</arg_key>\nOslo</arg_value></tool_call>",
        "<tool_call>weather<arg_key>city<arg_value>Oslo</arg_value></tool_call>",
        '<tool_call>{"name": "weather", "arguments": {"city": "Oslo"}}</tool_call>',
        '<tool_call>weather\n{"city": "Oslo"}\n</tool_call>',
        '<tool_call>weather{"city": "Oslo"}</tool_call>',
        '<tool_call>weather>{"city": "Oslo"}',
    ],
)
def test_calls_written_otherwise(text):
    parsed = read(text, SYNTAX)
    assert said(parsed) == [("weather", {"city": "Oslo"})]
    assert not parsed.text


def test_calls_without_arguments():
    for text in ("<tool_call>weather</tool_call>", "<tool_call>weather\n</tool_call>"):
        assert said(read(text, SYNTAX)) == [("weather", {})]


def test_a_name_alone_is_no_call():
    for text in ("<tool_call>weather", "<tool_call>of words</tool_call>", "<tool_call><a>"):
        parsed = read(text, SYNTAX)
        assert not parsed.calls
        assert parsed.text == text


def test_an_argument_without_value_is_left_out_and_told():
    text = f"<tool_call>weather<arg_key>days</arg_key>{ARGUMENT}</tool_call>"
    parsed = read(text, SYNTAX)
    assert said(parsed) == [("weather", {"city": "Oslo"})]
    assert codes(parsed) == ["arguments_repaired"]


def test_the_last_of_two_values_counts():
    text = f"<tool_call>weather{ARGUMENT}{ARGUMENT.replace('Oslo', 'Bergen')}</tool_call>"
    assert said(read(text, SYNTAX)) == [("weather", {"city": "Bergen"})]


def test_values_may_contain_tags_that_end_nothing():
    value = '</arg_value> and <arg_key>x</arg_key> and </tool_call> "\\n"'
    assert said(read(printed(SYNTAX, call(city=value)), SYNTAX)) == [("weather", {"city": value})]


def test_hunyuan_has_a_block_and_a_separator():
    text = printed("hunyuan_v3", call(city="Oslo"), call())
    assert text.startswith("<tool_calls>\n<tool_call>weather<tool_sep>\n")
    assert said(read(text, "hunyuan_v3")) == [("weather", {"city": "Oslo"}), ("weather", {})]


def test_hunyuan_checkpoints_with_a_suffix():
    register_syntax(hunyuan_v3_syntax("x1", "hunyuan_x1"))
    try:
        text = printed("hunyuan_x1", call(city="Oslo"))
        assert "<arg_key:x1>city</arg_key:x1>" in text
        assert said(read(text, "hunyuan_x1")) == [("weather", {"city": "Oslo"})]
        assert not read(text, "hunyuan_v3").calls
    finally:
        unregister_syntax("hunyuan_x1")


def test_json_behind_the_name_that_was_cut():
    (one,) = read('<tool_call>weather\n{"city": "Os', SYNTAX).calls
    assert (one.args, one.truncated) == ({"city": "Os"}, True)
    parsed = read('<tool_call>weather {"city": "Oslo"</tool_call> and', SYNTAX)
    assert said(parsed) == [("weather", {"city": "Oslo"})]
    assert parsed.text == " and"


def test_hunyuan_4_has_no_separator():
    one = "<tool_call>weather<arg_key>city</arg_key><arg_value>Oslo</arg_value></tool_call>"
    assert printed("hunyuan_v4", call(city="Oslo")) == f"<tool_calls>{one}</tool_calls>"
    marked = f"<tool_calls>{one}</tool_calls>".replace(">", ":opensource>")
    assert said(read(marked, "hunyuan_v4")) == [("weather", {"city": "Oslo"})]


def k2(inside):
    return f"Hm.<ifm|tool_calls>\n<ifm|tool_call>{inside}</ifm|tool_call>\n</ifm|tool_calls>"


def k2_argument(key, value, type=""):
    said_type = f"<ifm|arg_type>{type}</ifm|arg_type>" if type else ""
    return f"<ifm|arg_key>{key}</ifm|arg_key>{said_type}<ifm|arg_value>{value}</ifm|arg_value>"


@pytest.mark.parametrize(
    "inside",
    [
        f"now{k2_argument('days', '2', 'integer')}\n{k2_argument('zone', '007', 'string')}",
        f"now\n{k2_argument('days', '2', 'integer')}\n{k2_argument('zone', '007')}\n",
        '{"name": "now", "arguments": {"days": 2, "zone": "007"}}',
    ],
)
def test_k2_horizon_says_types_or_writes_json(inside):
    parsed = read(k2(inside), "k2_horizon", [])
    assert said(parsed) == [("now", {"days": 2, "zone": "007"})]
    assert (parsed.text.strip(), codes(parsed)) == ("Hm.", [])


def test_a_schema_knows_better_than_the_type_that_is_said():
    parsed = read(k2(f"weather{k2_argument('city', '2', 'integer')}"), "k2_horizon")
    assert said(parsed) == [("weather", {"city": "2"})]


def test_k2_horizon_calls_while_it_thinks():
    parsed = read(f"<ifm|think_fast>{k2('now')}", "k2_horizon")
    assert (said(parsed), parsed.thinking) == ([("now", {})], "Hm.")


def test_solar_open_2():
    argument = "<|tool_arg:start|>%s<|tool_arg:value|>%s<|tool_arg:end|>\n"
    lines = argument % ("city", " Oslo ") + argument % ("days", "2")
    text = f"<|tool_call:start|>weather\n{lines}<|tool_call:end|>"
    parsed = read(f"<|think:start|>hm<|think:end|>So.{text}<|im:end|>", "solar_open2")
    assert said(parsed) == [("weather", {"city": " Oslo ", "days": 2})]
    assert (parsed.text, parsed.thinking) == ("So.", "hm")
    unclosed = text.replace("2<|tool_arg:end|>\n", "2")
    assert said(read(unclosed + text, "solar_open2")) == said(parsed) * 2


@pytest.mark.parametrize("tag", ["iquest_tool_call", "iquestcoder_tool_call"])
def test_iquest_has_two_names_for_the_tag(tag):
    parsed = read(f"Hm.<{tag}>weather\n{ARGUMENT}</{tag}><|iquest_end|>", "iquest")
    assert (said(parsed), parsed.text) == ([("weather", {"city": "Oslo"})], "Hm.")
