"""A client that searches for tools itself (Codex) does so behind a model of any format: the search
is a function there, what it found can be called, and the client gets its own items."""

import json
from typing import Any

import pytest

from canonicall.blocks import ToolCall
from canonicall.codec.decode import decode_response
from canonicall.codec.encode import encode_response
from canonicall.reply import Reply
from canonicall.request import Request
from canonicall.testing import Simulator, call, says
from canonicall.verify import verify_stream
from gateway_support import World, ask

QUERY = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
SEARCH = {
    "type": "tool_search",
    "execution": "client",
    "description": "Finds tools.",
    "parameters": QUERY,
}
SHELL = {"type": "function", "name": "shell", "parameters": {"type": "object", "properties": {}}}
FOUND = {
    "type": "namespace",
    "name": "calendar",
    "description": "Dates.",
    "tools": [
        {
            "type": "function",
            "name": "add_event",
            "description": "Adds one.",
            "defer_loading": True,
            "parameters": {"type": "object", "properties": {"day": {"type": "string"}}},
        }
    ],
}
BACKS = ["anthropic", "gemini", "kimi", "mistral", "bedrock", "cohere", "ollama"]
BOTH_WAYS = pytest.mark.parametrize("stream", [False, True])
EACH_BACK = pytest.mark.parametrize("back", BACKS)


def searching(request: Request) -> Reply:
    """Looks for a tool, calls what was found, and tells what came of it."""
    names = [tool.name for tool in request.tools]
    calls = [one for message in request.conversation.messages for one in message.calls]
    if not calls:
        assert "tool_search" in names
        return says(call("tool_search", query="dates"))
    if len(calls) == 1:
        (found,) = [name for name in names if "add_event" in name]
        return says(call(found, day="Monday"))
    return says("It is in.")


async def asked(world: World, back: str, items: list[Any], *, stream: bool) -> list[dict[str, Any]]:
    """The items of the reply; of a stream as its events tell them."""
    body = {
        "model": f"{back}:some-model",
        "input": items,
        "tools": [SHELL, SEARCH],
        "stream": stream,
        "store": False,
    }
    gateway = world.gateway()
    answer = await ask(gateway, "/v1/responses", body)
    await gateway.close()
    assert answer.status == 200, answer.body
    if not stream:
        output: list[dict[str, Any]] = answer.json["output"]
        return output
    assert not list(verify_stream(answer.body, "openai-responses"))
    told = [
        json.loads(line[6:]) for line in answer.body.decode().splitlines() if line[:6] == "data: "
    ]
    done = [one["item"] for one in told if one["type"] == "response.output_item.done"]
    assert done == told[-1]["response"]["output"]
    return done


@BOTH_WAYS
@EACH_BACK
async def test_a_search_and_a_call_of_what_it_found(back: str, stream: bool) -> None:
    world = World(lambda name: Simulator(name, model=searching))
    items: list[Any] = [{"role": "user", "content": "A date on Monday, please."}]
    (made,) = await asked(world, back, items, stream=stream)
    assert made["type"] == "tool_search_call"
    assert made["execution"] == "client"
    assert made["arguments"] == {"query": "dates"}
    assert made["status"] == "completed"
    assert made["call_id"]

    output = {"call_id": made["call_id"], "status": "completed", "execution": "client"}
    items += [made, {"type": "tool_search_output", **output, "tools": [FOUND]}]
    (called,) = await asked(world, back, items, stream=stream)
    assert called["type"] == "function_call"
    assert (called["namespace"], called["name"]) == ("calendar", "add_event")
    assert json.loads(called["arguments"]) == {"day": "Monday"}
    shown = json.dumps(world.of(back).seen[-1].body)
    assert "These tools can be called now: calendar__add_event." in shown

    items += [
        called,
        {"type": "function_call_output", "call_id": called["call_id"], "output": "ok"},
    ]
    (last,) = await asked(world, back, items, stream=stream)
    assert last["content"][0]["text"] == "It is in."
    assert not [one for one in world.of(back).seen if one.status != 200]


async def test_searches_that_find_the_same_offer_it_once() -> None:
    world = World(lambda name: Simulator(name, model=lambda _: says("Fine.")))
    items: list[Any] = [{"role": "user", "content": "Look twice."}]
    for id in ("call_1", "call_2"):
        pair = {"call_id": id, "status": "completed", "execution": "client"}
        items += [
            {"type": "tool_search_call", **pair, "arguments": {"query": id}},
            {"type": "tool_search_output", **pair, "tools": [FOUND]},
        ]
    await asked(world, "anthropic", items, stream=False)
    offered = [tool["name"] for tool in world.of("anthropic").seen[-1].body["tools"]]
    assert offered == ["shell", "tool_search", "calendar__add_event"]


async def test_a_provider_that_has_searches_gets_the_items_as_they_came() -> None:
    """Also where they are translated; one without its output has found nothing."""
    world = World(lambda name: Simulator(name, model=lambda _: says("Fine.")))
    pair = {"call_id": "call_1", "execution": "client"}
    search = {"type": "tool_search_call", **pair, "arguments": {"query": "q"}}
    found = {"type": "tool_search_output", **pair, "status": "completed", "tools": [FOUND]}
    orphan = {"type": "function_call_output", "call_id": "call_gone", "output": "x"}
    lost = {"type": "tool_search_call", "call_id": "call_2", "execution": "client", "arguments": {}}
    items = [{"role": "user", "content": "Look."}, orphan, search, found, lost]
    await asked(world, "openai/openai-responses", [*items, items[0]], stream=False)
    body = world.of("openai").seen[-1].body
    assert SEARCH in body["tools"]
    assert body["input"][1:5] == [search, found, lost, {**found, "call_id": "call_2", "tools": []}]


def test_the_call_of_a_search_is_a_call_like_any_other() -> None:
    """Agents written with the library see a call that has to be answered."""
    item = {
        "type": "tool_search_call",
        "id": "tsc_1",
        "call_id": "call_1",
        "execution": "client",
        "arguments": {"query": "q"},
        "status": "completed",
    }
    reply = decode_response({"status": "completed", "output": [item]}, "openai-responses")
    (made,) = reply.calls
    assert isinstance(made, ToolCall)
    assert (made.kind, made.id, made.name, made.args) == (
        "function",
        "call_1",
        "tool_search",
        {"query": "q"},
    )
    assert reply.finish == "tool_calls"
    assert encode_response(reply, "openai-responses")["output"] == [item]
