"""OpenAI's conversations through the gateway, with its SDK: what they are, and who continues one."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from canonicall.gateway import conversation_store, references
from canonicall.gateway.config import KeySettings, StoreSettings
from canonicall.gateway.governance.keys import hash_of
from canonicall.testing.server import serve
from gateway_backs import BOTH, MORE, models, thinking_world
from gateway_support import World, ask
from sdk_fronts import ResponsesConversing, openai, responses_said

OWN, FOREIGN, CHAT = (
    "by-openai-openai-responses",
    "by-anthropic-anthropic",
    "by-mistral-openai-chat",
)
FAMILIES = (OWN, FOREIGN, CHAT, "by-gemini-gemini", "by-bedrock-bedrock", "by-cohere-cohere")
TOOLS = ResponsesConversing.tools
WAYS = pytest.mark.parametrize("streamed", [False, True])
WHO = pytest.mark.parametrize("model", [OWN, FOREIGN])


@pytest.fixture(scope="module")
def world() -> World:
    return thinking_world()


@pytest.fixture(scope="module")
def client(world: World) -> Iterator[Any]:
    with serve(world.gateway(models())) as server:
        client = openai.OpenAI(base_url=f"{server.url}/v1", api_key="any", max_retries=0)
        yield client
        client.close()


def respond(client: Any, *, streamed: bool = False, **asked: Any) -> Any:
    if not streamed:
        return client.responses.create(tools=TOOLS, **asked)
    with client.responses.stream(tools=TOOLS, **asked) as stream:
        return stream.get_final_response()


def outputs(response: Any) -> list[Any]:
    return [
        {"type": "function_call_output", "call_id": id, "output": f"{name} of {args['city']}"}
        for id, name, args in responses_said(response).calls
    ]


def kinds(client: Any, conversation: str) -> list[str]:
    items = client.conversations.items.list(conversation, order="asc", limit=100)
    return [one.type for one in items if one.type != "reasoning"]


@WAYS
@pytest.mark.parametrize("model", FAMILIES)
def test_a_task_of_four_turns(client: Any, world: World, model: str, streamed: bool) -> None:
    conversation = client.conversations.create().id
    given: Any = BOTH
    for _ in range(2):
        first = respond(
            client, streamed=streamed, model=model, input=given, conversation=conversation
        )
        last = respond(
            client,
            streamed=streamed,
            model=model,
            input=outputs(first),
            conversation={"id": conversation},
        )
        given = MORE
    assert last.output_text == "It is so: get_weather of Oslo."
    sent = world.of(model.split("-")[1]).seen[-1].body
    assert "conversation" not in sent
    assert all(text in json.dumps(sent) for text in (BOTH, "local_time of Paris", MORE))
    one = ["message", *["function_call"] * 2, *["function_call_output"] * 2, "message"]
    other = ["message", "message", "function_call", "function_call_output", "message"]
    assert kinds(client, conversation) == [*one, *other]


def test_a_conversation_is_made_read_described_and_deleted(client: Any) -> None:
    items = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi."}]
    made = client.conversations.create(items=items, metadata={"topic": "demo"})
    assert made.id.startswith("conv_")
    assert made.object == "conversation"
    assert client.conversations.retrieve(made.id) == made
    changed = client.conversations.update(made.id, metadata={"topic": "other"})
    assert changed.metadata == {"topic": "other"}
    assert client.conversations.retrieve(made.id).metadata == {"topic": "other"}
    gone = client.conversations.delete(made.id)
    assert (gone.id, gone.deleted, gone.object) == (made.id, True, "conversation.deleted")
    for again in (client.conversations.retrieve, client.conversations.delete):
        with pytest.raises(openai.NotFoundError, match=f"Conversation with id '{made.id}' not"):
            again(made.id)
    with pytest.raises(openai.NotFoundError, match=made.id):
        client.responses.create(model=FOREIGN, input="More?", conversation=made.id)


def test_items_are_added_listed_and_taken_out(client: Any) -> None:
    conversation = client.conversations.create().id
    items = client.conversations.items
    said = [{"role": "user", "content": f"Say {at}."} for at in range(5)]
    added = items.create(conversation, items=said)
    assert [one.content[0].text for one in added.data] == [f"Say {at}." for at in range(5)]
    assert {one.status for one in added.data} == {"completed"}
    listed = list(items.list(conversation, order="asc", limit=2))
    assert [one.id for one in listed] == [one.id for one in added.data]
    newest = list(items.list(conversation))
    assert [one.id for one in newest] == [one.id for one in reversed(added.data)]
    second = added.data[1]
    assert items.retrieve(second.id, conversation_id=conversation) == second
    left = items.delete(second.id, conversation_id=conversation)
    assert left.id == conversation
    with pytest.raises(openai.NotFoundError, match=second.id):
        items.retrieve(second.id, conversation_id=conversation)
    response = client.responses.create(model=OWN, input="Last.", conversation=conversation)
    assert response.output_text == "You said: Last."
    texts = [
        part.text
        for one in items.list(conversation, order="asc")
        if one.type == "message"
        for part in one.content
    ]
    assert texts == ["Say 0.", "Say 2.", "Say 3.", "Say 4.", "Last.", "You said: Last."]


def test_what_does_not_fit_is_refused(client: Any) -> None:
    many = [{"role": "user", "content": "x"}] * 21
    with pytest.raises(openai.BadRequestError) as caught:
        client.conversations.create(items=many)
    assert (caught.value.code, caught.value.param) == ("array_above_max_length", "items")
    with pytest.raises(openai.BadRequestError) as caught:
        client.conversations.create(metadata={str(at): "x" for at in range(17)})
    assert caught.value.param == "metadata"
    made, first = client.conversations.create(), client.responses.create(model=OWN, input="Hi")
    with pytest.raises(openai.BadRequestError) as caught:
        client.responses.create(
            model=OWN, input="x", conversation=made.id, previous_response_id=first.id
        )
    assert caught.value.code == "mutually_exclusive_parameters"


@pytest.mark.parametrize("model", [FOREIGN, CHAT])
def test_an_unknown_conversation_is_not_found(client: Any, model: str) -> None:
    with pytest.raises(openai.NotFoundError, match="Conversation with id 'conv_x' not found"):
        client.responses.create(model=model, input="More?", conversation="conv_x")


@WHO
def test_a_response_of_a_conversation_can_be_continued_by_itself(client: Any, model: str) -> None:
    said = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi."}]
    conversation = client.conversations.create(items=said).id
    first = respond(client, model=model, input=BOTH, conversation=conversation)
    stored = client.responses.retrieve(first.id)
    assert stored.conversation.id == conversation
    listed = list(client.responses.input_items.list(first.id, order="asc"))
    assert [one.content[0].text for one in listed] == ["Hello", "Hi.", BOTH]
    last = respond(client, model=model, input=outputs(first), previous_response_id=first.id)
    assert last.output_text == "It is so: get_weather of Paris; local_time of Paris."
    assert kinds(client, conversation) == [*["message"] * 3, *["function_call"] * 2]
    client.conversations.delete(conversation)
    with pytest.raises(openai.BadRequestError) as caught:
        client.responses.create(model=FOREIGN, input="?", previous_response_id=first.id)
    assert caught.value.code == "previous_response_not_found"


@WHO
def test_what_is_not_to_be_stored_is_in_the_conversation_all_the_same(
    client: Any, model: str
) -> None:
    conversation = client.conversations.create().id
    response = client.responses.create(
        model=model, input="Hello", conversation=conversation, store=False
    )
    assert kinds(client, conversation) == ["message", "message"]
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(response.id)


@WAYS
async def test_another_provider_goes_on_after_a_restart(place: str, streamed: bool) -> None:
    world, store = thinking_world(), StoreSettings(path=place)
    gateway = world.gateway(models(), store=store)
    made = (await ask(gateway, "/v1/conversations", {})).json["id"]
    for at, model in enumerate((OWN, FOREIGN, "by-gemini-gemini", OWN)):
        await gateway.close()
        gateway = world.gateway(models(), store=store)
        body = {"model": model, "input": f"Say {at}.", "conversation": made, "stream": streamed}
        answer = await ask(gateway, "/v1/responses", body)
        assert answer.status == 200, answer.body
    sent = json.dumps(world.of("openai").seen[-1].body)
    assert all(f"Say {at}." in sent for at in range(4))
    listed = await ask(gateway, f"/v1/conversations/{made}/items?limit=100")
    assert [one["type"] for one in listed.json["data"]].count("message") == 8
    await gateway.close()


async def test_a_conversation_belongs_to_the_key_that_made_it(world: World) -> None:
    keys = {name: KeySettings(hash=hash_of(f"sk-{name}")) for name in ("one", "two")}
    gateway = world.gateway(models(), keys=keys)
    mine, other = ({"authorization": f"Bearer sk-{name}"} for name in keys)
    items = [{"role": "user", "content": "Hello"}]
    made = (await ask(gateway, "/v1/conversations", {"items": items}, headers=mine)).json["id"]
    body = {"model": OWN, "input": "More?", "conversation": made}
    path = f"/v1/conversations/{made}"
    first = (await ask(gateway, f"{path}/items", headers=mine)).json["data"][0]["id"]
    for where, asked, method in (
        (path, None, "GET"),
        (path, {"metadata": {}}, "POST"),
        (path, None, "DELETE"),
        (f"{path}/items", None, "GET"),
        (f"{path}/items", {"items": items}, "POST"),
        (f"{path}/items/{first}", None, "GET"),
        (f"{path}/items/{first}", None, "DELETE"),
        ("/v1/responses", body, "POST"),
        ("/v1/responses", {**body, "model": FOREIGN}, "POST"),
    ):
        answer = await ask(gateway, where, asked, method=method, headers=other)
        assert answer.status == 404, (where, method)
        assert answer.json["error"]["message"] == f"Conversation with id '{made}' not found."
    assert (await ask(gateway, "/v1/responses", body, headers=mine)).status == 200
    await gateway.close()


async def test_a_response_is_not_continued_with_the_key_of_another(world: World) -> None:
    """Also not at the provider, which knows only the gateway's key."""
    keys = {name: KeySettings(hash=hash_of(f"sk-{name}")) for name in ("one", "two")}
    gateway = world.gateway(models(), keys=keys)
    mine, other = ({"authorization": f"Bearer sk-{name}"} for name in keys)
    first = await ask(gateway, "/v1/responses", {"model": OWN, "input": "Secret"}, headers=mine)
    seen = len(world.of("openai").seen)
    body = {"model": OWN, "input": "More?", "previous_response_id": first.json["id"]}
    answer = await ask(gateway, "/v1/responses", body, headers=other)
    assert answer.status == 400
    assert answer.json["error"]["code"] == "previous_response_not_found"
    assert len(world.of("openai").seen) == seen
    await gateway.close()


@WHO
async def test_one_response_at_a_time_is_added(world: World, model: str) -> None:
    gateway = world.gateway(models())
    made = (await ask(gateway, "/v1/conversations", {})).json["id"]
    body = {"model": model, "input": "Hello", "conversation": made}
    answers = await asyncio.gather(*(ask(gateway, "/v1/responses", body) for _ in range(5)))
    refused = [one for one in answers if one.status != 200]
    assert 1 <= len(refused) < 5
    for one in refused:
        error = one.json["error"]
        assert (one.status, error["code"]) == (400, "conversation_locked")
        assert error["param"] == "conversation"
    again = await ask(gateway, "/v1/responses", body)
    assert again.status == 200
    listed = await ask(gateway, f"/v1/conversations/{made}/items?limit=100")
    kept = [one for one in listed.json["data"] if one["type"] == "message"]
    assert len(kept) == 2 * (5 - len(refused) + 1)
    await gateway.close()


async def test_a_conversation_is_held_as_long_as_its_response_takes(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (conversation_store, references):
        monkeypatch.setattr(module, "LEASE_SECONDS", 0.15)
    gateway = world.gateway(models())
    made = (await ask(gateway, "/v1/conversations", {})).json["id"]
    transport = gateway.state.backs.means.transport
    post = transport.post

    async def slow(*arguments: Any, **options: Any) -> Any:
        await asyncio.sleep(0.6)
        return await post(*arguments, **options)

    monkeypatch.setattr(transport, "post", slow)
    body = {"model": FOREIGN, "input": "Hello", "conversation": made}
    first = asyncio.ensure_future(ask(gateway, "/v1/responses", body))
    await asyncio.sleep(0.4)
    second = await ask(gateway, "/v1/responses", body)
    assert second.json["error"]["code"] == "conversation_locked"
    assert (await first).status == 200
    await gateway.close()


@WHO
@WAYS
async def test_a_conversation_is_free_when_its_reply_is_there(
    world: World, model: str, streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its release is part of the write that precedes the end of the reply: the next request may be
    answered by another worker, before this one does anything else."""
    monkeypatch.setattr(conversation_store.ConversationStore, "release", lambda *_, **__: None)
    gateway = world.gateway(models())
    made = (await ask(gateway, "/v1/conversations", {})).json["id"]
    body = {"model": model, "input": "Hello", "conversation": made, "stream": streamed}
    for _ in range(3):
        answer = await ask(gateway, "/v1/responses", body)
        assert answer.status == 200, answer.body
    await gateway.close()


async def test_a_conversation_that_was_let_go_of_is_not_held_for_longer(world: World) -> None:
    gateway = world.gateway(models())
    made = (await ask(gateway, "/v1/conversations", {})).json["id"]
    held = gateway.keeping.conversations
    await held.renew(made, "late", 10.0**12, owner="")
    body = {"model": FOREIGN, "input": "Hello", "conversation": made}
    assert (await ask(gateway, "/v1/responses", body)).status == 200
    await gateway.close()


async def test_a_conversation_that_is_deleted_meanwhile_is_not_added_to(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    gateway = world.gateway(models())
    made = (await ask(gateway, "/v1/conversations", {})).json["id"]
    transport = gateway.state.backs.means.transport
    post = transport.post

    async def after_deletion(*arguments: Any, **options: Any) -> Any:
        gone = await ask(gateway, f"/v1/conversations/{made}", method="DELETE")
        assert gone.status == 200
        return await post(*arguments, **options)

    monkeypatch.setattr(transport, "post", after_deletion)
    body = {"model": FOREIGN, "input": "Hello", "conversation": made}
    answer = await ask(gateway, "/v1/responses", body)
    assert answer.status == 404
    assert made in answer.json["error"]["message"]
    await gateway.close()


async def test_a_reply_that_fails_adds_nothing(world: World) -> None:
    gateway = world.gateway(models())
    made = (await ask(gateway, "/v1/conversations", {})).json["id"]
    body = {"model": FOREIGN, "input": [{"type": "message"}], "conversation": made}
    assert (await ask(gateway, "/v1/responses", body)).status == 400
    listed = await ask(gateway, f"/v1/conversations/{made}/items")
    assert listed.json["data"] == []
    body["input"] = "Hello"
    assert (await ask(gateway, "/v1/responses", body)).status == 200
    await gateway.close()


async def test_a_conversation_has_so_many_bytes(world: World) -> None:
    gateway = world.gateway(models(), store=StoreSettings(max_bytes=1000))
    items = [{"role": "user", "content": "x" * 1200}]
    made = (await ask(gateway, "/v1/conversations", {"items": items})).json["id"]
    body = {"model": FOREIGN, "input": "Hello", "conversation": made}
    answer = await ask(gateway, "/v1/responses", body)
    assert answer.json["error"]["code"] == "context_length_exceeded"
    more = await ask(gateway, f"/v1/conversations/{made}/items", {"items": items})
    assert more.json["error"]["code"] == "context_length_exceeded"
    await gateway.close()


async def test_a_chain_of_responses_has_so_many_turns(world: World) -> None:
    gateway = world.gateway(models(), store=StoreSettings(max_turns=2))
    last, codes = None, []
    for _ in range(3):
        body = {"model": FOREIGN, "input": "Hello", "previous_response_id": last}
        answer = (await ask(gateway, "/v1/responses", body)).json
        last = answer.get("id")
        codes.append((answer.get("error") or {}).get("code"))
    assert codes == [None, None, "context_length_exceeded"]
    await gateway.close()


async def test_a_chain_of_responses_has_so_many_bytes(world: World) -> None:
    gateway = world.gateway(models(), store=StoreSettings(max_bytes=4000))
    first = (await ask(gateway, "/v1/responses", {"model": FOREIGN, "input": "Hello"})).json
    body = {"model": FOREIGN, "input": "Hello", "previous_response_id": first["id"]}
    assert (await ask(gateway, "/v1/responses", body)).status == 200
    large = await ask(gateway, "/v1/responses", {**body, "input": "x" * 4000})
    assert (large.status, large.json["error"]["code"]) == (400, "context_length_exceeded")
    await gateway.close()


@pytest.mark.parametrize("named", ["", 5, [], {}, {"id": 5}, {"id": ""}, {"id": None}])
@WHO
async def test_a_conversation_that_cannot_be_read_is_refused(
    world: World, model: str, named: Any
) -> None:
    """It was left out, and the model answered without the conversation."""
    gateway = world.gateway(models())
    seen = len(world.of(model.split("-")[1]).seen)
    for path in ("/v1/responses", "/v1/responses/input_tokens"):
        answer = await ask(gateway, path, {"model": model, "input": "More?", "conversation": named})
        error = answer.json["error"]
        assert (answer.status, error["code"]) == (400, "invalid_type")
        assert error["param"] == "conversation"
    assert len(world.of(model.split("-")[1]).seen) == seen
    await gateway.close()


async def test_a_conversation_is_forgotten_when_nothing_was_added_for_long(place: str) -> None:
    world, day = thinking_world(), 86_400.0
    gateway = world.gateway(models(), store=StoreSettings(path=place, days=1.0))
    old, used = [(await ask(gateway, "/v1/conversations", {})).json["id"] for _ in range(2)]
    now = gateway.state.backs.means.now() + 0.9 * day
    items = [conversation_store.Item("msg_1", {"role": "user", "content": "Later."})]
    await gateway.keeping.conversations.add(used, items, now, owner="")
    gateway.keeping.forget_old(now + 0.5 * day)
    for id, status in ((old, 404), (used, 200)):
        assert (await ask(gateway, f"/v1/conversations/{id}")).status == status
        body = {"model": FOREIGN, "input": "More?", "conversation": id}
        assert (await ask(gateway, "/v1/responses", body)).status == status
    await gateway.close()


async def test_no_id_of_another_key_can_be_used_anywhere(world: World) -> None:
    keys = {name: KeySettings(hash=hash_of(f"sk-{name}")) for name in ("one", "two")}
    gateway = world.gateway(models(), keys=keys)
    mine, other = ({"authorization": f"Bearer sk-{name}"} for name in keys)
    made = (await ask(gateway, "/v1/conversations", {}, headers=mine)).json["id"]
    secret = {"model": FOREIGN, "input": "SECRET"}
    first = (await ask(gateway, "/v1/responses", secret, headers=mine)).json
    item = {"type": "item_reference", "id": first["output"][-1]["id"]}
    before = {"previous_response_id": first["id"]}
    base = {"model": FOREIGN, "input": "More?"}
    for path, more in (
        ("/v1/responses", {"input": [item]}),
        ("/v1/responses", before),
        ("/v1/responses", {**before, "stream": True}),
        ("/v1/responses/input_tokens", before),
        ("/v1/responses/input_tokens", {"conversation": made}),
        ("/v1/responses/compact", before),
    ):
        answers = [await ask(gateway, path, {**base, **more}, headers=who) for who in (mine, other)]
        assert [one.status < 300 for one in answers] == [True, False], (path, more)
        assert answers[1].status in (400, 404)
        assert b"not found" in answers[1].body
        assert b"SECRET" not in answers[1].body
    await gateway.close()


async def test_tokens_are_counted_of_the_whole(world: World) -> None:
    """And to count takes nothing from a response that follows."""
    gateway = world.gateway(models())
    items = [{"role": "user", "content": "x" * 4000}]
    made = (await ask(gateway, "/v1/conversations", {"items": items})).json["id"]
    body = {"model": FOREIGN, "input": "Hello", "conversation": made}
    counted = await ask(gateway, "/v1/responses/input_tokens", body)
    assert counted.json["input_tokens"] > 1000
    first = await ask(gateway, "/v1/responses", body)
    assert first.status == 200
    more = {"model": FOREIGN, "input": "Hello", "previous_response_id": first.json["id"]}
    counted = await ask(gateway, "/v1/responses/input_tokens", more)
    assert counted.json["input_tokens"] > 1000
    await gateway.close()
