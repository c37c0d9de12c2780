"""A real model on a real server, before it the gateway, before that the official SDKs."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from models.llama_server import LONG
from sdk_fronts import FRONTS, SCHEMA

pytestmark = [pytest.mark.deep, pytest.mark.needs("models")]

WAYS = {"whole": False, "streamed": True}
STATELESS = [name for name in FRONTS if name != "chained"]
REQUIRED: dict[str, dict[str, Any]] = {
    "chat": {"tool_choice": "required"},
    "responses": {"tool_choice": "required"},
    "messages": {"tool_choice": {"type": "any"}},
    "gemini": {"tool_config": {"function_calling_config": {"mode": "ANY"}}},
}
NAMED: dict[str, dict[str, Any]] = {
    "chat": {"tool_choice": {"type": "function", "function": {"name": "get_weather"}}},
    "responses": {"tool_choice": {"type": "function", "name": "get_weather"}},
    "messages": {"tool_choice": {"type": "tool", "name": "get_weather"}},
    "gemini": {
        "tool_config": {
            "function_calling_config": {"mode": "ANY", "allowed_function_names": ["get_weather"]}
        }
    },
}
NONE: dict[str, dict[str, Any]] = {
    "chat": {"tool_choice": "none"},
    "responses": {"tool_choice": "none"},
    "messages": {"tool_choice": {"type": "none"}},
    "gemini": {"tool_config": {"function_calling_config": {"mode": "NONE"}}},
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("front", STATELESS)
def test_plain_chat(fronts, front, way):
    said = fronts.begin(front, streamed=WAYS[way]).ask("calls", "What is the capital of Norway?")
    assert said.text.strip()
    assert said.calls == ()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("front", FRONTS)
@pytest.mark.parametrize("setup", ["calls", "leaks"])
def test_a_call_its_result_and_an_answer(fronts, setup, front, way):
    """Whether the server reads the call, or leaves it in the text of the reply."""
    conversing = fronts.begin(front, streamed=WAYS[way])
    first = conversing.ask(setup, "get_weather: Oslo?")
    assert [(name, args) for _, name, args in first.calls] == [("get_weather", {"city": "Oslo"})]
    assert not first.text.strip()

    last = conversing.answer(setup, first, ["windy"])
    assert last.calls == ()
    assert last.text == "It is windy in Oslo."


@pytest.mark.parametrize("front", STATELESS)
def test_a_forced_call(fronts, front):
    conversing = fronts.begin(front)
    conversing.more |= REQUIRED[front]
    said = conversing.ask("calls", "get_weather: Oslo?")
    assert [(name, args) for _, name, args in said.calls] == [("get_weather", {"city": "Oslo"})]


@pytest.mark.parametrize("front", STATELESS)
def test_a_named_tool_is_called_though_another_is_asked_for(fronts, front):
    """The server knows no names in a choice, and would call what it likes."""
    conversing = fronts.begin(front)
    conversing.more |= NAMED[front]
    said = conversing.ask("calls", "local_time: Oslo?")
    assert [name for _, name, _ in said.calls] == ["get_weather"]


@pytest.mark.parametrize("front", STATELESS)
@pytest.mark.parametrize("setup", ["calls", "leaks"])
def test_nothing_is_called_where_calls_are_forbidden(fronts, setup, front):
    conversing = fronts.begin(front)
    conversing.more |= NONE[front]
    assert conversing.ask(setup, "get_weather: Oslo?").calls == ()


def _chat(client: Any) -> Any:
    asked = [{"role": "user", "content": "Tell a story."}]
    return client.chat.completions.create(
        model="endless", messages=asked, max_tokens=LONG, stream=True
    )


def _responses(client: Any) -> Any:
    return client.responses.create(
        model="endless", input="Tell a story.", max_output_tokens=LONG, stream=True
    )


def _messages(client: Any) -> Any:
    asked = [{"role": "user", "content": "Tell a story."}]
    return client.messages.create(model="endless", messages=asked, max_tokens=LONG, stream=True)


def _gemini(client: Any) -> Any:
    return client.models.generate_content_stream(
        model="endless", contents="Tell a story.", config={"max_output_tokens": LONG}
    )


STREAMS: dict[str, Callable[[Any], Any]] = {
    "chat": _chat,
    "responses": _responses,
    "messages": _messages,
    "gemini": _gemini,
}


@pytest.mark.parametrize("front", STREAMS)
def test_the_model_stops_when_the_client_goes(fronts, llama, front):
    stream = STREAMS[front](fronts.clients[front])
    for _, _ in zip(range(8), stream, strict=False):
        pass
    assert llama.slot("endless")["is_processing"]
    stream.close()
    assert llama.idle_slot("endless")["n_prompt_tokens"] < LONG


def test_a_reply_by_a_schema(fronts):
    """The server holds the model to it by a grammar."""
    conversing = fronts.begin("chat")
    shape = {"type": "json_schema", "json_schema": {"name": "place", "schema": SCHEMA}}
    conversing.more["response_format"] = shape
    said = conversing.ask("calls", "Name a city.")
    assert list(json.loads(said.text)) == ["city"]
