"""The Responses front: what is stored, what it is asked for, and by whom it was made."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from canonicall.gateway.config import StoreSettings
from canonicall.testing.server import serve
from front_bodies import request_of
from gateway_backs import BOTH, models, thinking_world
from gateway_support import World, ask
from sdk_fronts import ResponsesConversing, openai, responses_said

FOREIGN, OWN = "by-anthropic-anthropic", "by-openai-openai-responses"
TOOLS = ResponsesConversing.tools
WHO = pytest.mark.parametrize("model", [FOREIGN, OWN])


@pytest.fixture(scope="module")
def world() -> World:
    return thinking_world()


@pytest.fixture(scope="module")
def client(world: World) -> Iterator[Any]:
    with serve(world.gateway(models())) as server:
        client = openai.OpenAI(base_url=f"{server.url}/v1", api_key="any", max_retries=0)
        yield client.responses
        client.close()


def outputs(response: Any) -> list[Any]:
    return [
        {"type": "function_call_output", "call_id": id, "output": f"{name} of Paris"}
        for id, name, _ in responses_said(response).calls
    ]


@WHO
@pytest.mark.parametrize("streamed", [False, True])
def test_what_is_stored_is_what_was_sent(client: Any, model: str, streamed: bool) -> None:
    asked = {"model": model, "input": BOTH, "tools": TOOLS}
    if streamed:
        with client.stream(**asked) as stream:
            response = stream.get_final_response()
    else:
        response = client.create(**asked)
    stored = client.retrieve(response.id)
    assert [one.id for one in stored.output] == [one.id for one in response.output]
    assert stored.created_at == response.created_at
    assert responses_said(stored) == responses_said(response)


@WHO
def test_input_items_are_listed_page_by_page(client: Any, model: str) -> None:
    first = client.create(model=model, input=BOTH, tools=TOOLS)
    second = client.create(
        model=model, input=outputs(first), previous_response_id=first.id, tools=TOOLS
    )
    listed = list(client.input_items.list(second.id, order="asc"))
    assert listed[0].content[0].text == BOTH
    kinds = [one.type for one in listed if one.type != "reasoning"]
    assert kinds == ["message", *["function_call"] * 2, *["function_call_output"] * 2]
    paged = list(client.input_items.list(second.id, order="asc", limit=2))
    assert [one.id for one in paged] == [one.id for one in listed]
    newest = list(client.input_items.list(second.id, limit=1))
    assert [one.id for one in newest] == [one.id for one in reversed(listed)]


@WHO
def test_what_is_deleted_is_not_found_any_more(client: Any, model: str) -> None:
    response = client.create(model=model, input=BOTH, tools=TOOLS)
    client.delete(response.id)
    for ask_again in (client.retrieve, client.delete, client.input_items.list, client.cancel):
        with pytest.raises(openai.NotFoundError, match=f"Response with id '{response.id}'"):
            ask_again(response.id)
    with pytest.raises(openai.BadRequestError) as caught:
        client.create(model=FOREIGN, input="More?", previous_response_id=response.id)
    assert caught.value.code == "previous_response_not_found"
    assert caught.value.param == "previous_response_id"
    assert f"Previous response with id '{response.id}' not found." in caught.value.message


@WHO
def test_what_is_not_to_be_stored_is_not(client: Any, model: str) -> None:
    response = client.create(model=model, input=BOTH, tools=TOOLS, store=False)
    with pytest.raises(openai.NotFoundError):
        client.retrieve(response.id)


def test_only_what_runs_in_the_background_can_be_streamed_again(client: Any) -> None:
    made = client.create(model=FOREIGN, input="Hello")
    with pytest.raises(openai.BadRequestError, match="cannot be streamed") as caught:
        client.retrieve(made.id, stream=True)
    assert caught.value.param == "stream"


async def test_a_response_is_continued_at_the_same_time(place: str) -> None:
    """Each is a branch of its own, in every order in which they end."""
    world = thinking_world()
    gateway = world.gateway(models(), store=StoreSettings(path=place))
    first = (await ask(gateway, "/v1/responses", {"model": FOREIGN, "input": "Root"})).json

    async def go_on(before: str, text: str, model: str) -> Any:
        body = {"model": model, "input": text, "previous_response_id": before}
        answer = await ask(gateway, "/v1/responses", body)
        assert answer.status == 200, answer.body
        return answer.json["id"]

    who = (OWN, FOREIGN, "by-gemini-gemini") * 3
    branches = await asyncio.gather(
        *(go_on(first["id"], f"Branch {at}.", model) for at, model in enumerate(who))
    )
    leaves = await asyncio.gather(*(go_on(id, "Leaf", FOREIGN) for id in branches))
    assert len({*branches, *leaves}) == 18
    for at, leaf in enumerate(leaves):
        listed = await ask(gateway, f"/v1/responses/{leaf}/input_items?order=asc&limit=100")
        said = json.dumps(listed.json["data"])
        assert [text for text in range(9) if f"Branch {text}." in said] == [at]
        assert said.count('"Root"') == 1
    await gateway.close()


def test_only_what_runs_in_the_background_can_be_cancelled(client: Any) -> None:
    response = client.create(model=FOREIGN, input=BOTH, tools=TOOLS)
    with pytest.raises(openai.BadRequestError, match="background"):
        client.cancel(response.id)


@WHO
def test_items_can_be_referred_to_by_their_ids(client: Any, world: World, model: str) -> None:
    first = client.create(model=model, input=BOTH, tools=TOOLS)
    references = [{"type": "item_reference", "id": one.id} for one in first.output]
    question = {"role": "user", "content": BOTH}
    second = client.create(
        model=FOREIGN, input=[question, *references, *outputs(first)], tools=TOOLS
    )
    assert second.output_text == "It is so: get_weather of Paris; local_time of Paris."
    assert world.of("anthropic").seen[-1].status == 200


def test_an_item_that_is_not_stored_is_named(client: Any) -> None:
    gone = [{"role": "user", "content": BOTH}, {"type": "item_reference", "id": "rs_gone"}]
    with pytest.raises(openai.BadRequestError, match="Item with id 'rs_gone' not found"):
        client.create(model=FOREIGN, input=gone)


def test_encrypted_reasoning_comes_where_it_is_asked_for(client: Any) -> None:
    """Of a provider that has other state, too."""
    include = ["reasoning.encrypted_content"]
    response = client.create(model=FOREIGN, input=BOTH, tools=TOOLS, include=include, store=False)
    (thought,) = [one for one in response.output if one.type == "reasoning"]
    assert thought.encrypted_content


async def test_a_chain_goes_on_after_the_gateway_began_anew(place: str) -> None:
    """Stored responses outlive the process."""
    world = thinking_world()
    store = StoreSettings(path=place)
    gateway = world.gateway(models(), store=store)
    path, body = request_of("openai-responses", FOREIGN, BOTH)
    first = (await ask(gateway, path, body)).json
    await gateway.close()
    gateway = world.gateway(models(), store=store)
    calls = [one for one in first["output"] if one["type"] == "function_call"]
    given = [
        {"type": "function_call_output", "call_id": one["call_id"], "output": "x"} for one in calls
    ]
    body |= {"input": given, "previous_response_id": first["id"]}
    second = await ask(gateway, path, body)
    assert second.status == 200, second.body
    await gateway.close()


@WHO
async def test_a_streamed_response_is_stored_before_its_last_byte_is_sent(model: str) -> None:
    """A client may refer to it at once."""
    gateway = thinking_world().gateway(models())
    path, body = request_of("openai-responses", model, BOTH, streamed=True)
    found: list[Any] = []

    async def look(data: bytes) -> None:
        for line in data.splitlines():
            if line.startswith(b"data: ") and b'"type":"response.completed"' in line:
                id = json.loads(line[6:])["response"]["id"]
                found.append(await gateway.keeping.turns.line("response", id, owner=""))

    answer = await ask(gateway, path, body, look=look)
    assert answer.status == 200
    assert [one.last["response"]["status"] for one in found] == ["completed"]
    await gateway.close()


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_chain_forks_and_goes_on_with_other_providers_after_restarts(
    place: str, streamed: bool
) -> None:
    world, store = thinking_world(), StoreSettings(path=place)
    gateway = world.gateway(models(), store=store)
    path, body = request_of("openai-responses", OWN, BOTH)
    first = (await ask(gateway, path, body)).json
    calls = [one for one in first["output"] if one["type"] == "function_call"]

    async def go_on(model: str, before: str, given: Any) -> tuple[str, str]:
        nonlocal gateway
        await gateway.close()
        gateway = world.gateway(models(), store=store)
        asked = {"model": model, "input": given, "previous_response_id": before}
        answer = await ask(gateway, path, {**body, **asked, "stream": streamed})
        assert answer.status == 200, answer.body
        data = answer.body.partition(b"event: response.completed\ndata: ")[2] or answer.body
        reply = json.loads(data.splitlines()[0])
        reply = reply.get("response", reply)
        (message,) = [one for one in reply["output"] if one["type"] == "message"]
        return reply["id"], message["content"][0]["text"]

    def results(text: str) -> list[Any]:
        return [
            {"type": "function_call_output", "call_id": one["call_id"], "output": text}
            for one in calls
        ]

    one, said_one = await go_on("by-gemini-gemini", first["id"], results("one"))
    two, said_two = await go_on(FOREIGN, first["id"], results("two"))
    assert (said_one, said_two) == ("It is so: one; one.", "It is so: two; two.")
    for id, text in ((one, said_one), (two, said_two)):
        _, said = await go_on(OWN, id, "And now?")
        assert said == "You said: And now?"
        sent = json.dumps(world.of("openai").seen[-1].body)
        assert BOTH in sent
        assert sent.count("It is so") == 1
        assert text in sent
    await gateway.close()
