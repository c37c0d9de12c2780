"""Whatever a client sends: an answer in the form of the format, never an exception."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonicall.testing.exchange import SimRequest
from canonicall.testing.simulator import Simulator
from testing.asking import ASKED, KEY

every_format = pytest.mark.parametrize("format", ASKED)
SIMULATORS = {
    format: [
        Simulator(provider),
        Simulator(provider, signatures="any"),
    ]
    for format, (provider, *_) in ASKED.items()
}

_WORDS = st.sampled_from(
    [
        *(
            "role",
            "content",
            "type",
            "text",
            "user",
            "assistant",
            "tool",
            "tool_calls",
            "id",
            "name",
        ),
        *("function", "arguments", "tool_call_id", "tool_use", "tool_result", "tool_use_id"),
        *("thinking", "signature", "parts", "functionCall", "functionResponse", "thoughtSignature"),
        *("toolUse", "toolResult", "toolUseId", "reasoningContent", "reasoningText", "model"),
        *("function_call", "function_call_output", "call_id", "reasoning", "encrypted_content"),
        *("item_reference", "output", "input", "stream", "properties", "object", "parameters"),
    ]
)
_SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | _WORDS
)
_JSON = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(_WORDS | st.text(max_size=5), inner, max_size=5)
    ),
    max_leaves=25,
)


KEPT = {
    "anthropic": ("thread", "compaction"),
    "openai-responses": ("conversation", "previous_response_id", "prompt"),
}


@pytest.mark.parametrize("format", KEPT)
@given(data=st.data())
def test_a_reference_of_any_form_is_answered(format, data):
    _, path, _, body = ASKED[format]
    field = data.draw(st.sampled_from(KEPT[format]))
    body = {**body, field: data.draw(_JSON | st.fixed_dictionaries({"type": _JSON, "id": _JSON}))}
    headers = {**KEY, "anthropic-beta": "message-threads-2026-08-12"}
    for simulator in SIMULATORS[format]:
        assert simulator.answer(SimRequest.of("POST", path, body, headers)).status in (
            200,
            400,
            404,
        )


@given(body=_JSON, path=st.sampled_from(["", "/{id}", "/{id}/items", "/{id}/items/x", "/none"]))
def test_conversations_take_any_body(body, path):
    simulator = Simulator("openai")
    made = simulator.answer(SimRequest.of("POST", "/v1/conversations", {}, KEY))
    where = "/v1/conversations" + path.replace("{id}", json.loads(made.data)["id"])
    for method in ("POST", "GET", "DELETE"):
        answer = simulator.answer(SimRequest.of(method, where, body, KEY))
        assert answer.status in (200, 400, 404, 405)
    assert simulator.answer(SimRequest.of("POST", "/v1/responses/compact", body, KEY)).status < 500


def error_words(format, body):
    """What an error body says, read as the clients of the format read it."""
    match format:
        case "openai-chat" | "openai-responses" | "gemini":
            return body["error"]["message"]
        case "anthropic":
            assert body["type"] == "error"
            return body["error"]["message"]
        case "ollama":
            return body["error"]
        case _:
            return body["message"]


def answered(format, body):
    """The answer to a body, which is either a reply or an error that says something."""
    for simulator in SIMULATORS[format]:
        _, path, stream_path, _ = ASKED[format]
        for url in {path, stream_path}:
            response = simulator.answer(SimRequest.of("POST", url, body, KEY))
            data = response.data
            assert response.status == 200 or 400 <= response.status < 500
            if response.status != 200:
                assert error_words(format, json.loads(data))


@every_format
@given(body=_JSON)
def test_any_json(format, body):
    answered(format, json.dumps(body).encode())


@every_format
@given(data=st.data())
def test_a_sound_request_with_one_part_replaced(format, data):
    """The damage is deep inside: there the checks of the outside are of no help."""
    body = json.loads(json.dumps(ASKED[format][3]))
    place = body
    while isinstance(place, dict | list) and place:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(place[key], dict | list) or data.draw(st.booleans()):
            place[key] = data.draw(_JSON)
            break
        place = place[key]
    answered(format, json.dumps(body).encode())


@every_format
@given(body=st.binary())
def test_any_bytes(format, body):
    answered(format, body)


@every_format
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b'"text"',
        b"\xff\xfe",
        b'{"model": ' + b"[" * 5000 + b"]" * 5000 + b"}",
        b'{"messages": ' + b'{"content":' * 900 + b"1" + b"}" * 900 + b"}",
        b'{"model": "\\ud800"}',
    ],
    ids=["none", "null", "list", "text", "not UTF-8", "deep list", "deep object", "surrogate"],
)
def test_bodies_that_are_no_request(format, body):
    answered(format, body)


@pytest.mark.parametrize("depth", [50, 400])
def test_a_schema_that_goes_deep_gives_arguments_all_the_same(depth):
    schema = {"type": "string"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"a": schema}, "required": ["a"]}
    _, path, _, body = ASKED["openai-chat"]
    function = {"name": "get_weather", "description": "weather", "parameters": schema}
    asked = {**body, "tools": [{"type": "function", "function": function}]}
    response = Simulator("vllm").answer(SimRequest.of("POST", path, asked, KEY))
    assert response.status in (200, 400)
