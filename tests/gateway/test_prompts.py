"""Stored prompts of the settings: their messages, versions, values, and who asks for which."""

import json
from typing import Any

import pytest

from canonicall.gateway.config import (
    PromptMessage,
    PromptSettings,
    PromptVersion,
    UnusableSettings,
    read_settings,
)
from canonicall.testing.server import serve
from gateway_backs import models, thinking_world
from gateway_support import World, ask
from sdk_fronts import openai

OWN, FOREIGN, CHAT = (
    "by-openai-openai-responses",
    "by-anthropic-anthropic",
    "by-mistral-openai-chat",
)
WHO = pytest.mark.parametrize("model", [OWN, FOREIGN, CHAT])
FIRST = PromptVersion(messages=(PromptMessage(content="You are old."),))
SECOND = PromptVersion(
    messages=(
        PromptMessage(content="You help {{customer}} with {{ topic }}."),
        PromptMessage(content="My name is {{customer}}.", role="user"),
        PromptMessage(content="Hello.", role="assistant"),
    ),
    model=FOREIGN,
)
PROMPTS = {"pmpt_1": PromptSettings(versions={"1": FIRST, "2": SECOND})}
VARIABLES = {"customer": "Ada", "topic": "{{customer}}"}


@pytest.fixture(scope="module")
def world() -> World:
    return thinking_world()


def last_sent(world: World, model: str) -> str:
    return json.dumps(world.of(model.split("-")[1]).seen[-1].body)


@WHO
def test_the_messages_of_a_prompt_come_first(world: World, model: str) -> None:
    """Values are not read for places again."""
    with serve(world.gateway(models(), prompts=PROMPTS)) as server:
        client = openai.OpenAI(base_url=f"{server.url}/v1", api_key="any", max_retries=0)
        prompt = {"id": "pmpt_1", "variables": VARIABLES}
        response = client.responses.create(model=model, prompt=prompt, input="Hi")
        assert response.output_text == "You said: Hi"
        sent = last_sent(world, model)
        assert "You help Ada with {{customer}}." in sent
        assert sent.index("You help Ada") < sent.index("My name is Ada.") < sent.index("Hello.")
        assert "pmpt_1" not in sent
        client.close()


async def test_a_version_is_chosen(world: World) -> None:
    gateway = world.gateway(models(), prompts=PROMPTS)
    body = {"model": FOREIGN, "input": "Hi", "prompt": {"id": "pmpt_1", "version": "1"}}
    assert (await ask(gateway, "/v1/responses", body)).status == 200
    assert "You are old." in last_sent(world, FOREIGN)
    body["prompt"] = {"id": "pmpt_1", "version": "3"}
    answer = await ask(gateway, "/v1/responses", body)
    assert (answer.status, answer.json["error"]["code"]) == (404, None)
    await gateway.close()


async def test_a_prompt_names_the_model_where_the_request_does_not(world: World) -> None:
    gateway = world.gateway(models(), prompts=PROMPTS)
    body = {"input": "Hi", "prompt": {"id": "pmpt_1", "variables": VARIABLES}}
    answer = await ask(gateway, "/v1/responses", body)
    assert answer.status == 200
    assert answer.json["model"] == FOREIGN
    await gateway.close()


@pytest.mark.parametrize("model", [FOREIGN, CHAT])
async def test_an_unknown_prompt_is_not_found(world: World, model: str) -> None:
    gateway = world.gateway(models(), prompts=PROMPTS)
    body = {"model": model, "input": "Hi", "prompt": {"id": "pmpt_x"}}
    answer = await ask(gateway, "/v1/responses", body)
    assert answer.status == 404
    error = answer.json["error"]
    assert error["message"] == "Prompt with id 'pmpt_x' not found."
    assert (error["param"], error["code"]) == (None, None)
    await gateway.close()


async def test_a_prompt_that_openai_may_have_is_left_to_openai(world: World) -> None:
    gateway = world.gateway(models(), prompts=PROMPTS)
    body = {"model": OWN, "input": "Hi", "prompt": {"id": "pmpt_x"}}
    answer = await ask(gateway, "/v1/responses", body)
    assert answer.status == 404
    message = answer.json["error"]["message"]
    assert message.startswith("openai:")
    assert "Prompt with id 'pmpt_x' not found." in message
    await gateway.close()


@pytest.mark.parametrize(
    ("prompt", "named"),
    [
        ({"id": "pmpt_1"}, "customer, topic"),
        ({"id": "pmpt_1", "variables": {**VARIABLES, "other": "x"}}, "other"),
        ({"id": "pmpt_1", "variables": {**VARIABLES, "topic": 5}}, "topic"),
        ({"id": "pmpt_1", "variables": []}, "customer"),
        ("pmpt_1", "prompt"),
        ({"id": 1}, "prompt"),
    ],
)
async def test_what_does_not_fit_a_prompt_is_named(world: World, prompt: Any, named: str) -> None:
    gateway = world.gateway(models(), prompts=PROMPTS)
    body = {"model": OWN, "input": "Hi", "prompt": prompt}
    answer = await ask(gateway, "/v1/responses", body)
    assert answer.status == 400
    assert named in answer.json["error"]["message"]
    await gateway.close()


async def test_a_value_may_be_an_image(world: World) -> None:
    gateway = world.gateway(models(), prompts=PROMPTS)
    image = {"type": "input_image", "image_url": "https://example.com/a.png"}
    variables = {"customer": {"type": "input_text", "text": "Ada"}, "topic": image}
    body = {"model": OWN, "input": "Hi", "prompt": {"id": "pmpt_1", "variables": variables}}
    assert (await ask(gateway, "/v1/responses", body)).status == 200
    said = world.of("openai").seen[-1].body["input"][0]
    text = {"type": "input_text", "text": "You help Ada with "}
    assert said["content"] == [text, image, {"type": "input_text", "text": "."}]
    await gateway.close()


@WHO
async def test_a_prompt_holds_for_one_response(world: World, model: str) -> None:
    """As instructions do."""
    gateway = world.gateway(models(), prompts=PROMPTS)
    prompt = {"id": "pmpt_1", "version": "1"}
    first = await ask(gateway, "/v1/responses", {"model": model, "input": "Hi", "prompt": prompt})
    body = {"model": model, "input": "More", "previous_response_id": first.json["id"]}
    assert (await ask(gateway, "/v1/responses", body)).status == 200
    sent = last_sent(world, model)
    assert "You said: Hi" in sent
    assert "You are old." not in sent
    await ask(gateway, "/v1/responses", body | {"prompt": prompt})
    assert last_sent(world, model).count("You are old.") == 1
    await gateway.close()


def test_prompts_are_read_from_the_settings() -> None:
    text = """
prompts:
  pmpt_short:
    messages: You are brief.
  pmpt_long:
    default: "1"
    versions:
      "1":
        messages: [{role: system, content: "Hello {{name}}."}]
        model: gpt
      "2":
        messages: [x, y]
"""
    loaded = read_settings(text.encode(), "gateway.yaml", {})
    short, long = loaded.settings.prompts.values()
    assert short.versions["1"].messages == (PromptMessage(content="You are brief."),)
    assert long.default == "1"
    assert list(long.versions) == ["1", "2"]
    assert long.versions["1"].messages[0].role == "system"


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("{}", "$.prompts.p.versions"),
        ("{versions: {a: {messages: []}}}", "$.prompts.p.versions.a"),
        ("{default: b, versions: {a: {messages: x}}}", "$.prompts.p.default"),
        ("{messages: [{role: tool, content: x}]}", "role"),
    ],
)
def test_a_prompt_that_cannot_be_used_is_named(text: str, where: str) -> None:
    with pytest.raises(UnusableSettings) as caught:
        read_settings(f"prompts: {{p: {text}}}".encode(), "gateway.yaml", {})
    assert where in str(caught.value)
