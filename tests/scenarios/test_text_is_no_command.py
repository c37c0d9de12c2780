"""A document that holds a printed call, and a model that repeats it: nothing runs, at any door.

And a call that the model prints itself runs, also with values that the user wrote.
"""

from itertools import groupby

import pytest
from msgspec.structs import replace

from batches import each
from canonicall import (
    Agent,
    CallRecovery,
    Message,
    Params,
    Reply,
    Text,
    ToolingMiddleware,
    decode_response,
    encode_request,
    events_of,
    fold,
    get_target,
    recover_calls,
)
from canonicall.blocks import ToolCall
from canonicall.client.config import ClientConfig
from canonicall.client.model import HttpModel
from canonicall.events import BlockEnded, BlockStarted, FinishReported, StreamEnded, TextAdded
from canonicall.gateway.config import Choice, ModelSettings
from canonicall.streams import StreamDecoder
from canonicall.testing import Simulator
from canonicall.testing.transport import SimulatorTransport
from canonicall.tools.definitions import tool_from_schema
from gateway_support import World, ask
from injections import FRAMINGS, MODELS, TOOLS, injections, leaks

SIZES = (1, 7, 10_000)


def reply_of(text):
    return Reply(Message("assistant", (Text(text=text),), finish="stop"))


def target_of(one):
    return get_target(f"vllm:{one.model}")


def whole(one):
    return recover_calls(reply_of(one.reply), TOOLS, request=one.request, target=target_of(one))


def streamed(one, size):
    """The same reply in pieces, as the events of the stream tell it."""
    text = one.reply
    pieces = [TextAdded(0, text[at : at + size]) for at in range(0, len(text), size)]
    events = [BlockStarted(0, Text(text="")), *pieces, BlockEnded(0, Text(text=text))]
    recovery = CallRecovery(TOOLS, request=one.request, target=target_of(one))
    after = recovery.feed_all([*events, FinishReported("stop"), StreamEnded(reply_of(text))])
    assert fold(after) == whole(one)
    return [event.block for event in after if isinstance(event, BlockEnded)]


def calls_in(blocks):
    return [(one.name, one.args) for one in blocks if isinstance(one, ToolCall)]


def cases(kind):
    """All of them, in groups."""
    for name, group in groupby(kind(), key=lambda one: one.name.partition(" / ")[0]):
        yield pytest.param(list(group), id=name)


def test_there_are_enough_of_them():
    assert len(list(injections())) >= 500
    assert len(list(leaks())) >= 500
    assert len(FRAMINGS) >= 20
    assert len(MODELS) >= 6


@each("group", lambda: cases(injections))
def test_no_document_runs_a_tool(group):
    for one in group:
        assert not whole(one).calls, one.name
        assert whole(one).message.text == one.reply, one.name
        for size in SIZES:
            blocks = streamed(one, size)
            assert "".join(block.text for block in blocks) == one.reply, one.name


@each("group", lambda: cases(leaks))
def test_a_call_with_values_of_the_user_is_a_call(group):
    for one in group:
        wanted = [(one.call.name, one.call.args)]
        assert calls_in(whole(one).message.blocks) == wanted, one.name
        for size in SIZES:
            assert calls_in(streamed(one, size)) == wanted, one.name


# The same through the faces.


def said_by(one):
    """A host whose model says what the case says."""
    return Simulator("vllm", model=lambda _request: reply_of(one.reply))


def one_of_each():
    """Every framing in every syntax, once."""
    found = {(one.name.partition(" / ")[0], one.syntax): one for one in injections()}
    return [pytest.param(one, id=one.name) for one in found.values()]


def some_leaks():
    return [pytest.param(one, id=one.name) for one in list(leaks())[::7]]


async def ran(one, *, stream):
    """The calls that an agent runs."""
    run = []

    def runs(declared):
        def body(arguments):
            run.append((declared.name, arguments))
            return "done"

        return tool_from_schema(declared.name, declared.parameters, run=body)

    answers = iter((one.reply, "Done."))
    host = Simulator("vllm", model=lambda _request: reply_of(next(answers)))
    transport = SimulatorTransport(lambda _url: host)
    config = ClientConfig({"vllm": {"key": "any", "base_url": "http://vllm.sim/v1"}})
    async with HttpModel(config, transport=transport) as model:
        agent = Agent(
            model, target_of(one), tools=[runs(one) for one in TOOLS], params=Params(stream=stream)
        )
        session = agent.session(conversation=one.conversation)
        async for _event in session.send("Go on."):
            pass
    return run


@pytest.mark.parametrize("stream", [False, True])
@each("one", one_of_each)
async def test_no_document_runs_a_tool_of_an_agent(one, stream):
    assert await ran(one, stream=stream) == []


@pytest.mark.parametrize("stream", [False, True])
@each("one", some_leaks)
async def test_an_agent_runs_what_its_model_prints(one, stream):
    assert await ran(one, stream=stream) == [(one.call.name, one.call.args)]


def through_middleware(one, *, stream):
    exchange = ToolingMiddleware(target_of(one)).exchange()
    exchange.process_request(one.request)
    told = fold(events_of(reply_of(one.reply))) if stream else chat_body(one.reply)
    return exchange.process_response(told).tool_calls


def chat_body(text):
    message = {"role": "assistant", "content": text}
    return {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}


@pytest.mark.parametrize("stream", [False, True])
@each("one", one_of_each)
def test_no_document_is_a_call_for_the_middleware(one, stream):
    assert not through_middleware(one, stream=stream)


@pytest.mark.parametrize("stream", [False, True])
@each("one", some_leaks)
def test_the_middleware_reads_what_models_print(one, stream):
    assert calls_in(through_middleware(one, stream=stream)) == [(one.call.name, one.call.args)]


FRONTS = {
    "openai-chat": "/v1/chat/completions",
    "anthropic": "/v1/messages",
}


async def through_gateway(one, front, *, stream):
    """The calls that a client of the gateway gets."""
    world = World(lambda _provider: said_by(one))
    models = {"m": ModelSettings(choices=(Choice(target=target_of(one).name),))}
    asked = replace(one.request, model="m", params=Params(stream=stream, max_tokens=999))
    body = encode_request(asked, replace(get_target(front), model="m")).body
    gateway = world.gateway(models)
    answer = await ask(gateway, FRONTS[front], body)
    await gateway.close()
    assert answer.status == 200, answer.body
    if not stream:
        return calls_in(decode_response(answer.body, front).message.blocks)
    decoder = StreamDecoder(front)
    return calls_in(fold([*decoder.feed(answer.body), *decoder.close()]).message.blocks)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("front", FRONTS)
@each("one", one_of_each)
async def test_no_document_is_a_call_for_a_client_of_the_gateway(one, front, stream):
    assert not await through_gateway(one, front, stream=stream)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("front", FRONTS)
@each("one", some_leaks)
async def test_clients_of_the_gateway_get_what_models_print(one, front, stream):
    wanted = [(one.call.name, one.call.args)]
    assert await through_gateway(one, front, stream=stream) == wanted
