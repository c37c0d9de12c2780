"""One call has one id in the middleware: what the provider gave, what clients are shown, what comes
back from them and what the provider is sent again name the same call, in every format."""

import asyncio
from itertools import permutations
from typing import Any

import pytest

from canonicall import (
    Conversation,
    Message,
    Reply,
    Request,
    Tool,
    ToolCall,
    ToolingMiddleware,
    decode_request,
    encode_request,
    encode_response,
    get_target,
    verify,
)
from canonicall.facts.target import FORMATS

WEATHER = Tool("get_weather", "Weather.", {"type": "object", "properties": {}})
GIVEN = {
    "openai:gpt-4o": ("call_1", "call_2"),
    "openai-responses:gpt-5": ("call_1", "call_2"),
    "anthropic:claude-sonnet-4-5": ("toolu_1", "toolu_2"),
    "gemini:gemini-2.5-pro": ("one", "two"),
    "bedrock:anthropic.claude-sonnet-4-5-20250929-v1:0": ("tooluse_1", "tooluse_2"),
    "cohere:command-a-03-2025": ("get_weather_1", "get_weather_2"),
    "ollama:qwen3": ("call_1", "call_2"),
    "kimi:kimi-k2-0905-preview": ("functions.get_weather:0", "functions.get_weather:1"),
    "mistral:mistral-large-latest": ("aB3dE6gH9", "9Hg6Ed3Ba"),
    "generic:some-model": ("chatcmpl-tool-1", "chatcmpl-tool-2"),
}
"""Targets, and the ids that their providers give two calls of one reply."""


def question(format: str, text: str = "Rome and Oslo?") -> dict[str, Any]:
    """What a client asks first, in its own format."""
    chat = Conversation()
    chat.user(text)
    return encode_request(Request(chat, (WEATHER,), model="m"), format).body


def answer(target: str, ids: tuple[str, ...], *, tool: str = "get_weather") -> dict[str, Any]:
    """What the provider answers: calls with these ids."""
    calls = tuple(ToolCall(id=id, name=tool, args={"city": f"of {id}"}) for id in ids)
    return encode_response(Reply(Message("assistant", calls)), get_target(target).format)


def ids_of(calls: list[dict[str, Any]], format: str) -> list[str]:
    """The ids that calls have in a format."""
    if format == "openai-responses":
        return [call["call_id"] for call in calls]
    if format == "gemini":
        return [call["functionCall"]["id"] for call in calls]
    if format == "bedrock":
        return [call["toolUse"]["toolUseId"] for call in calls]
    return [call["id"] for call in calls]


def went_on(
    asked: dict[str, Any], replied: dict[str, Any], results: dict[str, str], format: str
) -> dict[str, Any]:
    """The next request of a client that sends back what it got, and its results by id."""
    said: list[dict[str, Any]]
    if format == "openai-responses":
        answers = [
            {"type": "function_call_output", "call_id": id, "output": text}
            for id, text in results.items()
        ]
        return {**asked, "input": [*asked["input"], *replied["output"], *answers]}
    if format == "gemini":
        parts = [
            {"functionResponse": {"id": id, "name": "get_weather", "response": {"output": text}}}
            for id, text in results.items()
        ]
        content = replied["candidates"][0]["content"]
        return {
            **asked,
            "contents": [*asked["contents"], content, {"role": "user", "parts": parts}],
        }
    if format == "anthropic":
        blocks = [
            {"type": "tool_result", "tool_use_id": id, "content": text}
            for id, text in results.items()
        ]
        said = [{"role": "assistant", "content": replied["content"]}]
        said.append({"role": "user", "content": blocks})
    elif format == "bedrock":
        blocks = [
            {"toolResult": {"toolUseId": id, "content": [{"text": text}]}}
            for id, text in results.items()
        ]
        said = [replied["output"]["message"], {"role": "user", "content": blocks}]
    else:
        message = (
            replied["choices"][0]["message"] if format == "openai-chat" else replied["message"]
        )
        answers = [
            {"role": "tool", "tool_call_id": id, "content": text} for id, text in results.items()
        ]
        said = [message, *answers]
    return {**asked, "messages": [*asked["messages"], *said]}


def told(sent: dict[str, Any], target: str) -> dict[str, str]:
    """What the provider is sent: the text of each result, by the id of its call."""
    ledger = decode_request(sent, get_target(target).format).conversation.ledger
    found = {one.call.raw_id or str(at): one for at, one in enumerate(ledger.values())}
    return {id: one.result.text if one.result else "" for id, one in found.items()}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("target", GIVEN)
def test_all_four_places_name_the_same_call(target: str, format: str) -> None:
    exchange = ToolingMiddleware(target, format=format).exchange()
    exchange.process_request(question(format))
    response = exchange.process_response(answer(target, GIVEN[target]))

    calls = response.get_tool_calls(format)
    ids = ids_of(calls, format)
    body = response.body(format)
    assert len(set(ids)) == 2
    assert [one.id for one in response.reply.calls] == list(GIVEN[target])
    assert [one.raw_id for one in response.tool_calls] == list(GIVEN[target])
    assert all(str(body).count(id) == 1 for id in ids)

    # The results come back the other way round, and each by its own id.
    results = {ids[1]: "snow", ids[0]: "sun"}
    sent = exchange.process_request(went_on(question(format), body, results, format))
    first, second = GIVEN[target]
    assert told(sent.body, target) == {first: "sun", second: "snow"}
    assert not {"orphan_result", "result_made_up", "id_replaced"} & set(sent.report.counts)
    assert not verify(sent.body, target)


@pytest.mark.parametrize("other", ["generic", "anthropic", "openai", "gemini", "bedrock"])
def test_any_spelling_of_an_id_is_understood(other: str) -> None:
    """The message is kept in one form, the result is made with the id of another form."""
    target = "anthropic:claude-sonnet-4-5"
    exchange = ToolingMiddleware(target).exchange()
    asked = question("openai-chat")
    exchange.process_request(asked)
    response = exchange.process_response(answer(target, ("toolu_1",)))
    (call,) = response.get_tool_calls(other)
    ids = ids_of([call], other) if other != "generic" else [call["tool_call_id"]]
    body = went_on(asked, response.body("openai-chat"), {ids[0]: "sun"}, "openai-chat")
    sent = exchange.process_request(body)
    assert told(sent.body, target) == {"toolu_1": "sun"}


def test_the_providers_own_answer_may_be_kept_as_it_came() -> None:
    """The client keeps the raw answer, and answers the calls that it was shown."""
    target = "anthropic:claude-sonnet-4-5"
    exchange = ToolingMiddleware(target, format="anthropic").exchange()
    asked, replied = question("anthropic"), answer(target, ("toolu_1", "toolu_2"))
    exchange.process_request(asked)
    ids = ids_of(exchange.process_response(replied).get_tool_calls("anthropic"), "anthropic")
    results = {ids[0]: "sun", "toolu_2": "snow"}
    sent = exchange.process_request(went_on(asked, replied, results, "anthropic"))
    assert told(sent.body, target) == {"toolu_1": "sun", "toolu_2": "snow"}


@pytest.mark.parametrize("target", ["kimi:kimi-k2-0905-preview", "openai:gpt-4o"])
def test_an_id_that_the_provider_uses_again_is_another_call(target: str) -> None:
    exchange = ToolingMiddleware(target).exchange()
    body = question("openai-chat")
    seen: list[str] = []
    for number in range(3):
        exchange.process_request(body)
        response = exchange.process_response(answer(target, GIVEN[target][:1]))
        (id,) = ids_of(response.get_tool_calls("openai"), "openai-chat")
        seen.append(id)
        body = went_on(body, response.body("openai-chat"), {id: f"text {number}"}, "openai-chat")
    sent = exchange.process_request(body)
    assert len(set(seen)) == 3
    assert list(told(sent.body, target).values()) == ["text 0", "text 1", "text 2"]
    assert GIVEN[target][0] in told(sent.body, target)


def test_an_id_of_the_client_is_not_taken_for_the_providers() -> None:
    """A call from before has the id that the provider now gives another one."""
    target = "openai:gpt-4o"
    asked = question("openai-chat")
    function = {"name": "get_weather", "arguments": "{}"}
    earlier = {"role": "assistant", "tool_calls": [{"id": "call_1", "type": "function", "function": function}]}  # fmt: skip
    asked["messages"] += [earlier, {"role": "tool", "tool_call_id": "call_1", "content": "old"}]
    exchange = ToolingMiddleware(target).exchange()
    exchange.process_request(asked)
    response = exchange.process_response(answer(target, ("call_1",)))
    (id,) = ids_of(response.get_tool_calls("openai"), "openai-chat")
    body = went_on(asked, response.body("openai-chat"), {id: "new"}, "openai-chat")
    assert list(told(exchange.process_request(body).body, target).values()) == ["old", "new"]


ROOMS = {
    "first": "anthropic:claude-sonnet-4-5",
    "second": "openai:gpt-4o",
    "third": "anthropic:claude-sonnet-4-5",
}


@pytest.mark.parametrize("order", list(permutations(ROOMS)))
def test_interleaved_exchanges_do_not_meet(order: tuple[str, ...]) -> None:
    """Conversations over two providers, two of them through one middleware, with tools of their
    own and ids that collide; the answers arrive in any order."""

    async def conversation(name: str) -> None:
        exchange = exchanges[name]
        tool = Tool(f"look_up.{name}", "Looks up.", {"type": "object", "properties": {}})
        chat = Conversation()
        chat.user(f"The {name} question.")
        asked = encode_request(Request(chat, (tool,), model="m"), "openai-chat").body
        asked["tools"][0]["function"]["name"] = tool.name
        sent = exchange.process_request(asked)
        wire_name = next(iter(sent.transcript.names), tool.name)
        started[name].set()
        await turns[name].wait()
        target = ROOMS[name]
        response = exchange.process_response(answer(target, GIVEN[target], tool=wire_name))
        ended[name].set()
        assert [call.name for call in response.tool_calls] == [tool.name] * 2
        ids = ids_of(response.get_tool_calls("openai"), "openai-chat")
        results = {id: f"{name} {at}" for at, id in enumerate(ids)}
        body = went_on(asked, response.body("openai-chat"), results, "openai-chat")
        again = exchange.process_request(body)
        expected = {id: f"{name} {at}" for at, id in enumerate(GIVEN[target])}
        assert told(again.body, target) == expected

    async def all_of_them() -> None:
        tasks = [asyncio.ensure_future(conversation(name)) for name in ROOMS]
        for one in started.values():
            await one.wait()
        for name in order:
            turns[name].set()
            await ended[name].wait()
        await asyncio.gather(*tasks)

    tooling = {target: ToolingMiddleware(target) for target in set(ROOMS.values())}
    exchanges = {name: tooling[target].exchange() for name, target in ROOMS.items()}
    started, turns, ended = ({name: asyncio.Event() for name in ROOMS} for _ in range(3))
    asyncio.run(all_of_them())
