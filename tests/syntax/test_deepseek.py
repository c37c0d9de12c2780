"""DeepSeek V3, V3.1 and Cogito: the same markers, two forms."""

import pytest

from batches import each
from canonicall import Text, ToolCall, ToolResult
from canonicall.syntax.registry import get_syntax
from syntax.support import codes, read, said


def token(words: str) -> str:
    return f"<\uff5c{words.replace(' ', chr(0x2581))}\uff5c>"


BLOCK, BLOCK_END = token("tool calls begin"), token("tool calls end")
BEGIN, SEP, END = token("tool call begin"), token("tool sep"), token("tool call end")
FENCED = f'{BEGIN}function{SEP}f\n```json\n{{"a": 1}}\n```{END}'
PLAIN = f'{BEGIN}f{SEP}{{"a": 1}}{END}'
ALL = ("deepseek_v3", "deepseek_v31", "cogito_deepseek")


@each("syntax", ALL)
@each(
    "text",
    [
        BLOCK + FENCED + BLOCK_END,
        BLOCK + PLAIN + BLOCK_END + token("end of sentence"),
        FENCED,
        PLAIN + BLOCK_END,
        f"{BLOCK}\n{PLAIN}",
        f'{BLOCK}{BEGIN}function{SEP}f\n{{"a": 1}}{END}{BLOCK_END}',
        f'{BLOCK}{BEGIN}function{SEP}f\n```\n{{"a": 1}}```\n{END}\n{BLOCK_END}',
        f'{BLOCK}{BEGIN}f{SEP}```json\n{{"a": 1}}\n```{END}{BLOCK_END}',
        f'{BLOCK}{BEGIN}function{SEP}f\n```json\n{{"a": 1}}\n```',
    ],
)
def test_both_forms_are_read_by_all(syntax, text):
    parsed = read(text, syntax)
    assert said(parsed.calls) == [("f", {"a": 1})]
    assert (parsed.text, parsed.findings) == ("", ())


@pytest.mark.parametrize("syntax", ALL)
@pytest.mark.parametrize("text", [BLOCK + FENCED + BLOCK_END, BLOCK + PLAIN + BLOCK_END, FENCED])
def test_the_bars_of_a_keyboard_do_as_well(syntax, text):
    parsed = read(text.replace("\uff5c", "|") + "<|end\u2581of\u2581sentence|>", syntax)
    assert said(parsed.calls) == [("f", {"a": 1})]
    assert (parsed.text, parsed.findings) == ("", ())


@pytest.mark.parametrize("text", [f"{BEGIN}function{SEP}f{END}", f"{BEGIN}f{SEP}{END}"])
def test_a_call_without_arguments(text):
    assert said(read(text, "deepseek_v3").calls) == [("f", {})]


def test_a_tool_may_be_called_function():
    assert said(read(f"{BEGIN}function{SEP}{{}}{END}", "deepseek_v31").calls) == [("function", {})]


@pytest.mark.parametrize(
    "text",
    [
        f'{BEGIN}f{{"a": 1}}',
        f"{BEGIN}function{SEP}",
        f"{BEGIN}function{SEP}loo",
        f'{BEGIN}other{SEP}f\n```json\n{{"a": 1}}\n```',
        f'{BEGIN}{SEP}{{"a": 1}}',
        f'{BEGIN}function{SEP}\n```json\n{{"a": 1}}\n```',
    ],
)
def test_what_is_no_call_stays_text(text):
    parsed = read(text, "deepseek_v3")
    assert (parsed.calls, parsed.text) == ((), text)
    assert codes(parsed) == ["call_unreadable"]


def test_a_fence_ends_json_that_was_left_open():
    parsed = read(f'{BEGIN}function{SEP}f\n```json\n{{"a": 1\n```{END}', "deepseek_v3")
    assert said(parsed.calls) == [("f", {"a": 1})]
    assert codes(parsed) == ["arguments_repaired"]


def test_made_up_results_are_words():
    text = f"It is {token('tool output begin')}warm{token('tool output end')}."
    assert read(text, "deepseek_v31").text == "It is warm."


@pytest.mark.parametrize(
    ("syntax", "calls"),
    [
        ("deepseek_v3", f"{BLOCK}{FENCED}\n{FENCED}{BLOCK_END}"),
        ("deepseek_v31", f"{BLOCK}{PLAIN}{PLAIN}{BLOCK_END}"),
    ],
)
def test_how_it_looks(syntax, calls):
    print_calls = get_syntax(syntax).print_calls
    assert print_calls is not None
    assert print_calls((ToolCall(name="f", args={"a": 1}),) * 2) == calls


def test_how_results_look():
    results = tuple(ToolResult(content=(Text(text=one),)) for one in ("one", "two"))
    begin, end = token("tool output begin"), token("tool output end")
    framed, plain = (get_syntax(name).print_results for name in ("deepseek_v3", "deepseek_v31"))
    assert framed is not None
    assert plain is not None
    assert plain(results) == f"{begin}one{end}{begin}two{end}"
    assert framed(results) == (
        f"{token('tool outputs begin')}{begin}one{end}\n{begin}two{end}{token('tool outputs end')}"
    )
