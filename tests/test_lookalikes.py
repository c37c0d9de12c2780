"""Everything that is given in place of a request or a reply is refused by name, at every door."""

from contextlib import suppress
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from batches import each
from canonicall import CanonicallError, MalformedBody, decode_request, decode_response, translate
from canonicall.cli.verbs import cli
from canonicall.detection import detect_format
from canonicall.facts.target import FORMATS
from canonicall.lookalikes import TITLES, likeness, text_likeness
from front_bodies import request_of
from gateway_support import World, ask
from strange_bodies import ERRORS, REPLIES, REQUESTS, STRANGE, TEXTS

FRONTS = ("openai-chat", "openai-responses", "anthropic", "gemini")
NAMED = [(name, what, value) for name, (what, value) in STRANGE.items()]
WRITTEN = [(name, what, data) for name, (what, data) in TEXTS.items()]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                (
                    *("messages", "input", "contents", "role", "content", "parts", "text", "type"),
                    *("choices", "message", "output", "error", "candidates", "delta", "prompt"),
                )
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)


def refused(decode: Any, value: Any, format: str) -> str:
    with pytest.raises(MalformedBody) as caught:
        decode(value, format)
    return str(caught.value)


@each("format", FORMATS)
@each("name, what, value", NAMED)
def test_it_is_no_request(format, name, what, value):
    for given_as in (value, msgspec.json.encode(value)):
        assert f"this is {what}" in refused(decode_request, given_as, format)
    with pytest.raises(MalformedBody):
        translate(msgspec.json.encode(value), format, "anthropic")


@each("format", FORMATS)
@each("name, what, value", NAMED)
def test_it_is_no_reply(format, name, what, value):
    if "error" in what:
        pytest.skip("an error is what a provider sends for a reply")
    assert f"this is {what}" in refused(decode_response, msgspec.json.encode(value), format)


@each("format", FORMATS)
@each("name", ERRORS)
def test_an_error_is_no_empty_reply(format, name):
    """It is read as a reply that failed where the format has such, else refused by name."""
    try:
        reply = decode_response(ERRORS[name], format)
    except MalformedBody as error:
        told = str(error)
    else:
        told = str(reply) if reply.message.finish == "error" else ""
    assert "Bad." in told


@each("format", FORMATS)
@each("name, what, data", WRITTEN)
def test_text_that_is_not_json_is_named(format, name, what, data):
    for given_as in (data, data.decode()):
        assert f"the body is {what}" in refused(decode_request, given_as, format)
        assert f"the body is {what}" in refused(decode_response, given_as, format)
    assert detect_format(data) is None


@each("format", FORMATS)
@each("other", FORMATS)
def test_a_reply_is_no_request_and_a_request_no_reply(format, other):
    title = TITLES[other]
    said = f"this is a reply of {title}, not a request. Read it with decode_response"
    assert said in refused(decode_request, REPLIES[other], format)
    said = f"this is a request of {title}, not a reply. Read it with decode_request"
    assert said in refused(decode_response, REQUESTS[other], format)


@each("format", FORMATS)
@each("other", FORMATS)
def test_a_body_of_another_format_is_understood_or_named(format, other):
    """Some formats are alike; nothing of a body is lost unless an error says whose it is."""
    for decode, bodies in ((decode_request, REQUESTS), (decode_response, REPLIES)):
        try:
            read = decode(bodies[other], format)
        except MalformedBody as error:
            told, wanted = str(error), f"of {TITLES[other]}"
        else:
            told = str(read.conversation.entries if decode is decode_request else read.message)
            wanted = "Hello."
        assert wanted in told
        assert format != other or wanted == "Hello."


@each("other", FORMATS)
def test_the_name_of_a_provider_is_enough_for_a_reply(other):
    providers = {"openai-chat": "openai", "openai-responses": "openai"}
    assert decode_response(REPLIES[other], providers.get(other, other)).message.blocks


def test_a_provider_that_speaks_two_formats_says_what_it_got():
    said = refused(decode_request, {"jsonrpc": "2.0"}, "openai")
    assert "this is an MCP message (JSON-RPC); its format is not recognised, and openai" in said


@each("format", FORMATS)
def test_an_empty_history_is_no_silence(format):
    field = {"gemini": "contents", "openai-responses": "input"}.get(format, "messages")
    assert [one.code for one in decode_request({field: []}, format).findings] == ["no_messages"]
    assert "`" + field in refused(decode_request, {field: None}, format)


@given(JSON, st.sampled_from(FORMATS))
def test_only_documented_errors(value, format):
    likeness(value)
    detect_format(value)
    for door in (decode_request, decode_response, lambda one, of: translate(one, of, "anthropic")):
        with suppress(CanonicallError):
            door(value, format)


@given(st.binary(max_size=60) | st.text(max_size=60), st.sampled_from(FORMATS))
def test_only_documented_errors_for_bytes(data, format):
    text_likeness(data)
    detect_format(data)
    for door in (decode_request, decode_response):
        with suppress(CanonicallError):
            door(data, format)


@pytest.mark.parametrize("verb", [["check", "--as"], ["fix", "--as"], ["convert", "--to"]])
@each("name, what, value", NAMED)
def test_every_verb_refuses_it(verb, tmp_path, name, what, value):
    """A bare list of messages is a transcript for them."""
    if isinstance(value, list):
        pytest.skip("a list is read as the messages of a body")
    file = tmp_path / "body.json"
    file.write_bytes(msgspec.json.encode(value))
    done = CliRunner().invoke(cli, [verb[0], str(file), verb[1], "anthropic"])
    assert done.exit_code == 1, done.output
    assert done.stdout == ""
    assert str(file) in done.stderr


@each("name, what, data", WRITTEN)
def test_parse_and_check_name_what_is_not_json(tmp_path, name, what, data):
    file = tmp_path / "body.txt"
    file.write_bytes(data)
    done = CliRunner().invoke(cli, ["check", str(file), "--as", "anthropic"])
    assert done.exit_code in (1, 3)
    parsed = CliRunner().invoke(cli, ["parse", str(file)])
    assert parsed.exit_code == ("stream" in what), parsed.output
    assert ("the text of a stream" in parsed.stderr) == ("stream" in what)


@each("name, what, value", NAMED)
def test_parse_refuses_what_no_model_prints(tmp_path, name, what, value):
    file = tmp_path / "body.json"
    file.write_bytes(msgspec.json.encode(value))
    done = CliRunner().invoke(cli, ["parse", str(file)])
    sent = ("batch", "event of a stream", "MCP", "error (Bad.)")
    is_sent = any(word in what for word in sent) and value not in (
        ERRORS["of Ollama"],
        ERRORS["of Bedrock"],
    )
    assert done.exit_code == is_sent, done.output
    assert (f"this is {what}" in done.stderr) == is_sent


@pytest.mark.parametrize("front", FRONTS)
@each("name, what, value", NAMED)
async def test_no_front_asks_a_provider(front, name, what, value):
    world = World()
    gateway = world.gateway()
    model = "bedrock:some-model"
    path, _ = request_of(front, model, "Hi")
    body = {**value, "model": model} if isinstance(value, dict) else value
    answer = await ask(gateway, path, msgspec.json.encode(body))
    assert answer.status == 400, answer.json
    assert "error" in answer.json
    assert not any(one.seen for one in world.simulators.values())
    await gateway.close()
