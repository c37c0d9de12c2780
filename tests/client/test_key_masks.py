"""Keys in use are taken out of replies: their forms, their pieces, and what is no key."""

import json
from itertools import pairwise
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonicall.blocks import Message, Text, Thinking, ToolCall
from canonicall.client.config import ProviderConfig
from canonicall.client.key_masks import KeyMask, MaskedEvents, is_key
from canonicall.client.secrets import Secret
from canonicall.events import ArgumentsAdded, BlockEnded, BlockStarted, StreamEnded, TextAdded
from canonicall.reply import Reply

KEY = "AbC/de+f0123456789=="
MASK = KeyMask([Secret(KEY), Secret("short")])


@pytest.mark.parametrize(
    "form",
    [
        KEY,
        quote(KEY, safe=""),
        quote(KEY, safe="").lower().replace("abc", "AbC"),
        "AbC\\/de+f0123456789==",
    ],
)
def test_a_key_is_found_in_every_form(form):
    assert MASK.text(f"it is {form}!") == "it is ***!"
    assert MASK.data(f"it is {form}!".encode()) == b"it is ***!"


def test_a_key_is_found_whatever_escapes_its_json_has():
    letters = "".join(f"\\u{ord(one):04x}" for one in KEY)
    assert MASK.data(f'{{"a":"{letters}"}}'.encode()) == b'{"a":"***"}'


def test_json_without_a_key_stays_byte_for_byte():
    for data in (b'{ "a" : "\\u003cb\\u003e" }', b'{"a":"\\/"', b'{"a":"\\u0041bC"}'):
        assert MASK.data(data) == data


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("ollama", False),
        ("EMPTY", False),
        ("lm-studio", False),
        ("sk-no-key-required", False),
        ("sk-1234567890", True),
        ("correct-horse-battery-staple", True),
    ],
)
def test_words_that_local_servers_take_are_no_keys(text, is_one):
    assert is_key(text) is is_one
    assert bool(KeyMask([Secret(text)]).keys) is is_one


def test_credentials_are_keys_and_headers_named_like_them():
    config = ProviderConfig(
        key="sk-a", headers={"x-api-token": "t0ken", "authorization": "Bearer b", "x-beta": "on"}
    )
    assert [one.reveal() for one in config.credentials if one] == ["sk-a", "t0ken", "b"]
    assert "on" in [one.reveal() for one in config.secrets]


@given(
    st.lists(st.sampled_from([KEY, KEY[:3], KEY[:-1], KEY[5:], "A", " and ", "=="]), max_size=8),
    st.integers(1, 9),
)
def test_pieces_say_what_the_whole_says(parts, size):
    """However a text is cut, its pieces together are the text without keys, and nothing waits that
    begins no key."""
    text = "".join(parts)
    events = MaskedEvents(MASK, ())
    shown = ""
    for at in range(0, len(text), size):
        shown += "".join(one.text for one in events.feed([TextAdded(0, text[at : at + size])]))
        waits = len(MASK.text(text[: at + size])) - len(shown)
        assert 0 <= waits < len(KEY) * 2
    *rest, ended = events.feed([BlockEnded(0, Text(text=text))])
    shown += "".join(one.text for one in rest)
    assert shown == MASK.text(text)
    assert ended.block.text == MASK.text(text)


def test_what_begins_no_key_does_not_wait():
    events = MaskedEvents(MASK, ())
    sent = [BlockStarted(0, Text(text="")), TextAdded(0, "Well"), TextAdded(0, "b A")]
    assert events.feed(sent) == [*sent[:2], TextAdded(0, "b ")]
    end = StreamEnded(Reply(Message("assistant", (Text(text="Wellb A"),))))
    assert events.feed([end]) == [TextAdded(0, "A"), end]


KEYS = (KEY, "sk-proj-Zq7Tn0aLw3XcV9", "nvapi-0123456789-abc", "sk-proj-Zq7Tn0aLw3XcV9-longer")
SOME = KeyMask(map(Secret, KEYS))
PARTS = ("a", "sk", "n", "\\n", '\\"', "\\u00e9", "\\\\ ", "%2", " ")
AROUND = st.lists(st.sampled_from(PARTS), max_size=6)


@st.composite
def spelled_keys(draw):
    """A key, and one way to write it into JSON: each character as it is or escaped."""
    key = draw(st.sampled_from(KEYS))
    ways = draw(st.lists(st.sampled_from("pppuU/"), min_size=len(key), max_size=len(key)))
    return key, "".join(map(_spelled, key, ways))


def _spelled(char, way):
    if way == "/":
        return "\\/" if char == "/" else char
    code = f"{ord(char):04x}"
    return {"p": char, "u": f"\\u{code}", "U": f"\\u{code.upper()}"}[way]


def cut(text, places):
    places = sorted({place % (len(text) + 1) for place in places} | {0, len(text)})
    return [text[one:two] for one, two in pairwise(places)]


@given(AROUND, spelled_keys(), AROUND, st.lists(st.integers(0, 500), max_size=12), st.booleans())
def test_no_split_and_no_spelling_hides_a_key(before, spelled, behind, places, by_character):
    """In arguments, which are JSON: they stay JSON, and all but the key stays as it is."""
    _, written = spelled
    text = '{"a":"' + "".join(before) + written + "".join(behind) + '"}'
    events = MaskedEvents(SOME, ())
    shown = ""
    for piece in cut(text, range(len(text)) if by_character else places):
        shown += "".join(one.text for one in events.feed([ArgumentsAdded(0, piece)]))
    call = ToolCall(id="c", name="f", args=json.loads(text), raw=text)
    *rest, ended = events.feed([BlockEnded(0, call)])
    shown += "".join(one.text for one in rest)
    words = [json.loads(f'"{"".join(one)}"') for one in (before, behind)]
    assert json.loads(shown) == {"a": "***".join(words)}
    assert ended.block.args == json.loads(shown)
    assert ended.block.raw == shown == SOME.text(text)
    assert json.loads(SOME.data(text.encode())) == json.loads(shown)


@given(st.lists(st.sampled_from([*PARTS, *KEYS]), max_size=6))
def test_a_reply_without_keys_stays_as_it_is(words):
    """It is the same object then; else every text of it is without keys."""
    text = "".join(words)
    blocks = (Thinking(text=text), Text(text=text), ToolCall(id="c", name="f", args={"a": text}))
    reply = Reply(Message("assistant", blocks))
    (event,) = MaskedEvents(SOME, ()).feed([StreamEnded(reply)])
    if SOME.text(text) == text:
        assert event.reply is reply
    else:
        thought, said, call = event.reply.message.blocks
        assert thought.text == said.text == call.args["a"] == SOME.text(text)


@pytest.mark.parametrize("before", ["\\", "\\\\", "\\\\\\", "\\n\\"])
@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_arguments_stay_json_where_a_key_begins_like_an_escape(before, size):
    """In JSON, `\\n` is one character: without its backslash the rest would be another one."""
    text = '{"a":"' + before + 'nvapi-0123456789-abc"}'
    events = MaskedEvents(SOME, ())
    made = [
        one
        for at in range(0, len(text), size)
        for one in events.feed([ArgumentsAdded(0, text[at : at + size])])
    ]
    shown = "".join(one.text for one in made)
    assert json.loads(shown)["a"].endswith("***")
    assert shown == SOME.text(text)
