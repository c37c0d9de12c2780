"""Calls printed as the models' templates do, and read again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batches import each
from canonicall import Text, ToolCall, ToolResult
from canonicall.errors import InvalidValue
from canonicall.syntax.registry import get_syntax
from canonicall.testing.strategies import json_objects
from syntax.support import JSON_SYNTAXES, NAMED_SYNTAXES, calls_of, read, said

PRINTED = [name for name in JSON_SYNTAXES if name not in ("generic_none", "llama3_builtin")]
"""All but the one that prints nothing and the one that prints code."""
ANY_NAME = st.text(min_size=1, max_size=12)
CALLS = (ToolCall(name="f", args={"a": "é", "n": [1, None]}), ToolCall(name="g", args={}))


@given(st.sampled_from([one for one in PRINTED if one not in NAMED_SYNTAXES]), calls_of(ANY_NAME))
def test_printed_calls_are_read_again(name, calls):
    print_calls = get_syntax(name).print_calls
    assert print_calls is not None
    parsed = read(print_calls(calls), name)
    assert said(parsed.calls) == [(call.name, call.args) for call in calls]
    assert parsed.text == ""
    assert parsed.findings == ()


@each("name", PRINTED)
@each("marker", ["opener", "closer", "thinking", "noise"])
def test_markers_inside_of_values_stay_there(name, marker):
    syntax = get_syntax(name)
    markers = {
        "opener": [one.marker for one in syntax.openers],
        "closer": [closer for one in syntax.openers for closer in one.closers],
        "thinking": [mark for pair in syntax.thinking for mark in pair],
        "noise": list(syntax.noise),
    }[marker]
    args = {"text": " ".join(f"{one}{{}}\"'\\" for one in markers), **dict.fromkeys(markers, 1)}
    assert syntax.print_calls is not None
    text = syntax.print_calls((ToolCall(name="f", args=args),))
    assert said(read(text, name).calls) == [("f", args)]


@given(
    st.dictionaries(
        st.from_regex(r"[a-z_]\w{0,10}", fullmatch=True),
        st.text() | st.integers() | st.none() | json_objects(),
    )
)
def test_built_in_calls_are_read_again(args):
    print_calls = get_syntax("llama3_builtin").print_calls
    assert print_calls is not None
    text = print_calls((ToolCall(name="brave_search", args=args),))
    assert said(read(text, "llama3_builtin").calls) == [("brave_search", args)]


@pytest.mark.parametrize(
    "call", [ToolCall(name="a-b", args={}), ToolCall(name="f", args={"a b": 1})]
)
def test_what_a_line_of_code_cannot_say_is_refused(call):
    print_calls = get_syntax("llama3_builtin").print_calls
    assert print_calls is not None
    with pytest.raises(InvalidValue):
        print_calls((call,))


LOOKS = {
    "hermes": """<tool_call>
{"name": "f", "arguments": {"a": "é", "n": [1, null]}}
</tool_call>
<tool_call>
{"name": "g", "arguments": {}}
</tool_call>""",
    "jamba": """<tool_calls>[
    {"name": "f", "arguments": {"a": "é", "n": [1, null]}},
    {"name": "g", "arguments": {}}
]</tool_calls>""",
    "minimax_m1": """<tool_calls>
{"name": "f", "arguments": {"a": "é", "n": [1, null]}}
{"name": "g", "arguments": {}}
</tool_calls>""",
    "nemotron_toolcall": """<TOOLCALL>[{"name": "f", "arguments": {"a": "é", "n": [1, null]}}, {"name": "g", "arguments": {}}]</TOOLCALL>""",
    "llama3_json": """{"name": "f", "parameters": {"a": "é", "n": [1, null]}}; {"name": "g", "parameters": {}}""",
    "internlm2": """<|action_start|><|plugin|>
{"name": "f", "parameters": {"a": "é", "n": [1, null]}}<|action_end|><|action_start|><|plugin|>
{"name": "g", "parameters": {}}<|action_end|>""",
    "sarashina": """<|tool_calls|>[{'name': 'f', 'arguments': {'a': 'é', 'n': [1, None]}}, {'name': 'g', 'arguments': {}}]""",
}


@pytest.mark.parametrize(("name", "text"), LOOKS.items())
def test_how_it_looks(name, text):
    print_calls = get_syntax(name).print_calls
    assert print_calls is not None
    assert print_calls(CALLS) == text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "hermes",
            "<tool_response>\none\n</tool_response>\n<tool_response>\ntwo\n</tool_response>",
        ),
        ("nemotron_toolcall", "<TOOL_RESPONSE>[one, two]</TOOL_RESPONSE>"),
    ],
)
def test_how_results_look(name, text):
    print_results = get_syntax(name).print_results
    assert print_results is not None
    results = [ToolResult(call_id=one, content=(Text(text=one),)) for one in ("one", "two")]
    assert print_results(tuple(results)) == text
