"""JSON calls with keys or markers of their own: Cohere, Apertus, GigaChat, Solar, LongCat."""

import pytest

from canonicall import Text, ToolCall, ToolResult
from canonicall.syntax.registry import get_syntax
from syntax.support import codes, read, said

CALLS = (ToolCall(id="7", name="f", args={"a": 1}), ToolCall(id="x", name="g", args={}))
RESULTS = tuple(ToolResult(call_id=one, content=(Text(text=one),)) for one in ("7", "8"))
SOLAR = '<|tool_call:begin|>7<|tool_call:name|>f<|tool_call:args|>{"a": 1}<|tool_call:end|>'
ACTION = '[\n    {"tool_call_id": "7", "tool_name": "f", "parameters": {"a": 1}}\n]'

PAIRS = (
    "<longcat_tool_call>f\n<longcat_arg_key>a</longcat_arg_key>\n"
    "<longcat_arg_value>1</longcat_arg_value>\n</longcat_tool_call>"
)


@pytest.mark.parametrize(
    ("syntax", "text", "id"),
    [
        ("cohere_command3", f"<|START_ACTION|>{ACTION}<|END_ACTION|>", "7"),
        ("cohere_command4", f"<|START_ACTION|>\n{ACTION}\n<|END_ACTION|>", "7"),
        ("cohere_command3", f"<|START_ACTION|>{ACTION}", "7"),
        ("command_r_action_json", f"Action:\n```json\n{ACTION}\n```", "7"),
        ("command_r_action_json", f"Action: ```json\n{ACTION}```", "7"),
        ("apertus", '<|tools_prefix|>[{"f": {"a": 1}}]<|tools_suffix|><|assistant_end|>', ""),
        ("apertus", '<|tools_prefix|>[{"f": {"a": 1}}]', ""),
        ("apertus", '<|tools_prefix|>{"f": {"a": 1}}<|tools_suf', ""),
        (
            "gigachat3",
            '<|message_sep|>\n\nfunction call<|role_sep|>\n{"name": "f", "arguments": {"a": 1}}</s>',
            "",
        ),
        ("gigachat3", '<|function_call|>{"name": "f", "arguments": {"a": 1}}', ""),
        ("solar_open", f"<|tool_calls|>{SOLAR}", "7"),
        ("solar_open", SOLAR[: -len("<|tool_call:end|>")] + "<|calls|>", "7"),
        (
            "longcat",
            '<longcat_tool_call>{"name": "f", "arguments": {"a": 1}}</longcat_tool_call>',
            "",
        ),
        (
            "longcat",
            PAIRS,
            "",
        ),
    ],
)
def test_calls_are_read_with_words_before(syntax, text, id):
    tool = {"name": "f", "parameters": {"properties": {"a": {"type": "integer"}}}}
    parsed = read(f"Words.\n{text}", syntax, tools=[tool])
    assert [(one.name, one.args, one.id) for one in parsed.calls] == [("f", {"a": 1}, id)]
    assert (parsed.text.strip(), parsed.findings) == ("Words.", ())


@pytest.mark.parametrize(
    ("syntax", "text"),
    [
        (
            "cohere_command3",
            "<|START_THINKING|>hm<|END_THINKING|><|START_RESPONSE|>hi<|END_RESPONSE|>",
        ),
        ("cohere_command4", "<|START_THINKING|>hm<|END_THINKING|><|START_TEXT|>hi<|END_TEXT|>"),
        ("apertus", "<|inner_prefix|>hm<|inner_suffix|>hi<|assistant_end|>"),
        ("solar_open", "<|think|>hm<|end|><|begin|>assistant<|content|>hi<|end|>"),
        ("longcat", "<longcat_think>hm</longcat_think>hi</longcat_s>"),
    ],
)
def test_thoughts_and_words_have_their_own_marks(syntax, text):
    parsed = read(text, syntax)
    assert (parsed.thinking, parsed.text) == ("hm", "hi")


@pytest.mark.parametrize(
    "text",
    [
        "<|tools_prefix|>[]",
        '<|tools_prefix|>["f"]',
        '<|tools_prefix|>[{"f": 1}]',
        "<|tools_prefix|>words",
        "<|tool",
    ],
)
def test_lists_of_other_things_are_text(text):
    parsed = read(text, "apertus")
    assert (parsed.calls, parsed.text) == ((), text)


def test_apertus_calls_while_it_thinks():
    text = '<|inner_prefix|>hm<|tools_prefix|>[{"f": {}}]<|tools_suffix|><|inner_suffix|>'
    parsed = read(text, "apertus")
    assert (said(parsed.calls), parsed.thinking, parsed.text) == ([("f", {})], "hm", "")


def test_what_is_no_call_behind_calls_is_text():
    parsed = read('<|tools_prefix|>[{"f": {}}, {"g": 1}]<|tools_suffix|>', "apertus")
    assert said(parsed.calls) == [("f", {})]
    assert '"g"' in parsed.text
    assert codes(parsed) == ["text_in_call"]


def test_a_cut_call_is_marked():
    parsed = read('<|tools_prefix|>[{"f": {"a": 1, "b', "apertus")
    assert said(parsed.calls) == [("f", {"a": 1})]
    assert parsed.calls[0].truncated


def test_no_tool_is_a_tool_that_was_not_offered():
    text = 'Action:\n```json\n[{"tool_name": "directly_answer", "parameters": {}}]\n```'
    parsed = read(text, "command_r_action_json", tools=[{"name": "f"}])
    assert said(parsed.calls) == [("directly_answer", {})]
    assert codes(parsed) == ["tool_unknown"]


LOOKS = {
    "cohere_command3": """<|START_ACTION|>[
    {"tool_call_id": "7", "tool_name": "f", "parameters": {"a": 1}},
    {"tool_call_id": "1", "tool_name": "g", "parameters": {}}
]<|END_ACTION|>""",
    "command_r_action_json": """Action:
```json
[
    {
        "tool_name": "f",
        "parameters": {
            "a": 1
        }
    },
    {
        "tool_name": "g",
        "parameters": {}
    }
]```""",
    "apertus": '<|tools_prefix|>[{"f": {"a": 1}}, {"g": {}}]<|tools_suffix|>',
    "gigachat3": '<|message_sep|>\n\nfunction call<|role_sep|>\n{"name": "f", "arguments": {"a": 1}}'
    '<|message_sep|>\n\nfunction call<|role_sep|>\n{"name": "g", "arguments": {}}',
    "gigachat31": '<|function_call|>{"name": "f", "arguments": {"a": 1}}'
    '<|function_call|>{"name": "g", "arguments": {}}',
    "solar_open": f"<|tool_calls|>{SOLAR}"
    "<|tool_call:begin|>x<|tool_call:name|>g<|tool_call:args|>{}<|tool_call:end|>",
}
RESULTS_LOOK = {
    "cohere_command3": """<|START_TOOL_RESULT|>[
    {
        "tool_call_id": "7",
        "results": {
            "0": "7"
        },
        "is_error": null
    },
    {
        "tool_call_id": "8",
        "results": {
            "0": "8"
        },
        "is_error": null
    }
]<|END_TOOL_RESULT|>""",
    "apertus": "[7, 8]",
    "gigachat3": "function result<|role_sep|>\n7<|message_sep|>\n\n"
    "function result<|role_sep|>\n8<|message_sep|>\n\n",
}


@pytest.mark.parametrize(("syntax", "text"), LOOKS.items())
def test_how_it_looks(syntax, text):
    print_calls = get_syntax(syntax).print_calls
    assert print_calls is not None
    assert print_calls(CALLS) == text


@pytest.mark.parametrize(("syntax", "text"), RESULTS_LOOK.items())
def test_how_results_look(syntax, text):
    print_results = get_syntax(syntax).print_results
    assert print_results is not None
    assert print_results(RESULTS) == text
