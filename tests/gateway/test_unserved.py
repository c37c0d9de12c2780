"""APIs that keep conversations and are not served: the official SDKs raise their own "not found"."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from canonicall.gateway.config import KeySettings
from canonicall.gateway.governance.keys import hash_of
from canonicall.testing.server import serve
from delta_bodies import DELTAS
from gateway_support import World, ask
from judges.sources import MISSING
from sdk_fronts import FRONTS, genai, openai

mistralai = pytest.importorskip("mistralai.client", reason=MISSING)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serve(World().gateway()) as server:
        yield server.url


@pytest.mark.parametrize("is_first", [True, False])
def test_googles_client_is_refused_an_interaction(url: str, is_first: bool) -> None:
    before = {} if is_first else {"previous_interaction_id": "v1_1"}
    with FRONTS["gemini"].connect(url) as client, pytest.raises(Exception, match="404") as caught:
        client.interactions.create(model="gemini-3-pro", input="Hi", **before)
    assert type(caught.value).__module__.startswith("google.genai")
    assert "The Interactions API is not served" in str(caught.value)


def test_googles_client_is_refused_cached_content(url: str) -> None:
    with FRONTS["gemini"].connect(url) as client, pytest.raises(genai.errors.ClientError) as caught:
        client.caches.create(model="gemini-3-pro")
    assert (caught.value.code, caught.value.status) == (404, "NOT_FOUND")
    assert "Cached content is not served" in caught.value.message


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_openais_client_is_refused_assistants_and_threads(url: str) -> None:
    with FRONTS["chat"].connect(url) as client:
        asks: tuple[Any, ...] = (
            lambda: client.beta.assistants.create(model="gpt-5"),
            client.beta.threads.create,
            lambda: client.beta.threads.runs.create("thread_1", assistant_id="asst_1"),
        )
        for one in asks:
            with pytest.raises(
                openai.NotFoundError, match="Assistants API is not served"
            ) as caught:
                one()
            assert caught.value.type == "invalid_request_error"


def test_mistrals_client_is_refused_an_agent(url: str) -> None:
    with mistralai.Mistral(api_key="k", server_url=url) as client:
        said: Any = [{"role": "user", "content": "Hi"}]
        with pytest.raises(mistralai.errors.SDKError, match="Agents API is not served") as caught:
            client.agents.complete(agent_id="ag_1", messages=said)
    assert caught.value.status_code == 404


@pytest.mark.parametrize(
    ("path", "shape"),
    [
        ("/v1beta/interactions", {"code", "message", "status"}),
        ("/gemini/v1beta/interactions/v1_1/cancel", {"code", "message", "status"}),
        ("/v1/threads", {"message", "type", "param", "code"}),
        ("/v1/threads/thread_1/runs", {"message", "type", "param", "code"}),
    ],
)
async def test_each_has_the_envelope_of_its_provider(path: str, shape: set[str]) -> None:
    answer = await ask(World().gateway(), path, {"model": "m"})
    assert answer.status == 404
    assert json.loads(answer.body)["error"].keys() == shape


async def test_a_stranger_learns_nothing() -> None:
    keys = {"one": KeySettings(hash=hash_of("sk-1"))}
    answer = await ask(World().gateway(keys=keys), "/v1/threads", {})
    assert answer.status == 401


async def test_other_paths_are_what_they_were() -> None:
    gateway = World().gateway()
    for path in ("/v1/thread", "/v1/interactions", "/v1/agent"):
        answer = await ask(gateway, path, {})
        assert answer.status == 404
        assert b"Nothing is served at" in answer.body


async def test_cached_content_stays_with_the_provider_that_keeps_it() -> None:
    """Its owner gets the request as it came; for another provider the client gets an error."""
    body = DELTAS["a response to cached content"].body
    world = World()
    path = "/v1beta/models/{}:generateContent"
    answer = await ask(world.gateway(), path.format("gemini:gemini-3-pro"), body)
    assert answer.status == 200
    (got,) = world.of("gemini").seen
    assert got.body["contents"] == body["contents"]
    assert got.body["cachedContent"] == body["cachedContent"]
    answer = await ask(world.gateway(), path.format("openai:gpt-5"), body)
    assert answer.status == 400
    assert "`cachedContent`" in answer.json["error"]["message"]
    assert not world.of("openai").seen
