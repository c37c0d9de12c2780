"""Reading a document: whatever a transcript is stored as, or one sentence on why it is none."""

import gzip
import json
import re

import pytest
from msgspec.structs import replace

from canonicall import (
    Conversation,
    MalformedBody,
    Request,
    ToolCall,
    UnknownName,
    UnreadableConversation,
    dump,
    read_document,
)
from canonicall.importing import documents
from canonicall.importing.documents import CANONICAL_FILE, recognise
from canonicall.importing.kinds import Document
from canonicall.importing.pieces import Piece, pieces

HI = {"role": "user", "content": "Hi"}
CHAT = json.dumps({"messages": [HI], "n": 1}).encode()


def stored():
    chat = Conversation()
    chat.user("Hi")
    chat.assistant(ToolCall(id="x", name="f", args={}))
    return dump(chat)


@pytest.mark.parametrize(
    ("value", "format"),
    [
        ({"messages": [HI], "n": 1}, "openai-chat"),
        ({"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}, "gemini"),
        ({"input": "Hi"}, "openai-responses"),
        ([HI], "openai-chat"),
        ([{"role": "user", "parts": [{"text": "Hi"}]}], "gemini"),
        ([{"type": "message", "role": "user", "content": "Hi"}], "openai-responses"),
        ([{"role": "user", "content": [{"text": "Hi"}]}], "bedrock"),
    ],
)
def test_bodies_and_bare_lists_are_read(value, format):
    document = read_document(json.dumps(value).encode())
    assert document.format == format
    assert next(document.request.conversation.messages).text == "Hi"
    assert value in (document.body, *document.body.values())


def test_a_stored_conversation_is_read():
    document = read_document(stored())
    assert (document.format, document.body) == ("canonical", None)
    assert [one.name for one in document.request.conversation.ledger.open] == ["f"]


def test_a_cut_stored_conversation_is_read_with_its_finding():
    assert [one.code for one in read_document(stored()[:-9]).findings] == ["truncated_line"]


def test_a_byte_order_mark_is_no_content():
    assert read_document(b"\xef\xbb\xbf" + CHAT) == read_document(CHAT)
    assert read_document(b"\xef\xbb\xbf" + stored()).format == "canonical"


def test_the_named_format_counts():
    """Nothing is assumed where the format is named, and a list goes where that format has it."""
    plain = json.dumps([HI]).encode()
    assert "format_assumed" in [one.code for one in read_document(plain).findings]
    document = read_document(plain, "cohere")
    assert (document.format, document.findings) == ("cohere", ())
    assert read_document(plain, "openai-responses").body == {"input": [HI]}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "there is nothing in it"),
        (b" \n", "there is nothing in it"),
        (b"hello", "not JSON"),
        (b"\xff\xff", "not JSON"),
        (b'{"messages": [', "not JSON"),
        (b"7", "neither an object nor a list"),
        (b'{"role": "user", "content": "Hi"}', "a single message"),
        (b'{"colour": "red"}', "its fields: colour"),
        (b"{}", "its fields: none"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_transcript_is_told_in_one_line(data, said):
    with pytest.raises(MalformedBody, match=said) as caught:
        read_document(data)
    assert "\n" not in str(caught.value)


HALF = rb'{"model": "m", "messages": [{"role": "user", "content": "a\ud83d \ud83d\ude00 \\ud83d"}]}'


def test_half_of_a_character_is_replaced_and_told():
    """Python and JavaScript write it; providers refuse the whole body for it."""
    document = read_document(HALF)
    assert document.body["messages"][0]["content"] == "a\ufffd \U0001f600 \\ud83d"
    assert "lone_surrogate" in [one.code for one in document.findings]
    whole = HALF.replace(rb"a\ud83d", rb"a")
    assert "lone_surrogate" not in [one.code for one in read_document(whole).findings]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ('{"messages": []}'.encode("utf-16"), "this is UTF-16. Save it as UTF-8."),
        ('[{"role": "user"}]'.encode("utf-16-le"), "this is UTF-16. Save it as UTF-8."),
        (gzip.compress(b"{}", mtime=0), "this is compressed. Unpack it with gunzip."),
        (b"\x28\xb5\x2f\xfd\x04", "this is compressed. Unpack it with zstd -d."),
        (b"SQLite format 3\0\x10", "this is a database."),
    ],
)
def test_a_file_of_another_kind_is_called_by_its_name(data, said):
    with pytest.raises(MalformedBody, match=re.escape(said)):
        read_document(data)


def test_a_body_that_breaks_its_format_has_the_path():
    with pytest.raises(MalformedBody, match=r"\$\.messages\[0\]"):
        read_document(b'{"messages": [7], "n": 1}')
    assert recognise(b'{"messages": [7], "n": 1}').format == "openai-chat"


def test_a_damaged_stored_conversation_has_the_line():
    with pytest.raises(UnreadableConversation, match="line 2"):
        read_document(stored().split(b"\n")[0] + b"\n{}\n{}\n")


def test_an_unknown_format_names_those_there_are():
    with pytest.raises(UnknownName, match="Did you mean 'openai-chat'"):
        read_document(CHAT, "openai-chatt")


def test_another_kind_of_file_is_one_more_entry(monkeypatch):
    """A kind that is added is asked before bodies are, and can be named."""
    log = replace(
        CANONICAL_FILE,
        name="log",
        detects=lambda data: data.startswith(b"LOG"),
        read=lambda data: Document("log", Request(Conversation()), None),
    )
    monkeypatch.setattr(documents, "DOCUMENT_KINDS", [log, *documents.DOCUMENT_KINDS])
    assert read_document(b"LOG 1").format == "log"
    assert read_document(CHAT, "log").format == "log"
    assert list(pieces([b"LOG 1\n", b"LOG 2\n"])) == [Piece(b"LOG 1\nLOG 2\n")]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([], [Piece(b"")]),
        ([b"\n", b" \n"], [Piece(b"\n \n")]),
        ([CHAT], [Piece(CHAT)]),
        ([b"\n", CHAT + b"\n", b"\n"], [Piece(CHAT + b"\n")]),
        ([CHAT + b"\n", b"\n", b"oops\n", CHAT], [(CHAT + b"\n", 1), (b"oops\n", 3), (CHAT, 4)]),
        ([b"{\n", b'"messages": []}\n'], [Piece(b'{\n"messages": []}\n')]),
        ([b"hello\n", b"\n", CHAT], [(b"hello\n", 1), (CHAT, 3)]),
        ([b"hello\n", b"7\n", CHAT], [Piece(b"hello\n7\n" + CHAT)]),
        ([b"hello\n"], [Piece(b"hello\n")]),
        ([HALF + b"\n", CHAT], [(HALF + b"\n", 1), (CHAT, 2)]),
        ([b"[\n", CHAT + b"\n", b"]\n"], [Piece(b"[\n" + CHAT + b"\n]\n")]),
        ([b"7\n", b"8\n"], [Piece(b"7\n8\n")]),
        (stored().splitlines(keepends=True), [Piece(stored())]),
    ],
)
def test_a_file_is_one_document_or_one_a_line(lines, expected):
    assert list(pieces(lines)) == [
        one if isinstance(one, Piece) else Piece(*one) for one in expected
    ]


def test_a_long_file_is_never_held_whole():
    """A line is asked for only when the documents before it were taken."""
    asked = []

    def lines():
        for number in range(1000):
            asked.append(number)
            yield CHAT + b"\n"

    found = pieces(lines())
    for _ in range(5):
        next(found)
    assert len(asked) < 10


def test_a_document_without_an_end_is_refused(monkeypatch):
    """One endless line, and endless lines."""
    monkeypatch.setattr("canonicall.importing.pieces.MOST_BYTES", 1000)
    taken = 0

    class Endless:
        def __init__(self, line):
            self._line = line

        def readline(self, size):
            nonlocal taken
            taken += len(self._line[:size])
            return self._line[:size]

        def __iter__(self):
            raise AssertionError("lines are read with a limit")

    for line in (b"x" * 5000, b"y\n", b"{\n"):
        taken = 0
        with pytest.raises(MalformedBody, match="more than 1,000 bytes"):
            list(pieces(Endless(line)))
        assert taken < 5000
