"""A Responses stream that was forwarded and breaks off: items keep the names and events the numbers
that the provider gave them, and the response can be referred to."""

import json
from typing import Any

import pytest

from canonicall import verify_stream
from canonicall.blocks import Text
from canonicall.codec.encode import encode_response
from gateway.test_faults_cut import ended
from gateway_faults import (
    BACKS,
    BROKEN,
    FRONTS,
    Faulty,
    Front,
    Play,
    Upstream,
    said,
    stream_of,
)
from gateway_support import ask

FORMAT = "openai-responses"
OTHER = "mistral:mistral-large-latest"
STORED = Front(FORMAT, FRONTS[FORMAT].path, {**FRONTS[FORMAT].body, "store": True})
RESPONSE = {"id": "resp_0a1", "object": "response", "created_at": 1790000000, "model": "gpt-5"}
SEARCH = {"type": "web_search_call", "id": "ws_7", "status": "in_progress", "action": None}


def events(*told: dict[str, Any]) -> bytes:
    """Events with their numbers."""
    return b"".join(
        f"event: {one['type']}\ndata: {json.dumps({**one, 'sequence_number': at})}\n\n".encode()
        for at, one in enumerate(told)
    )


def item(what: str, place: int, **fields: Any) -> dict[str, Any]:
    return {"type": f"response.output_item.{what}", "output_index": place, "item": fields}


BEGUN = {"response": {**RESPONSE, "status": "in_progress", "output": []}}
OPENED: list[dict[str, Any]] = [
    {"type": "response.created", **BEGUN},
    {"type": "response.in_progress", **BEGUN},
    item("added", 0, type="reasoning", id="rs_1", summary=[]),
    item("done", 0, type="reasoning", id="rs_1", summary=[]),
]
PART = {"item_id": "msg_2", "output_index": 1, "content_index": 0}
WORDS: list[dict[str, Any]] = [
    item(
        "added", 1, type="message", role="assistant", id="msg_2", status="in_progress", content=[]
    ),
    {
        "type": "response.content_part.added",
        **PART,
        "part": {"type": "output_text", "text": "", "annotations": []},
    },
    {"type": "response.output_text.delta", **PART, "delta": ""},
    {"type": "response.output_text.delta", **PART, "delta": "It is "},
]
CALL = {"type": "function_call", "id": "fc_3", "call_id": "call_x1", "name": "get_weather"}
ARGUMENTS = '{"city":"Rome"}'
CALLED: list[dict[str, Any]] = [
    item("added", 1, **CALL, arguments="", status="in_progress"),
    {
        "type": "response.function_call_arguments.delta",
        "item_id": "fc_3",
        "output_index": 1,
        "delta": ARGUMENTS,
    },
    {
        "type": "response.function_call_arguments.done",
        "item_id": "fc_3",
        "output_index": 1,
        "name": "get_weather",
        "arguments": ARGUMENTS,
    },
    item("done", 1, **CALL, arguments=ARGUMENTS, status="completed"),
]


def told(body: bytes) -> list[dict[str, Any]]:
    return [json.loads(line[6:]) for line in body.decode().splitlines() if line[:6] == "data: "]


async def test_words_go_on_in_the_item_that_they_began_in() -> None:
    given = events(*OPENED, *WORDS)
    more = Play.stream("openai-chat", stream_of(said(Text(text="sunny.")), "openai-chat"))
    world = Faulty(
        Upstream(Play.stream(FORMAT, given, BROKEN), more), BACKS[FORMAT], OTHER, goes_on=True
    )
    answer = await world.ask(FORMAT)
    assert answer.body.startswith(given)
    assert not list(verify_stream(answer.body, FORMAT))
    rest = told(answer.body[len(given) :])
    assert [one["sequence_number"] for one in rest] == list(range(8, 8 + len(rest)))
    assert {one["item_id"] for one in rest if "item_id" in one} == {"msg_2"}
    last = rest[-1]["response"]
    assert rest[-1]["type"] == "response.completed"
    assert (last["id"], last["created_at"]) == ("resp_0a1", 1790000000)
    assert [one["id"] for one in last["output"]] == ["rs_1", "msg_2"]
    assert last["output"][1]["content"][0]["text"] == "It is sunny."


async def test_a_response_that_was_ended_for_its_provider_can_be_referred_to() -> None:
    """Whoever is asked next gets the call with its result; the provider has not stored it."""
    whole = json.dumps(encode_response(said(Text(text="Sunny.")), FORMAT)).encode()
    upstream = Upstream(Play.stream(FORMAT, events(*OPENED, *CALLED), BROKEN), Play.json(whole))
    world = Faulty(upstream, BACKS[FORMAT], goes_on=True)
    first = await world.ask(STORED)
    end = told(first.body)[-1]["response"]
    assert (end["id"], end["status"]) == ("resp_0a1", "completed")
    result = {"type": "function_call_output", "call_id": "call_x1", "output": "sunny"}
    body = {**STORED.body, "model": "m", "previous_response_id": "resp_0a1", "input": [result]}
    second = await ask(world.gateway, STORED.path, body)
    assert second.status == 200, second.body
    sent = json.loads(upstream.bodies[-1])
    assert "previous_response_id" not in sent
    kinds = [one.get("type", one.get("role")) for one in sent["input"]]
    assert kinds[-2:] == ["function_call", "function_call_output"]
    assert len({one["call_id"] for one in sent["input"] if "call_id" in one}) == 1


@pytest.mark.parametrize("goes_on", [True, False])
async def test_behind_an_item_that_nobody_else_knows_the_error_is_told(goes_on: bool) -> None:
    given = events(*OPENED, item("added", 1, **SEARCH), item("added", 2, **CALL, arguments=""))
    world = Faulty(Upstream(Play.stream(FORMAT, given, BROKEN)), BACKS[FORMAT], goes_on=goes_on)
    answer = await world.ask(FORMAT)
    (error,) = told(answer.body[len(given) :])
    assert error["type"] == "error"
    assert error["sequence_number"] == 6
    assert "the connection broke" in error["error"]["message"]
    assert not ended(FORMAT, answer.body).complete


@pytest.mark.parametrize("back", [FORMAT, "cohere"])
async def test_a_response_that_stays_cut_has_failed_and_says_why(back: str) -> None:
    """Forwarded or translated alike; `incomplete` is for limits and filters."""
    given = (
        events(*OPENED, *CALLED[:2])
        if back == FORMAT
        else stream_of(said(Text(text="It is ")), back).partition(b"\n\nevent: content-end")[0]
        + b"\n\n"
    )
    world = Faulty(Upstream(Play.stream(back, given, BROKEN)), BACKS[back])
    answer = await world.ask(FORMAT)
    last = told(answer.body)[-1]
    assert last["type"] == "response.failed"
    assert "the connection broke" in last["response"]["error"]["message"]
