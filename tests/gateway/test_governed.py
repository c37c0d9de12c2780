"""Keys, limits and figures at the front doors, and the operators' own doors beside them."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from canonicall.gateway.app import Gateway
from canonicall.gateway.config import Choice, KeySettings, ModelSettings, StoreSettings
from canonicall.gateway.governance.keys import hash_of
from gateway_faults import Told
from gateway_support import UPSTREAM_KEY, World, ask

KEY = "ck-for-a-test-0123456789"
BODY = {"model": "fast", "messages": [{"role": "user", "content": "Hello."}]}
MODELS = {"fast": ModelSettings(choices=(Choice(target="anthropic:claude-x"),))}
CHAT = "/v1/chat/completions"


def shown(key: str = KEY) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


def keys(**settings: Any) -> dict[str, KeySettings]:
    return {"team": KeySettings(hash=hash_of(KEY), **settings)}


async def test_a_key_is_needed_where_there_are_keys() -> None:
    gateway = World().gateway(MODELS, keys=keys())
    assert (await ask(gateway, CHAT, BODY, headers=shown())).status == 200
    refused = await ask(gateway, CHAT, BODY, headers=shown("wrong"))
    assert refused.status == 401
    assert refused.json["error"]["code"] == "invalid_api_key"
    refused = await ask(gateway, "/v1/messages", BODY, headers=shown("wrong"))
    assert refused.json["error"]["type"] == "authentication_error"
    listed = await ask(gateway, "/v1/models", headers=shown("wrong"))
    assert listed.status == 401
    await gateway.close()


async def test_every_usual_place_of_a_key_will_do() -> None:
    gateway = World().gateway(MODELS, keys=keys())
    for headers in ({"x-api-key": KEY}, {"x-goog-api-key": KEY}, {"api-key": KEY}):
        answer = await ask(gateway, CHAT, BODY, headers={"authorization": "", **headers})
        assert answer.status == 200, headers
    answer = await ask(gateway, f"{CHAT}?key={KEY}", BODY, headers={"authorization": ""})
    assert answer.status == 200
    await gateway.close()


async def test_a_key_is_for_its_models_alone() -> None:
    gateway = World().gateway(MODELS, keys=keys(models=("slow*",)))
    refused = await ask(gateway, CHAT, BODY, headers=shown())
    assert refused.status == 403
    assert "'fast'" in refused.json["error"]["message"]
    await gateway.close()


async def test_limits_are_told_in_the_callers_own_words_and_survive_a_reload() -> None:
    world = World()
    gateway = world.gateway(MODELS, keys=keys(requests_per_minute=2))
    statuses = [(await ask(gateway, CHAT, BODY, headers=shown())).status for _ in range(2)]
    await gateway.reload(gateway.state.settings)
    refused = await ask(gateway, "/v1/messages", {**BODY, "max_tokens": 9}, headers=shown())
    assert [*statuses, refused.status] == [200, 200, 429]
    assert refused.json["error"]["type"] == "rate_limit_error"
    assert int(refused.headers["retry-after"]) > 0
    assert len(world.of("anthropic").seen) == 2
    await gateway.close()


async def test_a_request_that_has_ended_frees_its_place() -> None:
    gateway = World().gateway(MODELS, keys=keys(concurrent=1))
    for stream in (False, True, False):
        body = {**BODY, "stream": stream}
        assert (await ask(gateway, CHAT, body, headers=shown())).status == 200
    await gateway.close()


async def test_whoever_watches_is_told_of_all_requests() -> None:
    watched = Told()
    gateway = World().gateway(MODELS, keys=keys(), watchers=[watched])
    answer = await ask(gateway, CHAT, BODY, headers=shown())
    await ask(gateway, CHAT, BODY, headers=shown("wrong"))
    await ask(gateway, CHAT, {**BODY, "model": "nobody"}, headers=shown())
    first, second, third = watched.ends
    assert (first.status, first.target, first.begun.key) == (200, "anthropic:claude-x", "team")
    assert first.usage is not None
    assert first.usage.output_tokens > 0
    assert first.begun.id == answer.headers["x-canonicall-request-id"]
    assert (second.status, second.error, third.status) == (401, "authentication", 404)
    assert [one.begun for one in watched.ends] == watched.begins
    await gateway.close()


async def test_watchers_learn_whose_request_was_refused() -> None:
    watched = Told()
    limited = keys(requests_per_minute=1, models=("fast",))
    gateway = World().gateway(MODELS, keys=limited, watchers=[watched])
    for model, key in (("fast", KEY), ("fast", KEY), ("slow", KEY), ("fast", "wrong")):
        await ask(gateway, CHAT, {**BODY, "model": model}, headers=shown(key))
    await gateway.close()
    found = [(one.status, one.begun.key) for one in watched.ends]
    assert found == [(200, "team"), (429, "team"), (403, "team"), (401, "")]


async def test_operators_have_doors_of_their_own() -> None:
    admin = {"boss": KeySettings(hash=hash_of("ck-admin-0123456789"), admin=True), **keys()}
    gateway = World().gateway(MODELS, keys=admin)
    await ask(gateway, CHAT, BODY, headers=shown())
    assert (await ask(gateway, "/healthz")).json == {"status": "alive"}
    assert (await ask(gateway, "/readyz")).status == 200
    figures = (await ask(gateway, "/metrics")).body.decode()
    assert 'canonicall_requests_total{error="",front="openai-chat",model="fast"' in figures
    revoke = "/canonicall/admin/keys/team/revoke"
    assert (await ask(gateway, revoke, {}, headers=shown())).status == 403
    done = await ask(gateway, revoke, {}, headers=shown("ck-admin-0123456789"))
    assert done.json["state"] == "revoked"
    assert (await ask(gateway, CHAT, BODY, headers=shown())).status == 401
    await gateway.reload(gateway.state.settings)
    assert (await ask(gateway, CHAT, BODY, headers=shown())).status == 401
    config = await ask(gateway, "/canonicall/admin/config", headers=shown("ck-admin-0123456789"))
    assert config.status == 200
    assert UPSTREAM_KEY not in config.body.decode()
    await gateway.close()


async def test_the_password_of_a_store_is_not_shown(place: str) -> None:
    admin = {"boss": KeySettings(hash=hash_of("ck-admin-0123456789"), admin=True)}
    store = StoreSettings(path=place.replace("postgres@", "postgres:very-secret@"))
    gateway = World().gateway(MODELS, keys=admin, store=store)
    config = await ask(gateway, "/canonicall/admin/config", headers=shown("ck-admin-0123456789"))
    assert config.json["store"]["path"] == place
    assert "very-secret" not in config.body.decode()
    await gateway.close()


@asynccontextmanager
async def served(gateway: Gateway) -> AsyncGenerator[None, None]:
    """A gateway as another server than ours runs it."""
    asked: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    told: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    living = asyncio.create_task(gateway({"type": "lifespan"}, asked.get, told.put))
    for moment in ("startup", "shutdown"):
        asked.put_nowait({"type": f"lifespan.{moment}"})
        assert (await told.get())["type"] == f"lifespan.{moment}.complete"
        if moment == "startup":
            yield
    await living


async def test_gateways_with_the_same_store_learn_of_each_others_revocations(
    place: str,
) -> None:
    """They may be workers of any server."""
    admin = {"boss": KeySettings(hash=hash_of("ck-admin-0123456789"), admin=True), **keys()}
    store = StoreSettings(path=place)
    one, other = (World().gateway(MODELS, keys=admin, store=store) for _ in range(2))
    async with served(one), served(other):
        assert (await ask(other, CHAT, BODY, headers=shown())).status == 200
        revoke = "/canonicall/admin/keys/team/revoke"
        done = await ask(one, revoke, {}, headers=shown("ck-admin-0123456789"))
        assert done.status == 200
        async with asyncio.timeout(60):
            while (refused := await ask(other, CHAT, BODY, headers=shown())).status == 200:
                pass
        assert (refused.status, refused.json["error"]["code"]) == (401, "invalid_api_key")


async def test_settings_that_came_from_no_file_cannot_be_read_again() -> None:
    gateway = World().gateway(MODELS)
    refused = await ask(gateway, "/canonicall/admin/reload", {})
    assert refused.status == 422
    assert "no file" in refused.json["error"]["message"]
    await gateway.close()


async def test_what_a_key_has_stored_is_for_that_key_alone() -> None:
    other = "ck-of-somebody-else-0123456789"
    both = {**keys(), "other": KeySettings(hash=hash_of(other))}
    gateway = World().gateway(MODELS, keys=both)
    made = await ask(gateway, "/v1/responses", {"model": "fast", "input": "Hi."}, headers=shown())
    path = f"/v1/responses/{made.json['id']}"
    item = made.json["output"][0]["id"]
    report = f"/canonicall/reports/{made.headers['x-canonicall-request-id']}"
    for where in (path, f"{path}/input_items", report):
        assert (await ask(gateway, where, headers=shown())).status == 200
        assert (await ask(gateway, where, headers=shown(other))).status == 404
    body = {"model": "fast", "input": "And?", "previous_response_id": made.json["id"]}
    assert (await ask(gateway, "/v1/responses", body, headers=shown(other))).status == 400
    assert await gateway.keeping.items([item], owner="team")
    assert not await gateway.keeping.items([item], owner="other")
    gone = await ask(gateway, path, method="DELETE", headers=shown(other))
    assert gone.status == 404
    assert (await ask(gateway, "/v1/responses", body, headers=shown())).status == 200
    await gateway.close()


async def test_a_key_is_shown_the_models_that_it_may_be_used_for() -> None:
    models = {"fast": MODELS["fast"], "best": MODELS["fast"]}
    gateway = World().gateway(models, keys=keys(models=("fast", "cheap-*")))
    listed = await ask(gateway, "/v1/models", headers=shown())
    assert [one["id"] for one in listed.json["data"]] == ["fast"]
    unnamed = await ask(gateway, "/v1/chat/completions", {"messages": []}, headers=shown())
    assert unnamed.status == 400
    assert "names no model" in unnamed.json["error"]["message"]
    await gateway.close()
