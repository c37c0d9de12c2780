"""Anthropic's threads through the gateway: what the SDK's tool runner does, and what a thread is."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from canonicall.gateway.config import KeySettings, StoreSettings
from canonicall.gateway.governance.keys import hash_of
from canonicall.store.engine import StoreError
from canonicall.testing import ScriptedModel, Simulator, says
from canonicall.testing.server import serve
from gateway_backs import BOTH, MORE, models, thinking_world
from gateway_support import Answer, World
from sdk_fronts import anthropic
from thread_bodies import (
    TOOL,
    body_of,
    details,
    next_of,
    post,
    results_of,
    run,
    said,
    text_of,
    tools,
    user,
)

OWN, FOREIGN = "by-anthropic-anthropic", "by-openai-openai-chat"
FAMILIES = (
    OWN,
    FOREIGN,
    "by-openai-openai-responses",
    "by-gemini-gemini",
    "by-bedrock-bedrock",
    "by-cohere-cohere",
)
COMPACTS = {"anthropic-beta": "compact-2026-09-04"}
WAYS = pytest.mark.parametrize("streamed", [False, True])
WHO = pytest.mark.parametrize("model", [OWN, FOREIGN])


@pytest.fixture(scope="module")
def world() -> World:
    return thinking_world()


@pytest.fixture(scope="module")
def client(world: World) -> Iterator[Any]:
    with serve(world.gateway(models())) as server:
        client = anthropic.Anthropic(base_url=server.url, api_key="any", max_retries=0)
        yield client
        client.close()


@WAYS
@pytest.mark.parametrize("model", FAMILIES)
def test_the_tool_runner_finishes_its_task(
    client: Any, world: World, model: str, streamed: bool
) -> None:
    seen = world.of(model.split("-")[1]).seen
    before = len(seen)
    last = run(client, model, streamed=streamed)
    assert text_of(last) == "It is so: get_weather of Paris; local_time of Paris."
    asked = [json.dumps(one.body) for one in seen[before:]]
    assert len(asked) == 2
    assert BOTH in asked[1]
    assert "Be brief." in asked[1]
    assert "thread" not in seen[-1].body


@WAYS
def test_a_thread_of_the_sdk_goes_on_over_six_families_and_restarts(
    tmp_path: Path, streamed: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """Each turn is answered by another family, after a restart, and nothing is sent again."""
    caplog.set_level("INFO", logger="anthropic")
    world, store = thinking_world(), StoreSettings(path=str(tmp_path / "store.db"))
    client = anthropic.Anthropic(base_url="http://later", api_key="any", max_retries=0)
    thread = client.beta.messages.thread(
        model=OWN, max_tokens=4000, system="Be brief.", tools=tools()
    )

    def send(model: str, given: Any, thread: Any) -> Any:
        with serve(world.gateway(models(), store=store)) as server:
            client.base_url = server.url
            if not streamed:
                return thread.send(given, model=model)
            with thread.stream(given, model=model) as stream:
                return stream.get_final_message()

    given: Any = user(BOTH)
    for model in FAMILIES[:4]:
        reply = send(model, given, thread)
        has_calls = reply.stop_reason == "tool_use"
        given = results_of(reply.to_dict()) if has_calls else user(MORE)
    assert text_of(reply) == "It is so: get_weather of Oslo."
    for model, text in zip(FAMILIES[4:], ("And now?", "And then?"), strict=True):
        reply = send(model, user(text), thread)
        assert text_of(reply) == f"You said: {text}"
    sent = json.dumps(world.of("cohere").seen[-1].body)
    said_before = (
        BOTH,
        "local_time of Paris",
        MORE,
        "get_weather of Oslo",
        "And now?",
        "And then?",
    )
    assert [text for text in said_before if text not in sent] == []
    assert text_of(send(OWN, user("Fork?"), thread.fork())) == "You said: Fork?"
    assert text_of(send(OWN, user("Main?"), thread)) == "You said: Main?"
    assert "Fork?" not in json.dumps(world.of("anthropic").seen[-1].body)
    assert "Replaying" not in caplog.text
    client.close()


@WHO
async def test_a_continuation_is_the_whole_conversation_for_the_provider(
    world: World, model: str
) -> None:
    """To Anthropic it is forwarded, without `thread`."""
    gateway = world.gateway(models())
    first = await post(gateway, body_of(model))
    second = await post(gateway, next_of(model, first.json["id"], results_of(first.json)))
    assert said(second) == "It is so: get_weather of Paris; local_time of Paris."
    forwarded = second.headers.get("x-canonicall-forwarded")
    assert forwarded == ("true" if model == OWN else None)
    assert "thread" not in world.of(model.split("-")[1]).seen[-1].body
    await gateway.close()


@WAYS
async def test_another_provider_goes_on_after_a_restart(place: str, streamed: bool) -> None:
    world, store = thinking_world(), StoreSettings(path=place)
    chain = (OWN, FOREIGN, "by-gemini-gemini", OWN)
    gateway = world.gateway(models(), store=store)
    first = await post(gateway, body_of(chain[0]))
    last, results = first.json["id"], results_of(first.json)
    questions = [results, user("Who are you?"), user("And why?")]
    for model, question in zip(chain[1:], questions, strict=True):
        await gateway.close()
        gateway = world.gateway(models(), store=store)
        answer = await post(gateway, next_of(model, last, question, stream=streamed))
        reply = said(answer)
        last = _id_of(answer)
    assert reply == "You said: And why?"
    whole = json.dumps(world.of("anthropic").seen[-1].body)
    assert all(text in whole for text in (BOTH, "get_weather of Paris", "Who are you?", "It is so"))
    await gateway.close()


def _id_of(answer: Answer) -> str:
    if answer.body.startswith(b"{"):
        return str(answer.json["id"])
    start = next(line for line in answer.body.splitlines() if b"message_start" in line[6:])
    line = start if start.startswith(b"data: ") else answer.body.splitlines()[1]
    return str(json.loads(line[6:])["message"]["id"])


@WHO
async def test_two_continuations_of_one_reply_are_a_fork(world: World, model: str) -> None:
    gateway = world.gateway(models())
    first = await post(gateway, body_of(model))
    both = await asyncio.gather(
        *(
            post(gateway, next_of(model, first.json["id"], results_of(first.json, text)))
            for text in ("one", "two")
        )
    )
    assert [said(one) for one in both] == ["It is so: one; one.", "It is so: two; two."]
    for answer, text in zip(both, ("one", "two"), strict=True):
        third = await post(gateway, next_of(model, answer.json["id"], user(MORE)))
        assert third.status == 200
        sent = json.dumps(world.of(model.split("-")[1]).seen[-1].body)
        assert f"It is so: {text}; {text}." in sent
        assert sent.count("It is so") == 1
    await gateway.close()


@WHO
async def test_an_unknown_reply_is_not_found(world: World, model: str) -> None:
    """With the error after which the SDK sends the whole conversation."""
    gateway = world.gateway(models())
    answer = await post(gateway, next_of(model, "msg_unknown", user("More?")))
    assert answer.status == 404
    assert details(answer) == {"error_code": "thread_not_found"}
    assert answer.json["error"]["type"] == "not_found_error"
    await gateway.close()


def test_the_sdk_knows_the_errors(client: Any) -> None:
    asked = {"model": OWN, "max_tokens": 100, "messages": [user("More?")]}
    thread = {"type": "continue", "previous_message_id": "msg_unknown"}
    with pytest.raises(anthropic.NotFoundError) as caught:
        client.beta.messages.create(**asked, thread=thread)
    assert type(caught.value).__name__ == "ThreadNotFoundError"


@WHO
async def test_a_thread_belongs_to_the_key_that_made_it(world: World, model: str) -> None:
    keys = {name: KeySettings(hash=hash_of(f"sk-{name}")) for name in ("one", "two")}
    gateway = world.gateway(models(), keys=keys)
    mine, other = ({"authorization": f"Bearer sk-{name}"} for name in keys)
    first = await post(gateway, body_of(model), headers=mine)
    more = next_of(model, first.json["id"], results_of(first.json))
    refused = await post(gateway, more, headers=other)
    unknown = await post(gateway, next_of(model, "msg_x", user("?")), headers=other)
    assert refused.status == unknown.status == 404
    assert (
        refused.json["error"]["message"].replace(first.json["id"], "msg_x")
        == (unknown.json["error"]["message"])
    )
    assert (await post(gateway, more, headers=mine)).status == 200
    await gateway.close()


async def test_a_thread_keeps_its_system_and_tools(world: World) -> None:
    gateway = world.gateway(models())
    first = await post(gateway, body_of(OWN))
    for field, value in (("system", "Be long."), ("tools", [TOOL])):
        body = next_of(OWN, first.json["id"], results_of(first.json), **{field: value})
        answer = await post(gateway, body)
        assert answer.status == 400
        assert f"`{field}`" in answer.json["error"]["message"]
    await gateway.close()


async def test_the_attribution_of_claude_code_is_no_other_system(world: World) -> None:
    gateway = world.gateway(models())

    def lines(number: int) -> dict[str, Any]:
        return {"type": "text", "text": f"x-anthropic-billing-header: cc_version={number};"}

    brief = {"type": "text", "text": "Be brief."}
    first = await post(gateway, body_of(OWN, system=[lines(1), brief]))
    body = next_of(OWN, first.json["id"], results_of(first.json), system=[lines(2)])
    assert (await post(gateway, body)).status == 200
    assert world.of("anthropic").seen[-1].body["system"] == [lines(2), brief]
    await gateway.close()


async def test_marks_for_the_cache_are_those_of_the_new_messages(world: World) -> None:
    gateway = world.gateway(models())
    mark = {"cache_control": {"type": "ephemeral"}}
    last = ""
    for at in range(6):
        words = {"role": "user", "content": [{"type": "text", "text": f"Say {at}.", **mark}]}
        body = next_of(OWN, last, words) if last else body_of(OWN, messages=[words])
        answer = await post(gateway, body)
        assert answer.status == 200, answer.body
        last = answer.json["id"]
    sent = world.of("anthropic").seen[-1].body
    assert json.dumps(sent).count("cache_control") == 1
    assert "cache_control" in sent["messages"][-1]["content"][0]
    await gateway.close()


async def test_only_an_unfinished_reply_is_continued_with_nothing(world: World) -> None:
    gateway = world.gateway(models())
    first = await post(gateway, body_of(OWN, messages=[user("Hello")]))
    answer = await post(gateway, next_of(OWN, first.json["id"]))
    assert answer.status == 400
    assert "at least one message" in answer.json["error"]["message"]
    await gateway.close()


async def test_a_paused_reply_is_continued_with_nothing() -> None:
    replies = [says("I search.", finish="paused"), says("Found.")]
    world = World(lambda provider: Simulator(provider, model=ScriptedModel(replies)))
    gateway = world.gateway(models())
    first = await post(gateway, body_of(OWN, messages=[user("Search")]))
    assert first.json["stop_reason"] == "pause_turn"
    answer = await post(gateway, next_of(OWN, first.json["id"]))
    assert said(answer) == "Found."
    sent = world.of("anthropic").seen[-1].body["messages"]
    assert [one["role"] for one in sent[:2]] == ["user", "assistant"]
    assert "I search." in str(sent[1])
    await gateway.close()


async def test_a_thread_has_so_many_turns_and_bytes(world: World) -> None:
    gateway = world.gateway(models(), store=StoreSettings(max_turns=2, max_bytes=4000))
    first = await post(gateway, body_of(OWN, messages=[user("One")]))
    second = await post(gateway, next_of(OWN, first.json["id"], user("Two")))
    third = await post(gateway, next_of(OWN, second.json["id"], user("Three")))
    assert details(third) == {"error_code": "thread_not_found"}
    large = await post(gateway, next_of(OWN, first.json["id"], user("x" * 4000)))
    assert (large.status, large.json["error"]["type"]) == (413, "request_too_large")
    await gateway.close()


class AtOnce:
    """The answer of a provider, in one piece."""

    def __init__(self, response: Any) -> None:
        self._response = response
        self.status, self.headers = response.status, response.headers

    async def chunks(self) -> Any:
        yield b"".join([chunk async for chunk in self._response.chunks()])

    def close(self) -> None:
        self._response.close()


@pytest.mark.parametrize("at_once", [False, True])
@WHO
async def test_only_the_last_event_waits_for_the_store(
    world: World, model: str, at_once: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    gateway = world.gateway(models())
    if at_once:
        transport = gateway.state.backs.means.transport
        ask_provider = transport.post

        async def in_one_piece(*arguments: Any, **options: Any) -> AtOnce:
            return AtOnce(await ask_provider(*arguments, **options))

        monkeypatch.setattr(transport, "post", in_one_piece)
    order: list[str] = []
    write = gateway.keeping.write

    async def slow(*arguments: Any) -> None:
        order.append("begun")
        await asyncio.sleep(0.01)
        await write(*arguments)
        order.append("written")

    async def look(data: bytes) -> None:
        order.extend(
            name for name in ("text_delta", "message_stop") if f'"{name}"'.encode() in data
        )

    monkeypatch.setattr(gateway.keeping, "write", slow)
    body = body_of(model, messages=[user("Hello")], stream=True)
    assert said(await post(gateway, body, look=look)) == "You said: Hello"
    assert order[-3:] == ["begun", "written", "message_stop"]
    assert "text_delta" in order[:-3]
    await gateway.close()


@WAYS
@WHO
async def test_what_could_not_be_stored_is_no_reply(
    world: World, model: str, streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    gateway = world.gateway(models())

    async def full(*_: Any) -> None:
        raise StoreError("store.db: the disk is full")

    monkeypatch.setattr(gateway.keeping, "write", full)
    answer = await post(gateway, body_of(model, stream=streamed))
    if streamed:
        assert b"event: error" in answer.body
        assert b"message_stop" not in answer.body
    else:
        assert answer.status == 500
    await gateway.close()


@pytest.mark.parametrize("thread", [{}, {"type": "resume"}, "continue", {"type": "continue"}])
async def test_a_thread_that_cannot_be_read_is_refused(world: World, thread: Any) -> None:
    gateway = world.gateway(models())
    answer = await post(gateway, body_of(FOREIGN, thread=thread))
    assert answer.status == 400
    assert answer.json["error"]["message"].startswith("thread")
    await gateway.close()


@WAYS
@pytest.mark.parametrize("model", FAMILIES)
def test_the_tool_runner_compacts_and_finishes(
    client: Any, world: World, model: str, streamed: bool
) -> None:
    runner = client.beta.messages.tool_runner(
        model=model,
        max_tokens=4000,
        system="Be brief.",
        tools=tools(),
        messages=[user(BOTH)],
        betas=["compact-2026-09-04"],
        stream=streamed,
    )
    reasons = []
    for item in runner:
        message = item.get_final_message() if streamed else item
        reasons.append(message.stop_reason)
        if len(reasons) == 1:
            runner.compact_before_next_turn()
    assert reasons == ["tool_use", "compaction", "end_turn"]
    sent = json.dumps(world.of(model.split("-")[1]).seen[-1].body)
    assert "tool_use_id" not in sent
    assert "compaction" in sent or "Summary of the conversation" in sent


@pytest.mark.parametrize("after", [OWN, FOREIGN])
@WHO
async def test_a_summary_takes_the_place_of_the_turns_before_it(
    world: World, model: str, after: str
) -> None:
    """One that Claude signed is text for another model, and one of another model text for Claude."""
    gateway = world.gateway(models())
    first = await post(gateway, body_of(model, messages=[user("LONG AGO")]))
    wish = {"compaction": {"type": "summarize"}}
    sum_up = next_of(model, first.json["id"], user("Sum it up."), **wish)
    second = await post(gateway, sum_up, headers=COMPACTS)
    assert second.json["stop_reason"] == "compaction", second.body
    (block,) = second.json["content"]
    third = await post(gateway, next_of(after, second.json["id"], user("What now?")))
    assert said(third).endswith("What now?")
    sent = world.of(after.split("-")[1]).seen[-1].body
    assert "LONG AGO" not in json.dumps(sent)
    assert json.dumps(block["content"])[1:-1] in json.dumps(sent["messages"])
    assert "Be brief." in json.dumps(sent)
    changes = third.headers["x-canonicall-changes"]
    assert ("summary_as_text=1" in changes) == (model == OWN and after == FOREIGN)
    await gateway.close()


@WHO
async def test_the_form_of_replies_stays_that_of_the_thread(world: World, model: str) -> None:
    gateway = world.gateway(models())
    own = {"output_config": {"effort": "low"}}
    first = await post(gateway, body_of(model, messages=[user("One")], **own))
    for other in ({}, {"output_config": {"effort": "high"}}):
        answer = await post(gateway, next_of(model, first.json["id"], user("Two"), **other))
        assert (answer.status, details(answer)["error_code"]) == (
            400,
            "thread_fingerprint_mismatch",
        )
        assert "`output_config`" in answer.json["error"]["message"]
    same = await post(gateway, next_of(model, first.json["id"], user("Two"), **own))
    assert same.status == 200
    await gateway.close()


async def test_nothing_to_sum_up_is_refused_as_anthropic_does(world: World) -> None:
    gateway = world.gateway(models())
    for model in (OWN, FOREIGN):
        body = body_of(model, compaction={"type": "summarize"}, messages=[])
        answer = await post(gateway, {name: body[name] for name in body if name != "thread"})
        assert answer.status == 400
        assert details(answer) == {"error_code": "compaction_nothing_to_summarize"}
    await gateway.close()


async def test_a_summary_is_made_for_every_upstream(world: World) -> None:
    """The request that the tool runner sends on a fork. Anthropic makes its own where it takes the
    request: without the header of the beta, or with a call that is open, it does not."""
    gateway = world.gateway(models())
    asked = {"compaction": {"type": "summarize"}, "messages": [user("Hello")]}
    call = {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {}}
    opened = [user("Hello"), {"role": "assistant", "content": [call]}]
    for model, more, headers, is_own in (
        (OWN, {}, COMPACTS, True),
        (OWN, {}, {}, False),
        (OWN, {"messages": opened}, COMPACTS, False),
        (FOREIGN, {}, COMPACTS, False),
    ):
        made = await post(gateway, body_of(model, **(asked | more)), headers=headers)
        assert (made.status, made.json["stop_reason"]) == (200, "compaction"), made.body
        (block,) = made.json["content"]
        assert (block["type"], bool(block.get("signature"))) == ("compaction", is_own)
        sent = world.of(model.split("-")[1]).seen[-1].body
        assert sent.get("compaction") == (asked["compaction"] if is_own else None)
    await gateway.close()
