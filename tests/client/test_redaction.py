"""No secret that goes in comes out, wherever it stands and in whatever pieces it comes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batches import each
from canonicall.client.redaction import is_secret_name, redacted, redacted_text

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
TAILS = st.text(alphabet=LETTERS, min_size=24, max_size=40)
BEGINNINGS = (
    *(
        "sk-",
        "sk-proj-",
        "sk-ant-api03-",
        "sk-or-v1-",
        "sk-canonicall-",
        "sk_live_",
        "pk_test_",
        "pk-",
    ),
    *("csk-", "pcsk_", "AIza", "ya29.", "AQ.", "AKIA", "ASIA", "ABSK", "gsk_", "hf_", "fw_", "r8_"),
    *("tgp_v1_", "lsv2_pt_", "xai-", "nvapi-", "pplx-", "dapi", "ghp_", "gho_", "github_pat_"),
    *("glpat-", "xoxb-", "eyJ", "Bearer ", "bearer  ", "BEARER\t", "Basic ", "basic "),
)
KEYS = st.builds(str.__add__, st.sampled_from(BEGINNINGS), TAILS)
NAMES = st.sampled_from(
    [
        *("key", "api_key", "apiKey", "X-Api-Key", "token", "access_token", "authToken", "secret"),
        *("client_secret", "clientSecretValue", "Authorization", "password", "db_password2"),
        *("passphrase", "credentials", "cookie", "aws_secret_access_key"),
    ]
)
WORDS = st.text(alphabet=" .,\n\t\"'\\{}[]äß漢🙂:=-", max_size=20)
"""Anything around a key but letters and digits, which would make it another word."""
VALUES = st.text(alphabet=LETTERS + " \"'\\/äß漢,;{}[]", min_size=1, max_size=30)


def shown(body):
    """What a log would hold."""
    return json.dumps(redacted(body), ensure_ascii=False)


def wrapped(value, layers):
    """Deeper in a body, also in JSON inside a text."""
    for layer in layers:
        match layer:
            case "list":
                value = [1, value]
            case "object":
                value = {"content": value, "type": "text"}
            case "text":
                value = {"arguments": json.dumps(value, ensure_ascii=False)}
    return value


LAYERS = st.lists(st.sampled_from(["list", "object", "text"]), max_size=4)


def tail_of(key):
    return key[-20:]


@given(KEYS, WORDS, WORDS, LAYERS)
def test_what_has_the_form_of_a_key(key, before, after, layers):
    body = json.dumps(wrapped(before + key + after, layers))
    assert tail_of(key) not in shown(body.encode())


@given(KEYS, WORDS, WORDS)
def test_the_same_in_text_that_is_no_json(key, before, after):
    assert tail_of(key) not in shown((before + key + after).encode())


@given(NAMES, TAILS, VALUES, LAYERS)
def test_whatever_stands_in_a_field_that_is_named_like_a_secret(name, secret, more, layers):
    for value in (secret + more, [{"deep": secret}], {"a": [secret + more]}):
        body = json.dumps(wrapped({name: value, "model": "m"}, layers))
        assert secret not in shown(body.encode())


@given(NAMES, TAILS, VALUES, st.integers(0, 3))
def test_the_same_in_json_that_is_broken(name, secret, more, cut):
    body = json.dumps({"model": "m", name: secret + more.replace("\n", "")})
    assert secret[4:] not in shown(body[: -1 - cut].encode())


@given(NAMES, TAILS)
def test_the_same_in_words(name, secret):
    for text in (f"my {name}: {secret}", f"{name}={secret}\nmore", f"--{name} = '{secret}'"):
        assert secret not in redacted_text(text)
        assert secret not in shown(json.dumps({"content": text}).encode())


FRAMES = {
    "sse": lambda events: "".join(f"event: x\ndata: {one}\n\n" for one in events) + "data: [DONE]",
    "lines": "\n".join,
    "array": lambda events: f"[{','.join(events)}]",
}


@given(KEYS, WORDS, WORDS, st.data(), st.sampled_from(sorted(FRAMES)))
def test_a_key_that_is_streamed_in_pieces(key, before, after, data, framing):
    text = before + key + after
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=8)))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    events = [json.dumps({"id": "c1", "choices": [{"delta": {"content": one}}]}) for one in pieces]
    said = redacted(FRAMES[framing](events).encode())
    told = [one["choices"][0]["delta"]["content"] for one in said if isinstance(one, dict)]
    assert tail_of(key) not in "".join(told)
    assert not any(piece in tail_of(key) for piece in told if len(piece) > 3)


def test_arguments_that_are_streamed_in_pieces():
    pieces = ['{"city": "Rome", "pass', 'word": "hun', "ter", '2 and more"}']
    events = [json.dumps({"delta": {"partial_json": piece}}) for piece in pieces]
    said = shown("".join(f"data: {one}\n\n" for one in events).encode())
    assert "Rome" in said
    assert not any(part in said for part in ("hun", '"ter"', "2 and more"))


@given(st.binary(max_size=300))
def test_anything_can_be_logged(body):
    json.dumps(redacted(body))


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=10,
)


@given(JSON)
def test_any_json_can_be_logged(value):
    json.dumps(redacted(json.dumps(value).encode()))


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"a":'])
def test_hostile_depth_is_cut_and_said(opening):
    closing = opening.replace('"a":', "").translate({91: "]", 123: "}"})[::-1]
    assert "nested too deeply" in shown((opening * 150 + "1" + closing * 150).encode())
    shown((opening * 50_000).encode())


def test_json_in_text_in_json_as_deep_as_it_goes():
    value = {"password": "hunter2"}
    for _ in range(12):
        value = {"a": json.dumps(value)}
    assert "hunter2" not in shown(json.dumps(value).encode())


@pytest.mark.parametrize(
    "text",
    [
        "sk-" * 25_000,
        "eyJ" * 25_000,
        "key" * 25_000,
        "-----BEGIN " * 25_000,
        "://a:" * 25_000,
        "A" * 100_000 + "!",
        "password" * 25_000,
        "Bearer " * 25_000,
    ],
)
def test_long_texts_of_almost_keys_end(text):
    """They would not within a day, were each start looked at to the end."""
    redacted_text(text)


def test_pictures_are_told_by_their_length():
    body = json.dumps({"image_url": {"url": "data:image/png;base64," + "iVBO" * 1000}})
    assert redacted(body.encode()) == {
        "image_url": {"url": "data:image/png;base64,(4000 characters)"}
    }


@each("beginning", BEGINNINGS)
def test_each_kind_of_key(beginning):
    assert redacted_text(f"a '{beginning}{LETTERS[:24]}'") == "a '***'"


def test_private_keys_and_passwords_in_addresses():
    pem = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4\n\nMIIabc\n-----END RSA PRIVATE KEY-----"
    assert redacted_text(f"a {pem} b") == "a *** b"
    assert redacted_text("postgres://me:hunter2@host/db") == "postgres://me:***@host/db"


def test_what_is_no_secret_stays():
    body = {
        "model": "gpt-5",
        "max_tokens": 100,
        "usage": {"prompt_tokens": 5, "completion_tokens": 6},
        "messages": [{"role": "user", "content": "The task-force asks: how do risk-takers sleep?"}],
        "tool": "ask_clarifying_questions",
        "tools": [{"name": "weather", "parameters": {"type": "object"}}],
        "stream": True,
        "token": None,
        "text": '{"unit": "°C"}',
    }
    said = redacted(json.dumps(body).encode())
    assert json.loads(said.pop("text")) == json.loads(body.pop("text"))
    assert said == body
    assert redacted(b"") == ""
    assert redacted(b"5") == "5"


@pytest.mark.parametrize(
    "name", ["max_tokens", "model", "input_tokens", "keyword", "keyboard", "id"]
)
def test_names_that_are_none_of_secrets(name):
    assert not is_secret_name(name)
