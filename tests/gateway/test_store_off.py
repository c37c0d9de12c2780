"""A gateway that stores no conversations: what refers to one is its provider's, or refused."""

import json
from typing import Any

import pytest

from canonicall.gateway.config import StoreSettings
from canonicall.runtime.middleware import ToolMiddleware
from canonicall.testing.server import serve
from gateway_backs import BOTH, models, thinking_world
from gateway_support import World, ask
from sdk_fronts import anthropic, openai
from thread_bodies import details, next_of, run, text_of, user

OFF = StoreSettings(enabled=False)
ANTHROPIC, OPENAI = "by-anthropic-anthropic", "by-openai-openai-responses"
CHAT = "by-openai-openai-chat"
THREAD = {"type": "continue", "previous_message_id": "msg_1"}


@pytest.fixture(scope="module")
def world() -> World:
    return thinking_world()


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("model", [CHAT, "by-gemini-gemini"])
def test_the_tool_runner_goes_on_without_a_thread(
    world: World,
    model: str,
    streamed: bool,
) -> None:
    with serve(world.gateway(models(), store=OFF)) as server:
        client = anthropic.Anthropic(base_url=server.url, api_key="any", max_retries=0)
        last = run(client, model, streamed=streamed)
        assert text_of(last) == "It is so: get_weather of Paris; local_time of Paris."
        client.close()


async def test_a_thread_is_refused_with_the_name_of_a_feature(world: World) -> None:
    gateway = world.gateway(models(), store=OFF)
    for thread in ({"type": "create"}, THREAD):
        body = next_of(CHAT, "msg_1", user("More?"), thread=thread)
        answer = await ask(gateway, "/v1/messages", body)
        assert answer.status == 400
        assert details(answer) == {
            "error_code": "thread_unsupported_request",
            "unsupported": ["inference_hooks"],
        }
    names = anthropic.types.thread_unsupported_feature_name.ThreadUnsupportedFeatureName
    assert "inference_hooks" in names.__args__
    await gateway.close()


@pytest.mark.parametrize("streamed", [False, True])
async def test_the_owner_gets_the_delta_as_it_came(
    world: World,
    streamed: bool,
) -> None:
    """With the header that goes with it."""
    gateway = world.gateway(models(), store=OFF)
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "sunny"}
    body = next_of(ANTHROPIC, "msg_1", {"role": "user", "content": [result]}, stream=streamed)
    header = {"anthropic-beta": "message-threads-2026-08-12"}
    sent = Recorder(gateway)
    await ask(gateway, "/v1/messages", body, headers=header)
    assert sent.headers["anthropic-beta"] == header["anthropic-beta"]
    assert {**sent.body, "model": ANTHROPIC} == body
    await gateway.close()


@pytest.mark.parametrize("messages", [[user("Hello")], [user(" "), user("Hello")]])
@pytest.mark.parametrize(
    ("model", "is_sent"), [(ANTHROPIC, True), ("by-vertex-anthropic", False), (CHAT, False)]
)
async def test_a_header_that_belongs_to_the_body_goes_to_the_owner(
    world: World, model: str, is_sent: bool, messages: list[Any]
) -> None:
    """Without it, fields of a beta are refused there; other hosts refuse the header. Forwarded or
    repaired makes no difference."""
    gateway = world.gateway(models())
    header = {"anthropic-beta": "compact-2026-09-04"}
    body = {"model": model, "max_tokens": 100, "messages": messages}
    sent = Recorder(gateway)
    answer = await ask(gateway, "/v1/messages", body, headers=header)
    is_forwarded = answer.headers.get("x-canonicall-forwarded") == "true"
    assert is_forwarded == (len(messages) == 1 and model != CHAT)
    assert ("anthropic-beta" in sent.headers) == is_sent
    await gateway.close()


async def test_the_owner_gets_its_own_references(world: World) -> None:
    gateway = world.gateway(models(), store=OFF)
    for field in ("previous_response_id", "conversation"):
        body = {"model": OPENAI, "input": "More?", field: "some_1"}
        sent = Recorder(gateway)
        await ask(gateway, "/v1/responses", body)
        assert {**sent.body, "model": OPENAI} == body
    await gateway.close()


async def test_the_error_of_the_owner_is_the_clients(world: World) -> None:
    """It is not answered from the delta by anybody else."""
    gateway = world.gateway(models(), store=OFF)
    error = {
        "type": "not_found_error",
        "message": "No usable Thread state was found.",
        "details": {"error_code": "thread_not_found"},
    }
    sent = Recorder(gateway, status=404, answer={"type": "error", "error": error})
    body = next_of(ANTHROPIC, "msg_1", user("More?"))
    answer = await ask(gateway, "/v1/messages", body)
    assert answer.status == 404
    assert details(answer) == {"error_code": "thread_not_found"}
    assert sent.count == 1
    await gateway.close()


@pytest.mark.parametrize("model", [ANTHROPIC, CHAT])
@pytest.mark.parametrize("field", ["previous_response_id", "conversation"])
async def test_references_are_refused_elsewhere(
    world: World,
    field: str,
    model: str,
) -> None:
    gateway = world.gateway(models(), store=OFF)
    answer = await ask(
        gateway, "/v1/responses", {"model": model, "input": "More?", field: "some_1"}
    )
    error = answer.json["error"]
    assert (answer.status, error["code"]) == (400, "unsupported_parameter")
    assert error["param"] == field
    await gateway.close()


async def test_nothing_passes_a_middleware_unread(world: World) -> None:
    gateway = world.gateway(models(), store=OFF, middleware=[ToolMiddleware()])
    body = next_of(ANTHROPIC, "msg_1", user("More?"))
    answer = await ask(gateway, "/v1/messages", body)
    assert details(answer)["error_code"] == "thread_unsupported_request"
    body = {"model": OPENAI, "input": "More?", "previous_response_id": "resp_1"}
    answer = await ask(gateway, "/v1/responses", body)
    assert answer.json["error"]["code"] == "unsupported_parameter"
    await gateway.close()


def test_nothing_is_stored(world: World) -> None:
    with serve(world.gateway(models(), store=OFF)) as server:
        client = openai.OpenAI(base_url=f"{server.url}/v1", api_key="any", max_retries=0)
        response = client.responses.create(model=ANTHROPIC, input=BOTH)
        with pytest.raises(openai.NotFoundError):
            client.responses.retrieve(response.id)
        with pytest.raises(openai.BadRequestError) as caught:
            client.conversations.create()
        assert caught.value.code == "unsupported_parameter"
        client.close()


class Recorder:
    """Sees what a gateway sends, and answers in place of the provider where it has an answer."""

    def __init__(self, gateway: Any, *, status: int = 200, answer: Any = None) -> None:
        transport = gateway.state.backs.means.transport
        self._post = transport.post
        self._answer = None if answer is None else Given(status, json.dumps(answer).encode())
        self.count = 0
        transport.post = self.post

    async def post(self, url: str, headers: Any, body: bytes, *more: Any, **options: Any) -> Any:
        self.headers, self.body = headers, json.loads(body)
        self.count += 1
        return self._answer or await self._post(url, headers, body, *more, **options)


class Given:
    """An answer of a provider."""

    def __init__(self, status: int, body: bytes) -> None:
        self.status, self.headers, self._body = status, {"content-type": "application/json"}, body

    async def chunks(self) -> Any:
        yield self._body

    def close(self) -> None:
        """Nothing is open."""
