"""What the SDKs ask for beside replies: models, counts of tokens; and how they are refused."""

from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from canonicall.client.secrets import Secret
from canonicall.gateway.app import Gateway
from canonicall.gateway.config import ProviderSettings, Settings
from canonicall.testing import Simulator
from canonicall.testing.faults import Fault
from canonicall.testing.server import serve
from front_bodies import FORMATS, request_of
from gateway_backs import BOTH, alias, models, thinking_model, thinking_world
from gateway_support import UPSTREAM_KEY, World, ask
from sdk_fronts import FRONTS, MessagesConversing, anthropic, genai, openai

NAMES = sorted(models())
ERRORS = {
    "chat": {404: openai.NotFoundError, 400: openai.BadRequestError, 429: openai.RateLimitError},
    "messages": {
        404: anthropic.NotFoundError,
        400: anthropic.BadRequestError,
        429: anthropic.RateLimitError,
    },
    "gemini": dict.fromkeys((404, 400, 429), genai.errors.ClientError),
}
ERRORS["responses"] = ERRORS["chat"]
SERVER_ERRORS = {
    "chat": openai.InternalServerError,
    "responses": openai.InternalServerError,
    "messages": anthropic.InternalServerError,
    "gemini": genai.errors.ServerError,
}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serve(thinking_world().gateway(models())) as server:
        yield server.url


def test_openais_client_lists_and_finds_models(url: str) -> None:
    with FRONTS["chat"].connect(url) as client:
        assert sorted(one.id for one in client.models.list()) == NAMES
        assert client.models.retrieve(NAMES[0]).id == NAMES[0]
        with pytest.raises(openai.NotFoundError):
            client.models.retrieve("nobody")


def test_anthropics_client_lists_models_page_by_page(url: str) -> None:
    with FRONTS["messages"].connect(url) as client:
        assert sorted(one.id for one in client.models.list()) == NAMES
        paged = list(client.models.list(limit=5))
        assert [one.id for one in paged] == [one.id for one in client.models.list()]
        back = client.models.list(before_id=paged[3].id, limit=2)
        assert [one.id for one in back.data] == [one.id for one in paged[1:3]]
        assert client.models.retrieve(NAMES[0]).id == NAMES[0]
        with pytest.raises(anthropic.NotFoundError):
            client.models.retrieve("nobody")


def test_googles_client_lists_models_page_by_page(url: str) -> None:
    with FRONTS["gemini"].connect(url) as client:
        everyone = [one.name for one in client.models.list()]
        assert sorted(everyone) == [f"models/{name}" for name in NAMES]
        assert [one.name for one in client.models.list(config={"page_size": 4})] == everyone
        assert client.models.get(model=NAMES[0]).name == f"models/{NAMES[0]}"
        with pytest.raises(genai.errors.ClientError, match="404"):
            client.models.get(model="nobody")


def test_tokens_are_counted_in_each_clients_words(url: str) -> None:
    model = alias("openai/openai-chat")
    with FRONTS["messages"].connect(url) as client:
        said = [{"role": "user", "content": BOTH}]
        few = client.messages.count_tokens(model=model, messages=said)
        many = client.messages.count_tokens(
            model=model, messages=said, tools=MessagesConversing.tools
        )
        assert 0 < few.input_tokens < many.input_tokens
    with FRONTS["gemini"].connect(url) as client:
        assert client.models.count_tokens(model=model, contents=BOTH).total_tokens > 0
    with FRONTS["responses"].connect(url) as client:
        assert client.responses.input_tokens.count(model=model, input=BOTH).input_tokens > 0


@pytest.mark.parametrize("front", ERRORS)
def test_an_unknown_model_is_not_found(url: str, front: str) -> None:
    with FRONTS[front].connect(url) as client:
        with pytest.raises(ERRORS[front][404]) as caught:
            FRONTS[front](client).ask("nobody", BOTH)
        assert "nobody" in str(caught.value)


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("front", ERRORS)
@pytest.mark.parametrize("back", ["anthropic/anthropic", "openai/openai-chat", "gemini/gemini"])
def test_failures_of_the_provider_are_the_clients_own_exceptions(
    front: str, back: str, streamed: bool
) -> None:
    """With the provider's cause, and without the key that it was asked with."""
    faults = [Fault.RATE_LIMITED] * 3 + [Fault.SERVER_ERROR] * 3
    world = World(lambda name: Simulator(name, model=thinking_model, faults=faults))
    gateway = world.gateway(models())
    gateway.state.backs.means = replace(gateway.state.backs.means, sleep=_no_sleep)
    with serve(gateway) as server, FRONTS[front].connect(server.url) as client:
        with pytest.raises(ERRORS[front][429]) as limited:
            FRONTS[front](client, streamed=streamed).ask(alias(back), BOTH)
        with pytest.raises(SERVER_ERRORS[front]) as broken:
            FRONTS[front](client, streamed=streamed).ask(alias(back), BOTH)
    for caught in (limited, broken):
        assert back.partition("/")[0] in str(caught.value).lower()
        assert UPSTREAM_KEY not in str(caught.value)
    assert status_of(limited.value) == 429
    assert limited.value.response.headers["retry-after"]
    assert status_of(broken.value) == 502


@pytest.mark.parametrize("front", ERRORS)
def test_what_the_provider_refuses_is_the_clients_own_bad_request(front: str) -> None:
    """It is told in the provider's words: the client can do something about it."""
    world = World(lambda name: Simulator(name, models=["claude-other"], model=thinking_model))
    with (
        serve(world.gateway(models())) as server,
        FRONTS[front].connect(server.url) as client,
        pytest.raises(ERRORS[front][404], match="model: claude-opus-5-5"),
    ):
        FRONTS[front](client).ask(alias("anthropic/anthropic"), BOTH)


@pytest.mark.parametrize("format", FORMATS)
async def test_a_body_that_cannot_be_read_is_a_bad_request_in_the_clients_shape(
    format: str,
) -> None:
    gateway = thinking_world().gateway(models())
    path, body = request_of(format, alias("cohere/cohere"), BOTH)
    turns = next(name for name in ("messages", "input", "contents") if name in body)
    for bad in (b"{", b"[]", {**body, turns: 3}, {**body, turns: [{"role": 5}]}):
        answer = await ask(gateway, path, bad)
        assert answer.status == 400, (bad, answer.body)
        error = answer.json["error"]
        assert error["message"]
        assert "x-canonicall-request-id" in answer.headers
        if format == "anthropic":
            assert (answer.json["type"], error["type"]) == ("error", "invalid_request_error")
        elif format == "gemini":
            assert (error["code"], error["status"]) == (400, "INVALID_ARGUMENT")
        else:
            assert error["type"] == "invalid_request_error"
    await gateway.close()


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_provider_that_is_reached_over_http(streamed: bool) -> None:
    simulator = Simulator("anthropic", model=thinking_model)
    with serve(simulator) as upstream:
        provider = ProviderSettings(keys=(Secret(UPSTREAM_KEY),), base_url=f"{upstream.url}/v1")
        gateway = Gateway(Settings(providers={"anthropic": provider}, models=models()))
        for format in FORMATS:
            path, body = request_of(format, alias("anthropic/anthropic"), BOTH, streamed=streamed)
            answer = await ask(gateway, path, body)
            assert answer.status == 200, answer.body
            assert b"local_time" in answer.body
        await gateway.close()
    assert [one.status for one in simulator.seen] == [200] * len(FORMATS)


async def _no_sleep(seconds: float) -> None:
    del seconds


def status_of(error: Any) -> int:
    status: int = error.code if isinstance(error, genai.errors.APIError) else error.status_code
    return status
