"""Tags that hold one call, in all the forms that prompts ask for: `<tool>`, and xAI's two tags."""

from itertools import product

import pytest

from batches import each
from canonicall.syntax.parsing import parse
from syntax.readings import codes, read_at_every_cut, said, tool

WEATHER = tool("weather", city="string", days="integer")
SEARCH = tool("search", query="string")
TAKES_INPUT = tool("note", input="string")
COPY = tool("copy", source="string", target="string")
BASH = tool("bash", command="string")
TOOLS = [WEATHER, SEARCH, TAKES_INPUT]
ARGUMENTS = {"city": "Basel", "days": 2}
TAGS = {
    "tool": "tool_tag",
    "xai:function_call": "xai_function_call",
    "x.ai:tool_call": "xai_tool_call",
}
NAMED = ("<{tag}><name>weather</name>{body}</{tag}>", '<{tag} name="weather">{body}</{tag}>')
WRAPPERS = ("arguments", "args", "parameters", "params", "input")
INSIDE = (
    '{"city": "Basel", "days": 2}',
    "<city>Basel</city><days>2</days>",
    '<parameter name="city">Basel</parameter><parameter name="days">2</parameter>',
    '\n```json\n{"city": "Basel", "days": 2}\n```\n',
    '<![CDATA[{"city": "Basel", "days": 2}]]>',
)
WRAPPED = tuple(
    named.replace("{body}", f"\n  <{wrapper}>{inside}</{wrapper}>\n")
    for named, wrapper, inside in product(NAMED, WRAPPERS, INSIDE)
)
OTHERS = (
    '<{tag} name="weather">{"city": "Basel", "days": 2}</{tag}>',
    '<{tag} name="weather"><city>Basel</city><days>2</days></{tag}>',
    "<{tag} tool='weather' city='Basel' days='2'/>",
    '<{tag} name="weather" city="Basel"><days>2</days></{tag}>',
    '<{tag} name="weather" city="Basel">{"days": 2}</{tag}>',
    '<{tag} name="weather" arguments=\'{"city": "Basel", "days": 2}\'/>',
    '<{tag} name="weather" args="{&quot;city&quot;: &quot;Basel&quot;, &quot;days&quot;: 2}"></{tag}>',
    '<{tag}\n  name="weather"\n  city="Basel"\n  days="2"\n/>',
    '<{tag} name="weather" type="function" city="Basel" days="2"/>',
    '<{tag}><tool_name>weather</tool_name>{"city": "Basel", "days": 2}</{tag}>',
    '<{tag}><function>weather</function><arguments>{"city": "Basel", "days": 2}</arguments></{tag}>',
    '<{tag}><arguments>{"city": "Basel", "days": 2}</arguments><name>weather</name></{tag}>',
    "<{tag}><params><city>Basel</city><days>2</days></params><name>weather</name></{tag}>",
    "<{tag}><weather><city>Basel</city><days>2</days></weather></{tag}>",
    "<{tag}><weather><arguments><city>Basel</city><days>2</days></arguments></weather></{tag}>",
    '<{tag}>{"name": "weather", "arguments": {"city": "Basel", "days": 2}}</{tag}>',
    '<{tag}>{"tool": "weather", "parameters": {"city": "Basel", "days": 2}}</{tag}>',
    '<{tag}>weather(city="Basel", days=2)</{tag}>',
    '<{tag}>\n[weather(city="Basel", days=2)]\n</{tag}>',
    '<{tag}>weather\n{"city": "Basel", "days": 2}</{tag}>',
    "<{tag}>weather<args><city>Basel</city><days>2</days></args></{tag}>",
    "<{tag}><name>weather</name><params><param><name>city</name><value>Basel</value></param>{more}",
)


def spelled(form, tag):
    more = "<param><key>days</key><value>2</value></param></params></{tag}>"
    return form.replace("{more}", more).replace("{tag}", tag)


@each("syntax", TAGS.values())
def test_every_spelling_is_read(syntax):
    (tag,) = (one for one, name in TAGS.items() if name == syntax)
    for form in (*WRAPPED, *OTHERS):
        text = spelled(form, tag)
        parsed = read_at_every_cut(f"I look. {text}\nDone.", syntax, TOOLS)
        assert said(parsed) == [("weather", ARGUMENTS)], text
        assert parsed.text.split() == ["I", "look.", "Done."], text
        assert not parsed.findings, text
        assert not parsed.calls[0].truncated, text


@each("syntax", TAGS.values())
def test_every_spelling_is_detected(syntax):
    (tag,) = (one for one, name in TAGS.items() if name == syntax)
    for form in (*WRAPPED, *OTHERS):
        text = spelled(form, tag)
        parsed = parse(text, tools=TOOLS)
        assert (said(parsed), parsed.syntax) == ([("weather", ARGUMENTS)], syntax), text


@each("syntax", TAGS.values())
def test_a_plain_body_is_the_one_text_of_the_tool(syntax):
    (tag,) = (one for one, name in TAGS.items() if name == syntax)
    for form in (
        '<{tag} name="search">Basel &amp; more</{tag}>',
        '<{tag} name="search">\n  Basel &amp; more\n</{tag}>',
        '<{tag} name="search"><input>Basel &amp; more</input></{tag}>',
        "<{tag}><name>search</name><args>Basel &amp; more</args></{tag}>",
        "<{tag}><search>Basel &amp; more</search></{tag}>",
    ):
        text = form.replace("{tag}", tag)
        parsed = read_at_every_cut(text, syntax, TOOLS)
        assert said(parsed) == [("search", {"query": "Basel & more"})], text
        assert not parsed.findings, text


def test_a_wrapper_that_the_tool_takes_is_an_argument():
    for text in (
        '<tool name="note"><input>{"a": 1}</input></tool>',
        "<tool><name>note</name><input>{&quot;a&quot;: 1}</input></tool>",
        '<tool name="note" input=\'{"a": 1}\'/>',
    ):
        assert said(read_at_every_cut(text, "tool_tag", TOOLS)) == [("note", {"input": '{"a": 1}'})]


def test_a_wrapper_with_text_for_a_tool_that_takes_no_one_text_keeps_its_name():
    parsed = read_at_every_cut('<tool name="weather"><input>Basel</input></tool>', "tool_tag", [])
    assert said(parsed) == [("weather", {"input": "Basel"})]


def test_the_id_of_a_call_is_kept():
    parsed = read_at_every_cut(
        '<tool id="call_1" name="weather"><city>Basel</city></tool>', "tool_tag", TOOLS
    )
    assert [(one.id, one.args) for one in parsed.calls] == [("call_1", {"city": "Basel"})]
    assert not parsed.findings


def test_what_follows_the_arguments_in_a_call_is_kept_and_said():
    parsed = read_at_every_cut(
        '<tool name="weather"><args>{"city": "Basel"}</args><more>x</more></tool>',
        "tool_tag",
        TOOLS,
    )
    assert said(parsed) == [("weather", {"city": "Basel"})]
    assert parsed.text == "<more>x</more>"
    assert codes(parsed) == ["text_in_call"]


@pytest.mark.parametrize(
    "text",
    [
        '<tool name="weather"><arguments>{"city": "Ba',
        '<tool name="weather"><arguments><city>Ba',
        '<tool><name>weather</name><input>{"city": "Basel"}',
        '<x.ai:tool_call name="weather"><arguments>{"city": "Ba',
    ],
)
def test_a_call_that_is_cut_is_truncated(text):
    syntax = "tool_tag" if text.startswith("<tool") else "xai_tool_call"
    (call,) = read_at_every_cut(text, syntax, TOOLS).calls
    assert call.truncated


@each(
    "text",
    [
        "<tool><arguments>{</arguments><name>copy</name></tool>",
        "<tool><arguments>a, b</arguments><name>copy</name></tool>",
        "<tool><args><city>Basel</city></args></tool>",
        "<tool><args><city>Basel</city></tool>",
        "<tool><name>ls -la</tool>",
        "<tool><args>",
    ],
)
def test_what_is_no_call_stays_text_as_it_is(text):
    for after in ("", ' Ok. <tool name="weather"><city>Basel</city></tool>'):
        parsed = read_at_every_cut(text + after, "tool_tag", [WEATHER, COPY])
        assert parsed.text.startswith(text)
        assert codes(parsed)[:1] == ["call_unreadable"]
        if "</tool>" in text and after:
            assert said(parsed) == [("weather", {"city": "Basel"})]


PROSE = (
    "Pass the <tool>hammer</tool> to me.",
    "Use the <tool> tag, as in <tool>weather</tool>, then wait.",
    "Write <tool>ls -la</tool> or <tool>search for it</tool>.",
    '<tool name="weather"> is how a call begins.',
    "A <tool>weather(city)</tool> takes a city.",
    "Say <tool>weather of the day</tool>.",
    "<tool>\n  <brand>Bosch</brand>\n</tool>",
)


@each("text", PROSE)
def test_a_tool_in_prose_is_no_call(text):
    for offered in ([WEATHER], [SEARCH], TOOLS, []):
        for syntax in ("tool_tag", "auto"):
            parsed = read_at_every_cut(text, syntax, offered) if syntax != "auto" else None
            parsed = parsed or parse(text, tools=offered)
            assert not [one for one in parsed.calls if not one.truncated], offered
            assert not parsed.calls
            assert parsed.text == text


def test_a_command_is_for_a_shell_only_if_the_syntax_was_named_and_it_is_said():
    text = "<tool>ls -la</tool>"
    parsed = read_at_every_cut(text, "tool_tag", [BASH])
    assert said(parsed) == [("bash", {"command": "ls -la"})]
    assert codes(parsed) == ["name_guessed"]
    assert not parse(text, tools=[BASH]).calls


XAI_PARAMETERS = '<xai:function_call name="f"><parameter name="a">1</parameter></xai:function_call>'


@each(
    "second",
    [
        '<xai:function_call name="g\nh"></xai:function_call>',
        '<xai:function_call>{"name": "g", "arguments": {}}</xai:function_call>',
    ],
)
def test_a_call_in_another_form_follows_one_with_parameters(second):
    """Each tag is read in its own form, whatever form the one before had."""
    parsed = parse(f"{XAI_PARAMETERS}\n{second}", syntax="xai_function_call")
    assert [call.name for call in parsed.calls][:1] == ["f"]
    assert len(parsed.calls) == 2
