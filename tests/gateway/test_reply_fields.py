"""Replies are complete: every field that the official types require, from fronts and simulators,
whole and streamed; and a response repeats what its request asked for."""

import json
from typing import Any

import pytest

from canonicall.gateway.config import PromptSettings, PromptVersion
from canonicall.gateway.forwarded_replies import events_with_fields, with_fields
from canonicall.testing import Simulator
from canonicall.testing.exchange import SimRequest
from front_bodies import FORMATS, request_of
from gateway_backs import BOTH, alias, models, thinking_model, thinking_world
from gateway_support import World, ask
from judges.required_fields import missing
from judges.sources import MISSING

openai = pytest.importorskip("openai.types", reason=MISSING)
chat = pytest.importorskip("openai.types.chat", reason=MISSING)
responses = pytest.importorskip("openai.types.responses", reason=MISSING)
anthropic = pytest.importorskip("anthropic.types", reason=MISSING)
beta = pytest.importorskip("anthropic.types.beta", reason=MISSING)

BACKS = (
    *("openai/openai-chat", "openai/openai-responses", "anthropic/anthropic", "gemini/gemini"),
    *("mistral/openai-chat", "bedrock/bedrock", "cohere/cohere"),
)
WHOLE = {
    "openai-chat": (chat.ChatCompletion,),
    "openai-responses": (responses.Response,),
    "anthropic": (anthropic.Message, beta.BetaMessage),
    "gemini": (),
}
EVENTS = {
    "openai-chat": (chat.ChatCompletionChunk,),
    "openai-responses": (responses.ResponseStreamEvent,),
    "anthropic": (anthropic.RawMessageStreamEvent, beta.BetaRawMessageStreamEvent),
    "gemini": (),
}
# Open Responses 2026-04-24, ResponseResource: they are optional in the types, and required there.
SETTINGS = {
    "background": False,
    "frequency_penalty": 0,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "presence_penalty": 0,
    "previous_response_id": None,
    "prompt_cache_key": None,
    "reasoning": {"effort": None, "summary": None},
    "safety_identifier": None,
    "service_tier": "default",
    "store": True,
    "temperature": 1,
    "text": {"format": {"type": "text"}},
    "top_logprobs": 0,
    "top_p": 1,
    "truncation": "disabled",
}
# SDK beta_usage.py: absent where the request carried no token for it. SDK beta_thinking_delta.py:
# present where the beta for it is set.
ABSENT = (".fallback_credit", ".estimated_tokens")
FIGURES = ("output_tokens_details", "server_tool_use", "service_tier", "speed")
"""SDK usage.py: the figures after those that are numbers are required as well."""
QUESTIONS = {"words": "Hello?", "calls": BOTH}


@pytest.fixture(scope="module")
def world() -> World:
    return thinking_world()


def frames(stream: bytes) -> list[dict[str, Any]]:
    lines = [line.removeprefix(b"data:").strip() for line in stream.splitlines()]
    return [json.loads(line) for line in lines if line[:1] == b"{"]


def lacking(value: dict[str, Any], model: Any) -> list[str]:
    return [place for place in missing(value, model) if not place.endswith(ABSENT)]


def assert_whole(reply: dict[str, Any], front: str) -> None:
    for model in WHOLE[front]:
        assert lacking(reply, model) == []
    if front == "openai-responses":
        assert SETTINGS.keys() <= reply.keys()
        assert (reply["completed_at"] is not None) == (reply["status"] == "completed")
        assert reply["completed_at"] is None or reply["completed_at"] >= reply["created_at"] > 0
    elif front == "anthropic":
        assert set(FIGURES) <= reply["usage"].keys()
    elif front == "gemini":
        assert reply["candidates"][0]["finishReason"]
        assert {"usageMetadata", "modelVersion", "responseId"} <= reply.keys()


def assert_streamed(stream: bytes, front: str) -> None:
    events = frames(stream)
    assert events
    for event in events:
        for model in EVENTS[front]:
            assert lacking(event, model) == [], event
    if front == "openai-responses":
        first, last = events[0]["response"], events[-1]["response"]
        assert (first["status"], first["completed_at"]) == ("in_progress", None)
        assert_whole(last, front)
        assert first.keys() == last.keys()
    elif front == "anthropic":
        assert set(FIGURES) <= events[0]["message"]["usage"].keys()
        assert {"container", "stop_details"} <= events[-2]["delta"].keys()
    elif front == "gemini":
        assert_whole(events[-1], front)


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("back", BACKS)
@pytest.mark.parametrize("front", FORMATS)
async def test_a_reply_of_the_gateway_has_every_field(
    world: World, front: str, back: str, question: str
) -> None:
    gateway = world.gateway(models())
    text, tools = QUESTIONS[question], question == "calls"
    whole = await ask(gateway, *request_of(front, alias(back), text, tools=tools))
    streamed = await ask(gateway, *request_of(front, alias(back), text, tools=tools, streamed=True))
    await gateway.close()
    assert (whole.status, streamed.status) == (200, 200)
    assert_whole(whole.json, front)
    assert_streamed(streamed.body, front)


def asked(simulator: Simulator, path: str, body: Any = None) -> bytes:
    method = "GET" if body is None else "POST"
    headers = {"authorization": "Bearer k", "anthropic-version": "2023-06-01"}
    return simulator.answer(SimRequest.of(method, f"http://sim{path}", body or {}, headers)).data


OWNERS = {
    "openai-chat": ("openai", "gpt-5"),
    "openai-responses": ("openai", "gpt-5"),
    "anthropic": ("anthropic", "claude-sonnet-4-5"),
    "gemini": ("gemini", "gemini-3-pro"),
}


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("front", FORMATS)
def test_a_reply_of_a_simulator_has_every_field(front: str, question: str) -> None:
    provider, model = OWNERS[front]
    simulator = Simulator(provider, model=thinking_model)
    replies = []
    for streamed in (False, True):
        path, body = request_of(front, model, QUESTIONS[question], streamed=streamed)
        replies.append(asked(simulator, path, body))
    assert_whole(json.loads(replies[0]), front)
    assert_streamed(replies[1], front)


async def test_what_stands_beside_replies_has_every_field(world: World) -> None:
    gateway = world.gateway(models())
    version = {"anthropic-version": "2023-06-01"}
    name = alias("anthropic/anthropic")
    listed = await ask(gateway, "/v1/models", headers=version)
    shown = await ask(gateway, f"/v1/models/{name}", headers=version)
    refused = await ask(gateway, "/v1/messages", {})
    assert listed.json["data"]
    for one in (*listed.json["data"], shown.json):
        assert missing(one, anthropic.ModelInfo) == []
    assert missing(refused.json, anthropic.ErrorResponse) == []
    assert refused.json["request_id"] == refused.headers["x-canonicall-request-id"]
    for one in (await ask(gateway, "/v1/models")).json["data"]:
        assert missing(one, openai.Model) == []
    path, body = request_of("openai-responses", name, "Hello?")
    id = (await ask(gateway, path, body)).json["id"]
    items = await ask(gateway, f"{path}/{id}/input_items")
    count = await ask(gateway, f"{path}/input_tokens", body)
    await gateway.close()
    assert missing(items.json, responses.ResponseItemList) == []
    assert missing(count.json, responses.InputTokenCountResponse) == []


def test_what_stands_beside_replies_of_a_simulator_has_every_field() -> None:
    claude, gpt = Simulator("anthropic"), Simulator("openai", model=thinking_model)
    for one in json.loads(asked(claude, "/v1/models"))["data"]:
        assert missing(one, anthropic.ModelInfo) == []
    assert missing(json.loads(asked(claude, "/v1/messages", {})), anthropic.ErrorResponse) == []
    path, body = request_of("openai-responses", "gpt-5", "Hello?")
    id = json.loads(asked(gpt, path, body))["id"]
    items = json.loads(asked(gpt, f"{path}/{id}/input_items"))
    assert missing(items, responses.ResponseItemList) == []


ASKED: dict[str, Any] = {
    "frequency_penalty": 0.5,
    "instructions": "Be brief.",
    "max_output_tokens": 4000,
    "max_tool_calls": 3,
    "metadata": {"a": "b"},
    "parallel_tool_calls": False,
    "presence_penalty": 0.25,
    "prompt_cache_key": "k",
    "safety_identifier": "s",
    "store": True,
    "temperature": 0.5,
    "tool_choice": "auto",
    "top_p": 0.75,
    "truncation": "auto",
}


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(
    "back", ["anthropic/anthropic", "openai/openai-chat", "xai/openai-responses"]
)
async def test_a_response_repeats_what_was_asked_for(
    world: World, back: str, streamed: bool
) -> None:
    gateway = world.gateway(models())
    more = {**ASKED, "reasoning": {"effort": "low"}, "text": {"verbosity": "low"}}
    model = alias(back)
    path, body = request_of("openai-responses", model, BOTH, streamed=streamed)
    body |= more
    answer = await ask(gateway, path, body)
    assert answer.status == 200
    events = [one["response"] for one in frames(answer.body) if "response" in one]
    replies = events if streamed else [answer.json]
    replies.append((await ask(gateway, f"{path}/{replies[-1]['id']}")).json)
    await gateway.close()
    for response in replies:
        assert {name: response[name] for name in ASKED} == ASKED
        assert response["reasoning"] == {"effort": "low", "summary": None}
        assert response["text"] == {"format": {"type": "text"}, "verbosity": "low"}
        assert response["tools"] == body["tools"]
        assert response["model"] == model


def with_results(front: str, body: dict[str, Any], reply: dict[str, Any]) -> dict[str, Any]:
    """The next request: the reply goes into the history as it came, then the results."""
    if front == "openai-chat":
        message = reply["choices"][0]["message"]
        results = [
            {"role": "tool", "tool_call_id": one["id"], "content": "sunny"}
            for one in message["tool_calls"]
        ]
        return {**body, "messages": [*body["messages"], message, *results]}
    results = [
        {"type": "tool_result", "tool_use_id": one["id"], "content": "sunny"}
        for one in reply["content"]
        if one["type"] == "tool_use"
    ]
    said = [
        {"role": "assistant", "content": reply["content"]},
        {"role": "user", "content": results},
    ]
    return {**body, "messages": [*body["messages"], *said]}


@pytest.mark.parametrize("back", BACKS)
@pytest.mark.parametrize("front", ["openai-chat", "anthropic"])
async def test_a_client_that_gives_a_reply_back_loses_no_field(
    world: World, front: str, back: str
) -> None:
    """Fields that are written because they are required say nothing that a target could lack."""
    gateway = world.gateway(models())
    path, body = request_of(front, alias(back), BOTH)
    reply = (await ask(gateway, path, body)).json
    answer = await ask(gateway, path, with_results(front, body, reply))
    await gateway.close()
    assert answer.status == 200
    assert "fields_dropped" not in answer.headers["x-canonicall-changes"]


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("back", ["anthropic/anthropic", "openai/openai-responses"])
async def test_a_response_names_what_it_continues(world: World, back: str, streamed: bool) -> None:
    """Translated or forwarded: in each event that has it, and when it is asked for again. The
    provider is sent neither name."""
    prompts = {"pmpt_1": PromptSettings(versions={"1": PromptVersion()})}
    gateway = world.gateway(models(), prompts=prompts)
    path, body = request_of("openai-responses", alias(back), "Hello?", streamed=streamed)
    first = (await ask(gateway, path, {**body, "stream": False})).json
    conversation = (await ask(gateway, "/v1/conversations", {})).json["id"]
    named = {"id": conversation}
    for asked, repeated in (
        ({}, {"previous_response_id": None}),
        (
            {"previous_response_id": first["id"], "prompt": {"id": "pmpt_1"}},
            {"previous_response_id": first["id"], "prompt": {"id": "pmpt_1"}},
        ),
        ({"conversation": conversation}, {"conversation": named, "previous_response_id": None}),
        ({"conversation": named}, {"conversation": named}),
    ):
        answer = await ask(gateway, path, {**body, **asked})
        assert answer.status == 200, answer.body
        is_own = back.startswith("openai")
        assert answer.headers.get("x-canonicall-forwarded") == ("true" if is_own else None)
        events = [one["response"] for one in frames(answer.body) if "response" in one]
        replies = events if streamed else [answer.json]
        assert len(replies) == (3 if streamed else 1)
        replies.append((await ask(gateway, f"{path}/{replies[-1]['id']}")).json)
        for response in replies:
            assert {name: response.get(name) for name in repeated} == repeated
        assert "conversation" not in world.of(back.partition("/")[0]).seen[-1].body
    await gateway.close()


def test_only_the_replies_in_events_get_fields() -> None:
    """Every other byte is what the provider sent."""
    kept = b'data: {"type":"x","delta":"{\\"response\\":{}}"}\n\n: "response"\n\n'
    odd = b'data: {"response": {"n": 1.50, "text": "\xc3\xa9"} }\r\n\r\ndata: {"response": [\n\n'
    made = events_with_fields(kept + odd, {"conversation": {"id": "conv_1"}})
    assert made.startswith(kept)
    changed = made.removeprefix(kept)
    wanted = b'data: {"response":{"n":1.50,"text":"\xc3\xa9","conversation":{"id":"conv_1"}}}'
    assert changed == wanted + b'\r\n\r\ndata: {"response": [\n\n'
    assert with_fields(b"no json", {"a": 1}) == b"no json"


@pytest.mark.parametrize("back", BACKS[1:])
async def test_more_than_one_reply_is_refused_where_the_target_makes_one(
    world: World, back: str
) -> None:
    gateway = world.gateway(models())
    path, body = request_of("openai-chat", alias(back), "Hello?", n=2)
    chats = await ask(gateway, path, body)
    path, body = request_of("gemini", alias(back), "Hello?")
    gemini = await ask(gateway, path, {**body, "generationConfig": {"candidateCount": 2}})
    snake = await ask(gateway, path, {**body, "generation_config": {"candidate_count": 2}})
    await gateway.close()
    if "openai-chat" not in back:
        error = chats.json["error"]
        assert (chats.status, error["param"], error["code"]) == (400, "n", "unsupported_value")
    if "gemini" not in back:
        assert (gemini.status, gemini.json["error"]["status"]) == (400, "INVALID_ARGUMENT")
        assert snake.json == gemini.json


@pytest.mark.parametrize("back", BACKS)
async def test_a_response_is_made_while_its_client_waits(world: World, back: str) -> None:
    """`background` is left out: no target keeps a client waiting for what is not in the store."""
    gateway = world.gateway(models())
    seen = world.of(back.partition("/")[0]).seen
    path, body = request_of("openai-responses", alias(back), "Hello?", background=True)
    answer = await ask(gateway, path, body)
    stored = await ask(gateway, f"{path}/{answer.json['id']}")
    await gateway.close()
    assert (answer.json["status"], answer.json["background"]) == ("completed", False)
    assert stored.json == answer.json
    assert "param_dropped" in answer.headers["x-canonicall-changes"]
    assert "background" not in seen[-1].body


@pytest.mark.parametrize("back", BACKS)
async def test_chances_that_no_target_tells_are_null(world: World, back: str) -> None:
    gateway = world.gateway(models())
    path, body = request_of("openai-chat", alias(back), "Hello?", logprobs=True)
    (choice,) = (await ask(gateway, path, body)).json["choices"]
    path, body = request_of("openai-responses", alias(back), "Hello?", top_logprobs=2)
    response = (await ask(gateway, path, body)).json
    await gateway.close()
    assert choice["logprobs"] is None
    assert response["top_logprobs"] == 0
