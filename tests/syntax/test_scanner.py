"""The scanner: laws that hold for every text, and how words, thoughts and calls follow each other."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batches import each
from canonicall.blocks import Text, Thinking, ToolCall
from canonicall.errors import UnknownName
from canonicall.events import BlockEnded, BlockStarted, StreamEnded, TextAdded
from canonicall.syntax.declaration import Opener, Syntax
from canonicall.syntax.json_calls import json_opener
from canonicall.syntax.registry import get_syntax
from canonicall.syntax.scanner import TextScanner
from syntax.support import (
    JSON_SYNTAXES,
    codes,
    events_of_pieces,
    garbage,
    read,
    said,
    splits,
    streamed,
    work,
)

CALL = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'


@given(st.sampled_from(JSON_SYNTAXES), st.text(max_size=60))
def test_text_without_markers_is_text(name, text):
    if not any(marker in text for marker in _markers(get_syntax(name))):
        reply = streamed(text, name)
        assert reply.message.text.strip() == text.strip()
        assert reply.findings == ()


@given(st.sampled_from(JSON_SYNTAXES), st.data())
def test_events_tell_what_the_reply_says(name, data):
    """Text events add up to the text, and blocks come one behind the other."""
    text, _ = data.draw(garbage(name))
    events = events_of_pieces(data.draw(splits(text)), name)
    last = events[-1]
    assert isinstance(last, StreamEnded)
    added: dict[int, str] = {}
    for event in events:
        if isinstance(event, TextAdded):
            added[event.index] = added.get(event.index, "") + event.text
    blocks = last.reply.message.blocks
    assert added == {at: one.text for at, one in enumerate(blocks) if isinstance(one, Text)}
    started = [event.index for event in events if isinstance(event, BlockStarted)]
    assert started == list(range(len(blocks)))
    cut = {at for at, one in enumerate(blocks) if isinstance(one, ToolCall) and one.truncated}
    ended = [event.index for event in events if isinstance(event, BlockEnded)]
    assert ended == [at for at in started if at not in cut]


HARD = {
    "words": "x",
    "white space": " ",
    "beginnings of markers": "<",
    "openers": "{opener}",
    "open objects": '{{"a":',
    "open calls": '{{"function":',
    "open lists": "[",
    "quotes": '"',
    "backslashes": "\\",
    "commas": ",",
    "names": '{{"name": "f",',
    "calls": '{opener}{{"name": "f", "arguments": {{}}}}',
    "an argument": '{opener}{{"name": "f", "arguments": {{"a": "x',
    "a key": '{opener}{{"x',
    "a fence": "```json\n{{",
}


@each("repeated", HARD)
@each("name", ["hermes", "llama3_builtin", "json_plain", "sarashina"])
def test_work_is_linear(name, repeated):
    """Twice the text makes twice the steps, and what waits does not pile up."""
    opener = get_syntax(name).openers[0].marker
    piece = HARD[repeated].format(opener=opener)
    for start in ("", opener, opener + '{"name": "f", "arguments": {"a": "'):
        steps, waiting = work(name, start + piece * (400 // len(piece)))
        more_steps, more_waiting = work(name, start + piece * (800 // len(piece)))
        assert more_steps < 2.3 * steps + 200
        assert more_waiting < 2.3 * waiting + 200


def test_words_thoughts_and_calls_in_any_order():
    text = f"<think>hm</think>First {CALL} then <think>so</think>{CALL} done"
    blocks = read(text, "hermes").reply.message.blocks
    assert [type(block).__name__ for block in blocks] == [
        *("Thinking", "Text", "ToolCall", "Text", "Thinking", "ToolCall", "Text")
    ]


def test_a_reply_may_begin_in_a_thought():
    parsed = read("let me see</think>yes", "hermes", starts_in_thinking=True)
    assert (parsed.thinking, parsed.text) == ("let me see", "yes")


def test_a_call_in_a_thought_is_a_draft_unless_it_ends_the_thought():
    text = f"<think>I could {CALL} or not</think>no"
    assert read(text, "hermes").calls == ()
    opener = json_opener("<tool_call>", "</tool_call>")
    ending = Syntax(name="ending", openers=(opener,), call_ends_thinking=True)
    reply = streamed(f"<think>I could {CALL} then", ending)
    assert [type(block) for block in reply.message.blocks] == [Thinking, ToolCall, Text]


def test_a_block_that_cannot_be_read_does_not_stop_the_next_one():
    parsed = read(f"<tool_call>oops</tool_call> {CALL}", "hermes")
    assert said(parsed.calls) == [("f", {"a": 1})]
    assert parsed.text.strip() == "<tool_call>oops</tool_call>"
    assert codes(parsed) == ["call_unreadable"]


def test_findings_say_where_in_the_text():
    parsed = read("Words first. <tool_call>oops", "hermes")
    assert [finding.where for finding in parsed.findings] == ["text[13]"]


def test_a_closing_marker_counts_only_where_something_was_opened():
    assert read("a </tool_call> b", "hermes").text == "a </tool_call> b"
    parsed = read(CALL.replace("\n</tool", " and so on </tool"), "hermes")
    assert said(parsed.calls) == [("f", {"a": 1})]
    assert parsed.text.strip() == "and so on"
    assert codes(parsed) == ["text_in_call"]


def test_openers_of_one_marker_are_told_apart_by_what_follows():
    assert said(read("<|python_tag|>f.call(a=1)", "llama3_builtin").calls) == [("f", {"a": 1})]
    text = '<|python_tag|>{"name": "f", "parameters": {"a": 1}}'
    assert said(read(text, "llama3_builtin").calls) == [("f", {"a": 1})]


def test_a_scanner_is_closed_once():
    scanner = TextScanner("hermes")
    scanner.feed("hi")
    assert isinstance(scanner.close()[-1], StreamEnded)
    assert scanner.close() == []


def test_an_unknown_syntax_is_an_error_that_says_so():
    with pytest.raises(UnknownName):
        TextScanner("no such syntax")


def test_a_syntax_may_come_from_anywhere():
    def read_name(reader: Any, output: Any) -> Any:
        word: list[str] = []
        yield from reader.json_value(word.append)
        call = output.call()
        return call.name("".join(word)) and call.end()

    syntax = Syntax(name="at", openers=(Opener("@", read_name, place="line"),))
    reply = streamed("a@b\n@f done", syntax)
    assert said(reply.calls) == [("f", {})]
    assert reply.message.text.split() == ["a@b", "done"]


def _markers(syntax: Syntax) -> set[str]:
    found = {marker for one in syntax.openers for marker in (one.marker, *one.closers)}
    return found | {opening for opening, _ in syntax.thinking} | set(syntax.noise)


def _tag_begins(reader):
    yield from reader.blank()
    return bool((yield from reader.next_of("f>>")))


def _read_rest(reader, output):
    yield from reader.accept("f>>")
    call = output.call()
    if not call.name("f"):
        return False
    whole = yield from reader.json_value(call.arguments)
    return call.end(truncated=not whole)


@each(
    ("text", "calls", "words"),
    [
        ('f>>{"a": 1}', 1, ""),
        (' f>>{"a": 1} Done.', 1, "Done."),
        ('<think>Hm.</think>f>>{"a": 1}', 1, ""),
        ('Ok. f>>{"a": 1}', 0, 'Ok. f>>{"a": 1}'),
        ("f> is no call", 0, "f> is no call"),
        ("", 0, ""),
    ],
)
def test_an_opener_without_a_marker_counts_only_where_a_reply_begins(text, calls, words):
    syntax = Syntax("begun", openers=(Opener("", _read_rest, looks=_tag_begins),))
    whole = streamed([text], syntax)
    assert streamed(text, syntax) == whole
    assert len(whole.calls) == calls
    assert whole.message.text.strip() == words
    assert not whole.findings
