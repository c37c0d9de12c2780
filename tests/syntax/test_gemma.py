"""Gemma 4 and FunctionGemma."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonicall.errors import InvalidValue
from canonicall.syntax.parsing import parse
from syntax.readings import (
    any_keys,
    arguments_with,
    codes,
    names,
    plain_keys,
    printed,
    printed_results,
    read,
    reads_its_own_print,
    said,
    tool,
)

QUOTE = '<|"|>'
MARKERS = ("<tool_call|>", "<|channel>", "}", "{", "<end_function_call>", ":", "<eos>")
SYNTAXES = ("gemma4", "functiongemma")


def call(inside: str) -> str:
    return f"<|tool_call>call:f{{{inside.replace('§', QUOTE)}}}<tool_call|>"


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        ("a:§x, y}§", {"a": "x, y}"}),
        ('a:§a "quoted" \\ back§', {"a": 'a "quoted" \\ back'}),
        ("n:42,x:-1.5e3,b:true,z:null", {"n": 42, "x": -1500.0, "b": True, "z": None}),
        (
            "o:{p:§x§,q:[1,§two§,{r:false}]},l:[]",
            {"o": {"p": "x", "q": [1, "two", {"r": False}]}, "l": []},
        ),
        ("§a key§:1", {"a key": 1}),
        ("\n a : §x§ ,\n b : 2 ,\n", {"a": "x", "b": 2}),
        ('a:"x \\"y\\" z",b:\'w\'', {"a": 'x "y" z', "b": "w"}),
        ("a=§x§,b=True,c=None", {"a": "x", "b": True, "c": None}),
        ("a:two words,b:007", {"a": "two words", "b": "007"}),
        ('"a":1', {"a": 1}),
        ("", {}),
    ],
)
def test_values_and_the_drift_of_the_model(inside, expected):
    parsed = read(call(inside), "gemma4")
    assert said(parsed) == [("f", expected)]
    assert not parsed.text


def test_what_has_no_quotes_is_text_where_the_schema_says_so():
    parsed = read(
        call("zip:01234,n:5,x:null,l:[7]"), "gemma4", [tool("f", zip="string", x="string")]
    )
    assert said(parsed) == [("f", {"zip": "01234", "n": 5, "x": None, "l": [7]})]
    nested = {
        "type": "object",
        "properties": {"l": {"type": "array", "items": {"type": "string"}}},
    }
    offered = {"name": "f", "parameters": nested}
    assert said(read(call("l:[7,true]"), "gemma4", [offered])) == [("f", {"l": ["7", "true"]})]


def test_a_call_without_brackets_has_no_arguments():
    assert said(read("<|tool_call>call:f<tool_call|>", "gemma4")) == [("f", {})]


def test_several_calls_in_one_block_or_in_several():
    two = "<|tool_call>call:f{a:1}call:g{b:2}<tool_call|><|tool_call>call:h{}<tool_call|>"
    assert said(read(two, "gemma4")) == [("f", {"a": 1}), ("g", {"b": 2}), ("h", {})]


@pytest.mark.parametrize(
    "text",
    [
        "<|channel>thought\nHm.<channel|>Well.",
        "<|channel><eos>thought\nHm.<channel|>Well.",
        "<bos><|channel>Hm.<channel|>Well.<turn|>",
        "<|channel>thought\nHm.<channel|>Well.<channel|>",
    ],
)
def test_what_stands_in_a_channel_is_thought(text):
    parsed = read(text, "gemma4")
    assert parsed.thinking == "Hm."
    assert parsed.text == "Well."


def test_a_thought_that_the_prompt_opened():
    parsed = read("Hm.<channel|>Well.", "gemma4", starts_in_thinking=True)
    assert (parsed.thinking, parsed.text) == ("Hm.", "Well.")


def test_a_thought_may_be_empty_or_cut():
    assert read("<|channel>thought\n<channel|>Well.", "gemma4").text == "Well."
    assert read("<|channel>thought\nHm", "gemma4").thinking == "Hm"
    assert not read("<|channel>thought", "gemma4").text


@pytest.mark.parametrize("inside", ["a:§x", "a:1,b:§x", "o:{a:§x", "a:[§x"])
def test_a_cut_call_is_kept_and_marked(inside):
    text = call(inside).removesuffix("}<tool_call|>")
    (found,) = read(text, "gemma4").calls
    assert found.truncated
    assert "x" in str(found.args)


def test_a_call_that_ends_too_early_is_marked_and_the_next_is_read():
    parsed = read(f"<|tool_call>call:f{{a:1<tool_call|>{call('b:2')}", "gemma4")
    assert said(parsed) == [("f", {"a": 1}), ("f", {"b": 2})]
    assert [one.truncated for one in parsed.calls] == [True, False]


def test_a_block_that_is_no_call_stays_text():
    text = "<|tool_call>call:no call at all<tool_call|>"
    parsed = read(text + call("a:1"), "gemma4")
    assert parsed.text == text
    assert codes(parsed) == ["call_unreadable"]
    assert said(parsed) == [("f", {"a": 1})]


def test_values_nested_without_end_are_given_up():
    parsed = read("<|tool_call>call:f{a:" + "[" * 5000, "gemma4")
    assert parsed.calls[0].truncated


def test_a_list_that_only_the_bracket_of_the_object_ends_is_mended():
    """Its reader found no value there, for ever."""
    parsed = parse("<|tool_call>call:f{a:[1,2}<tool_call|>", syntax="gemma4")
    assert [(one.name, one.args) for one in parsed.calls] == [("f", {"a": [1, 2]})]
    assert [one.code for one in parsed.findings] == ["arguments_repaired"]


def test_functiongemma_has_its_own_tokens():
    text = "<start_function_call>call:f{a:<escape>x<escape>,n:1}<end_function_call>"
    assert said(read(text + "<start_function_response>", "functiongemma")) == [
        ("f", {"a": "x", "n": 1})
    ]
    assert printed("functiongemma", ("f", {"a": "x", "n": 1})) == text


def test_results_are_printed_as_the_templates_do():
    assert printed_results("gemma4", ("f", "sunny")) == (
        '<|tool_response>response:f{value:<|"|>sunny<|"|>}<tool_response|>'
    )
    assert printed_results("functiongemma", ("f", "sunny")) == (
        "<start_function_response>response:f{value:<escape>sunny<escape>}<end_function_response>"
    )


@pytest.mark.parametrize(("syntax", "quote"), [("gemma4", QUOTE), ("functiongemma", "<escape>")])
def test_the_quote_cannot_be_said_in_a_text(syntax, quote):
    with pytest.raises(InvalidValue, match="cannot be said"):
        printed(syntax, ("f", {"a": f"x{quote}y"}))


@pytest.mark.parametrize("syntax", SYNTAXES)
@given(
    calls=st.lists(st.tuples(names, arguments_with(plain_keys, *MARKERS)), min_size=1, max_size=3)
)
def test_what_was_printed_is_read_as_it_was(syntax, calls):
    reads_its_own_print(syntax, calls)


@pytest.mark.parametrize("syntax", SYNTAXES)
@given(args=arguments_with(any_keys, *MARKERS, QUOTE, "<escape>"))
def test_what_is_printed_at_all_is_read_as_it_was(syntax, args):
    reads_its_own_print(syntax, [("f", args)], may_refuse=True)


@pytest.mark.parametrize("syntax", SYNTAXES)
@given(
    st.lists(
        st.sampled_from(
            [*MARKERS, QUOTE, "<escape>", "<|tool_call>", "<start_function_call>", "call:"]
        )
        | st.sampled_from(
            ["f{", "[", "]", ",", "'", '"', "\\", "\ud800", "a", "1", " ", "thought\n"]
        ),
        max_size=12,
    ).map("".join)
)
def test_any_text_is_read_the_same_in_any_pieces(syntax, text):
    read(text, syntax, [tool("f", a="string")])


@pytest.mark.parametrize(
    "text",
    [
        "call:f{a:§x§}",
        "call:f{a:§x§}<tool_call|><turn|>",
        "<|channel>thought\nHm.<channel|>call:f{a:§x§}",
        "<|tool_call>:call:f{a:§x§}<tool_call|>",
        "<call>f{a:§x§}",
    ],
)
@pytest.mark.parametrize("tools", [None, [tool("f")]])
def test_calls_without_their_marker(text, tools):
    parsed = read(text.replace("§", QUOTE), "gemma4", tools)
    assert (said(parsed), parsed.text, codes(parsed)) == ([("f", {"a": "x"})], "", [])


@pytest.mark.parametrize(
    "text", ["I call:f{a:1} now.", "call:f", "call: f{a:1}", "call:me maybe {a}", "<call>me {a}"]
)
def test_words_that_only_look_like_a_call(text):
    parsed = read(text, "gemma4")
    assert (parsed.calls, parsed.text, parsed.findings) == ((), text, ())


def test_without_its_marker_only_an_offered_tool_is_called():
    parsed = read("Well.\ncall:g{}", "gemma4", [tool("f")])
    assert (parsed.calls, codes(parsed)) == ((), ["call_not_offered"])


@pytest.mark.parametrize(
    ("inside", "args"),
    [
        ("a:in Oslo§", {"a": "in Oslo"}),
        ("a:Oslo, Norway§,n:5", {"a": "Oslo, Norway", "n": 5}),
        ("a:Oslo, Norway", {"a": "Oslo, Norway"}),
        ("a:Oslo,n:5", {"a": "Oslo", "n": 5}),
        ("a:Oslo,b:§x§", {"a": "Oslo", "b": "x"}),
        ("a:5,b:§x§", {"a": 5, "b": "x"}),
        ("a:5§", {"a": "5"}),
        ("a:{b:Oslo§},c:[§x§,y§,z]", {"a": {"b": "Oslo"}, "c": ["x", "y", "z"]}),
    ],
)
def test_texts_whose_first_quote_is_missing(inside, args):
    parsed = read(call(inside), "gemma4")
    assert (said(parsed), codes(parsed)) == ([("f", args)], [])
