"""Compaction: the conversation becomes a summary, and any model continues from it."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from canonicall.client.transport import Timeouts
from canonicall.gateway.compaction import PROMPT
from canonicall.gateway.config import Choice, ModelSettings
from canonicall.reply import Reply, Usage
from canonicall.request import Request
from canonicall.testing import Simulator, call, says
from canonicall.testing.exchange import SimResponse
from canonicall.testing.server import serve
from canonicall.testing.transport import SimulatedResponse
from gateway_backs import BOTH, MORE, alias, models, thinking_model
from gateway_support import World, ask
from sdk_fronts import ResponsesConversing, anthropic, openai, responses_said

TOOLS = ResponsesConversing.tools
CHAT, ANTHROPIC, GEMINI = "deepseek/openai-chat", "anthropic/anthropic", "gemini/gemini"
BACKS = [
    CHAT,
    ANTHROPIC,
    GEMINI,
    "cohere/cohere",
    "bedrock/bedrock",
    "mistral/openai-chat",
    "xai/openai-responses",
]
OWNER = "openai/openai-responses"
EVERY = pytest.mark.parametrize("back", BACKS)
RESULTS = ("sunny, 21 degrees", "12:30")


def model(request: Request) -> Reply:
    """Sums up when asked to, with all that it sees of results; else thinks and calls."""
    messages = list(request.conversation.messages)
    said = messages[-1].text
    if said.endswith(PROMPT):
        results = [result.text for message in messages for result in message.results]
        usage = Usage(input_tokens=900, output_tokens=40)
        return says(f"SUMMARY of {len(messages)}: {'; '.join(results)}", usage=usage)
    if said.endswith("What was the weather?"):
        return says("I read: " + " | ".join(message.text for message in messages))
    if said.endswith(MORE):
        return says(call("get_weather", city="Oslo"))
    return thinking_model(request)


@pytest.fixture(scope="module")
def world() -> World:
    return World(lambda provider: Simulator(provider, model=model))


@pytest.fixture(scope="module")
def url(world: World) -> Iterator[str]:
    with serve(world.gateway(models())) as server:
        yield server.url


@pytest.fixture(scope="module")
def client(url: str) -> Iterator[Any]:
    with connected(url) as client:
        yield client.responses


def connected(url: str) -> Any:
    return openai.OpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0)


def tool_task(client: Any, name: str) -> ResponsesConversing:
    """A conversation with two calls and their results."""

    class Client:
        responses = client

    talk = ResponsesConversing(Client(), thinks=False)
    said = talk.ask(name, BOTH)
    talk.answer(name, said, RESULTS)
    return talk


def sent(world: World, back: str) -> dict[str, Any]:
    """The last body that a provider got."""
    last = world.of(back.partition("/")[0]).seen[-1]
    assert last.status == 200, last
    return last.body


@EVERY
def test_the_model_sums_up_and_another_provider_continues(
    world: World, client: Any, back: str
) -> None:
    talk = tool_task(client, alias(back))
    compacted = client.compact(model=alias(back), input=talk.history, instructions="Be brief.")
    assert compacted.object == "response.compaction"
    assert compacted.usage.input_tokens == 900
    assert compacted.usage.output_tokens == 40
    *kept, item = compacted.output
    assert [one.content[0].text for one in kept] == [BOTH]
    assert item.type == "compaction"
    assert "SUMMARY" not in item.encrypted_content
    window = [one.to_dict(warnings=False) for one in compacted.output]
    for other in (CHAT, ANTHROPIC, GEMINI, OWNER):
        asked = [*window, {"role": "user", "content": "What was the weather?"}]
        response = client.create(model=alias(other), input=asked, tools=TOOLS, store=False)
        assert "SUMMARY of" in response.output_text
        assert RESULTS[0] in response.output_text
        assert BOTH in response.output_text
        assert item.encrypted_content not in json.dumps(sent(world, other))


@pytest.mark.parametrize("back", [CHAT, ANTHROPIC, GEMINI])
def test_calls_without_a_result_are_closed_for_the_summary(
    world: World, client: Any, back: str
) -> None:
    first = client.create(model=alias(back), input=BOTH, tools=TOOLS)
    history = [{"role": "user", "content": BOTH}, *(one.to_dict() for one in first.output)]
    raw = client.with_raw_response.compact(model=alias(back), input=history)
    assert raw.headers["x-canonicall-changes"] != "none"
    window = [one.to_dict(warnings=False) for one in raw.parse().output]
    late = [
        {"type": "function_call_output", "call_id": one.call_id, "output": "late"}
        for one in first.output
        if one.type == "function_call"
    ]
    more = [*window, *late, {"role": "user", "content": "What was the weather?"}]
    response = client.create(model=alias(back), input=more, tools=TOOLS)
    assert "SUMMARY of" in response.output_text


def test_a_window_is_compacted_again(client: Any) -> None:
    talk = tool_task(client, alias(CHAT))
    first = client.compact(model=alias(CHAT), input=talk.history)
    window = [one.to_dict(warnings=False) for one in first.output]
    more = {"role": "user", "content": "More?"}
    rule = {"role": "developer", "content": "Be kind."}
    second = client.compact(model=alias(GEMINI), input=[*window, rule, more])
    kinds = [getattr(one, "role", one.type) for one in second.output]
    assert kinds == ["user", "developer", "user", "compaction"]
    asked = [one.to_dict(warnings=False) for one in second.output]
    question = {"role": "user", "content": "What was the weather?"}
    said = client.create(model=alias(ANTHROPIC), input=[*asked, question]).output_text
    assert said.count("SUMMARY of") == 1


def test_what_was_stored_before_is_summed_up(client: Any) -> None:
    first = client.create(model=alias(CHAT), input=BOTH, tools=TOOLS)
    outputs = [
        {"type": "function_call_output", "call_id": id, "output": result}
        for (id, _, _), result in zip(responses_said(first).calls, RESULTS, strict=True)
    ]
    second = client.create(
        model=alias(CHAT), input=outputs, previous_response_id=first.id, tools=TOOLS
    )
    compacted = client.compact(model=alias(ANTHROPIC), previous_response_id=second.id)
    assert [one.content[0].text for one in compacted.output[:-1]] == [BOTH]
    asked = {"role": "user", "content": "What was the weather?"}
    window = [one.to_dict(warnings=False) for one in compacted.output]
    third = client.create(model=alias(GEMINI), input=[*window, asked])
    assert RESULTS[0] in third.output_text
    # The window is stored with the response, and opened for whoever continues it.
    fourth = client.create(
        model=alias(CHAT), input="What was the weather?", previous_response_id=third.id
    )
    assert "SUMMARY of" in fourth.output_text


def test_the_text_of_a_summary_is_counted(client: Any) -> None:
    talk = tool_task(client, alias(CHAT))
    item = client.compact(model=alias(CHAT), input=talk.history).output[-1].to_dict()
    empty = {**item, "encrypted_content": "gAAAAABforeign"}
    question = {"role": "user", "content": "What was the weather?"}
    counts = [
        client.input_tokens.count(model=alias(CHAT), input=[one, question]).input_tokens
        for one in (item, empty)
    ]
    assert counts[0] > counts[1] + 10


def test_an_unknown_response_is_not_summed_up(client: Any) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        client.compact(model=alias(CHAT), previous_response_id="resp_unknown")
    assert caught.value.code == "previous_response_not_found"


def test_a_damaged_summary_is_refused(client: Any) -> None:
    compacted = client.compact(model=alias(CHAT), input=BOTH)
    item = compacted.output[-1].to_dict()
    damaged = {**item, "encrypted_content": item["encrypted_content"][:-9] + "AAAAAAAAA"}
    for ask_again in (client.create, client.compact):
        with pytest.raises(openai.BadRequestError, match="could not be verified") as caught:
            ask_again(model=alias(CHAT), input=[damaged, {"role": "user", "content": "More?"}])
        assert caught.value.code == "invalid_encrypted_content"
        assert caught.value.param == "input[0]"


def test_a_summary_of_another_issuer_is_left_out_and_reported(client: Any) -> None:
    foreign = {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAAAABforeign"}
    asked = [foreign, {"role": "user", "content": "And now?"}]
    raw = client.with_raw_response.create(model=alias(ANTHROPIC), input=asked)
    assert "block_dropped=1" in raw.headers["x-canonicall-changes"]


def test_nothing_to_sum_up_is_refused(client: Any) -> None:
    with pytest.raises(openai.BadRequestError, match="no message was sent"):
        client.compact(model=alias(CHAT), input=[])


@pytest.mark.parametrize("said", [says(""), says(call("get_weather", city="Paris"))])
async def test_a_model_that_writes_no_summary_is_an_error(said: Reply) -> None:
    world = World(lambda provider: Simulator(provider, model=lambda request: said))
    body = {"model": "anthropic:claude-sonnet-4-5", "input": BOTH}
    answer = await ask(world.gateway(), "/v1/responses/compact", body)
    assert answer.status == 502
    assert "wrote no summary" in answer.json["error"]["message"]


OWN = {
    "id": "resp_own",
    "object": "response.compaction",
    "created_at": 5,
    "output": [{"type": "compaction", "id": "cmp_own", "encrypted_content": "gAAAAABown"}],
    "usage": {"input_tokens": 7, "output_tokens": 2, "total_tokens": 9},
}


class Compacting:
    """A transport to simulated providers, of which OpenAI compacts as it does itself."""

    def __init__(self, world: World, status: int = 200) -> None:
        self._inner = world.transport
        self._status = status
        self.asked: list[tuple[str, bytes]] = []

    async def post(
        self, url: str, headers: Any, body: bytes, timeouts: Timeouts, *, proxy: str = ""
    ) -> SimulatedResponse:
        if not url.endswith("/compact"):
            return await self._inner.post(url, headers, body, timeouts, proxy=proxy)
        self.asked.append((url, body))
        said = OWN if self._status == 200 else {"error": {"message": "No.", "type": "some"}}
        return SimulatedResponse(SimResponse.json(self._status, said), url)

    async def close(self) -> None:
        """Nothing is open."""


async def test_the_owner_of_the_format_compacts_itself(world: World) -> None:
    transport = Compacting(world)
    gateway = world.gateway(models(), transport=transport)
    data = json.dumps({"input": BOTH, "model": alias(OWNER)}).encode()
    answer = await ask(gateway, "/v1/responses/compact", data)
    assert answer.json == OWN
    assert answer.headers["x-canonicall-forwarded"] == "true"
    ((url, body),) = transport.asked
    assert url == "http://openai.sim/v1/responses/compact"
    assert json.loads(body)["input"] == BOTH
    report = await ask(gateway, f"/canonicall/reports/{answer.headers['x-canonicall-request-id']}")
    assert report.json["forwarded"] is True
    # It is no response that could be continued.
    assert (await ask(gateway, "/v1/responses/resp_own")).status == 404


async def test_an_owner_that_is_down_is_replaced(world: World) -> None:
    transport = Compacting(world, 503)
    chain = ModelSettings(
        choices=(Choice(target="openai/openai-responses:gpt-5.2"),),
        fallbacks=("anthropic:claude-sonnet-4-5",),
    )
    gateway = world.gateway({"m": chain}, transport=transport)
    answer = await ask(gateway, "/v1/responses/compact", {"model": "m", "input": BOTH})
    assert answer.status == 200, answer.body
    assert answer.headers["x-canonicall-target"] == "anthropic:claude-sonnet-4-5"
    assert len(transport.asked) == 1


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("back", [CHAT, ANTHROPIC, GEMINI])
def test_a_trigger_gets_nothing_but_a_compaction_item(
    world: World, client: Any, back: str, streamed: bool
) -> None:
    """What Codex sends (remote compaction, version 2)."""
    talk = tool_task(client, alias(back))
    asked = {
        "model": alias(back),
        "input": [*talk.history, {"type": "compaction_trigger"}],
        "tools": TOOLS,
    }
    if streamed:
        with client.stream(**asked) as stream:
            events = list(stream)
            response = stream.get_final_response()
        done = [one.item for one in events if one.type == "response.output_item.done"]
        assert [one.type for one in done] == ["compaction"]
        assert done[0].encrypted_content == response.output[0].encrypted_content
    else:
        raw = client.with_raw_response.create(**asked)
        assert "block_dropped" not in raw.headers["x-canonicall-changes"]
        response = raw.parse()
    assert [one.type for one in response.output] == ["compaction"]
    assert response.status == "completed"
    more = client.create(
        model=alias(CHAT), input="What was the weather?", previous_response_id=response.id
    )
    assert more.output_text.count(BOTH) == 1
    assert "SUMMARY of" in more.output_text
    # The summary takes the place of what it sums up.
    assert {one["role"] for one in sent(world, CHAT)["messages"]} == {"user"}


TRIGGERED = {
    "model": "m",
    "input": [{"role": "user", "content": BOTH}, {"type": "compaction_trigger"}],
}


async def test_a_trigger_is_forwarded_to_the_owner_of_the_format(world: World) -> None:
    gateway = world.gateway(models())
    answer = await ask(gateway, "/v1/responses", {**TRIGGERED, "model": alias(OWNER)})
    assert answer.headers["x-canonicall-forwarded"] == "true"
    assert sent(world, OWNER)["input"] == TRIGGERED["input"]


async def test_a_trigger_is_served_by_whoever_replaces_the_owner(world: World) -> None:
    down = Simulator("openai", faults=["overloaded"] * 9)
    chain = ModelSettings(
        choices=(Choice(target="openai/openai-responses:gpt-5.2"),),
        fallbacks=("anthropic:claude-sonnet-4-5",),
    )
    own = World(lambda provider: down if provider == "openai" else world.of(provider))
    answer = await ask(own.gateway({"m": chain}), "/v1/responses", TRIGGERED)
    assert answer.status == 200, answer.body
    assert [one["type"] for one in answer.json["output"]] == ["compaction"]


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("back", [CHAT, GEMINI])
def test_a_message_that_asks_for_compaction_is_a_compaction_block(
    world: World, url: str, back: str, streamed: bool
) -> None:
    client = anthropic.Anthropic(base_url=url, api_key="any", max_retries=0)
    history = [
        {"role": "user", "content": "How is it in Rome?"},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "toolu_1", "name": "w", "input": {}}],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "mild"}],
        },
    ]
    asked: dict[str, Any] = {
        "model": alias(back),
        "max_tokens": 1000,
        "messages": history,
        "tools": [{"name": "w", "input_schema": {"type": "object"}}],
        "compaction": {"type": "summarize"},
    }
    if streamed:
        with client.beta.messages.stream(**asked) as stream:
            message = stream.get_final_message()
    else:
        message = client.beta.messages.create(**asked)
    assert message.stop_reason == "compaction"
    (block,) = message.content
    assert block.type == "compaction"
    assert block.content is not None
    assert "mild" in block.content
    kept = message.model_dump(exclude_none=True)["content"]
    for other in (ANTHROPIC, CHAT):
        reply = client.beta.messages.create(
            model=alias(other),
            max_tokens=1000,
            messages=[
                {"role": "assistant", "content": kept},
                {"role": "user", "content": "What was the weather?"},
            ],
        )
        said = "".join(one.text for one in reply.content if one.type == "text")
        assert "mild" in said
        assert {one["role"] for one in sent(world, other)["messages"]} == {"user"}
        assert kept[0]["encrypted_content"] not in json.dumps(sent(world, other))
    client.close()


def test_instructions_for_a_summary_replace_those_of_the_gateway(world: World, url: str) -> None:
    client = anthropic.Anthropic(base_url=url, api_key="any", max_retries=0)
    message = client.beta.messages.create(
        model=alias(CHAT),
        max_tokens=1000,
        messages=[{"role": "user", "content": "How is it in Rome?"}],
        compaction={"type": "summarize", "instructions": "Only the names of cities."},
    )
    assert message.stop_reason == "compaction"
    asked = sent(world, CHAT)["messages"][-1]["content"]
    assert "Only the names of cities." in json.dumps(asked)
    assert PROMPT not in json.dumps(asked)
    client.close()


def test_tools_are_declared_and_none_may_be_called(world: World, client: Any) -> None:
    talk = tool_task(client, alias(CHAT))
    more = {"tools": TOOLS, "tool_choice": "required", "text": {"format": {"type": "json_object"}}}
    client.compact(model=alias(CHAT), input=talk.history, extra_body=more)
    body = sent(world, CHAT)
    assert [one["function"]["name"] for one in body["tools"]] == ["get_weather", "local_time"]
    assert body["tool_choice"] == "none"
    assert "response_format" not in body


@EVERY
def test_a_tool_task_goes_on_after_a_restart_with_another_provider_and_a_fork(
    world: World, back: str
) -> None:
    windows = {}
    with serve(world.gateway(models())) as server, connected(server.url) as client:
        for streamed in (False, True):
            talk = ResponsesConversing(client, streamed=streamed, thinks=False)
            talk.answer(alias(back), talk.ask(alias(back), BOTH), RESULTS)
            compacted = client.responses.compact(model=alias(back), input=talk.history)
            windows[streamed] = [one.to_dict(warnings=False) for one in compacted.output]
    with serve(world.gateway(models())) as server, connected(server.url) as client:
        for streamed, window in windows.items():
            for other in (BACKS[BACKS.index(back) - 1], back):
                talk = ResponsesConversing(client, streamed=streamed, thinks=False)
                talk.history = list(window)
                said = talk.ask(alias(other), MORE)
                assert [args for _, _, args in said.calls] == [{"city": "Oslo"}]
                assert "snow" in talk.answer(alias(other), said, ["snow"]).text
                assert RESULTS[0] in talk.ask(alias(other), "What was the weather?").text
