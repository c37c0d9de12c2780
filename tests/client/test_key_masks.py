"""Keys in use are taken out of replies: their forms, their pieces, and what is no key."""

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonicall.blocks import Message, Text
from canonicall.client.config import ProviderConfig
from canonicall.client.key_masks import KeyMask, MaskedEvents, is_key
from canonicall.client.secrets import Secret
from canonicall.events import BlockEnded, BlockStarted, StreamEnded, TextAdded
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
    assert MASK.json(f'{{"a":"{letters}"}}'.encode()) == b'{"a":"***"}'


def test_json_without_a_key_stays_byte_for_byte():
    for data in (b'{ "a" : "\\u003cb\\u003e" }', b'{"a":"\\/"', b'{"a":"\\u0041bC"}'):
        assert MASK.json(data) == data


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
    assert bool(KeyMask([Secret(text)]).forms) is is_one


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
