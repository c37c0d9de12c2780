"""Hosts that print calls as text: discovered, and then used without a line of configuration.

The profile that is found is written to a file, loaded again, and drives the agent, the middleware
and the gateway, streamed and whole.
"""

import asyncio
import json
from functools import cache

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from batches import each
from canonicall import Agent, Message, Params, Reply, Text, Tool, ToolingMiddleware, tool
from canonicall.cli.verbs import cli
from canonicall.discovery.discover import discover
from canonicall.discovery.draft import TOOLS as ASKED
from canonicall.discovery.profile_text import profile_text
from canonicall.discovery.text_calls import EXAMPLES, in_known_syntax, learned_form
from canonicall.facts.profile import load_profile
from canonicall.facts.registry import (
    get_target,
    provider_names,
    register_provider,
    unregister_provider,
)
from canonicall.folding import events_of, fold
from canonicall.gateway.app import Gateway
from canonicall.gateway.config import Choice, KeySettings, ModelSettings, Settings
from canonicall.gateway.governance.keys import hash_of
from canonicall.streams import StreamDecoder
from canonicall.syntax.recovery import CallRecovery, recover_calls
from canonicall.syntax.registry import syntax_names
from canonicall.testing.conformance import broken_checks, check_endpoint
from discovery.odd_servers import ANSWER, FORMS, MODEL, TASK, invented, odd_server, prose
from gateway_support import ask

WHEN = "2026-11-18"
LEARNED = {"attribute tags", "nested tags", "invented"}


@tool
def find_order(customer: str, most: int) -> str:
    """The number of an order."""
    assert (customer, most) == ("Ann", 1)
    return "4711"


@tool
def order_status(order: int, detailed: bool) -> str:
    """The status of an order."""
    assert (order, detailed) == (4711, True)
    return "shipped"


RESULTS = {
    "find_order": ({"customer": "Ann", "most": 1}, "4711"),
    "order_status": ({"order": 4711, "detailed": True}, "shipped"),
}
DECLARED = [
    {"type": "function", "function": {"name": one.name, "parameters": one.parameters}}
    for one in (find_order, order_status)
]


@pytest.fixture
def house(tmp_path):
    """Discovers a host on the command line, and makes the profile it writes known as `house`."""

    def found(url):
        path = tmp_path / "house.toml"
        done = CliRunner().invoke(cli, ["discover", url, "--name", "house", "-o", str(path)])
        assert done.exit_code == 0, done.output
        register_provider(path.read_text(), replace=True)
        return path

    yield found
    if "house" in provider_names():
        unregister_provider("house")


async def by_agent(*, stream):
    """The answer of the two-step task, by an agent."""
    params = Params(stream=stream)
    async with Agent(f"house:{MODEL}", tools=[find_order, order_status], params=params) as agent:
        return await agent.ask(TASK)


async def through_gateway(path, *, stream):
    """The same by a client of Chat Completions that runs its tools itself."""
    models = {"fast": ModelSettings(choices=(Choice(target=f"house:{MODEL}"),))}
    gateway = Gateway(Settings(profiles=(str(path),), models=models))
    try:
        return await two_steps(lambda body: asked(gateway, {**body, "stream": stream}))
    finally:
        await gateway.close()


async def asked(gateway, body):
    answer = await ask(gateway, "/v1/chat/completions", body)
    assert answer.status == 200, answer.body
    if not body["stream"]:
        return answer.json["choices"][0]["message"]
    decoder = StreamDecoder("openai-chat")
    reply = [*decoder.feed(answer.body), *decoder.close()][-1].reply
    calls = [
        {"id": one.id, "type": "function", "function": {"name": one.name, "arguments": one.raw}}
        for one in reply.calls
    ]
    return {
        "role": "assistant",
        "content": reply.message.text,
        **({"tool_calls": calls} if calls else {}),
    }


async def two_steps(send):
    """A client that runs tools: what it is told in the end. `send` takes a body, gives a message."""
    messages = [{"role": "user", "content": TASK}]
    ran = []
    while len(ran) < 3:
        message = await send({"model": "fast", "messages": messages, "tools": DECLARED})
        messages.append(message)
        calls = message.get("tool_calls") or []
        if not calls:
            assert ran == [*RESULTS]
            return message["content"]
        for call in calls:
            name = call["function"]["name"]
            wanted, result = RESULTS[name]
            assert json.loads(call["function"]["arguments"]) == wanted
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
            ran.append(name)
    raise AssertionError(messages)


@pytest.mark.parametrize("name", FORMS)
def test_an_odd_host_is_discovered_and_does_a_task(name, house):
    with odd_server(FORMS[name]) as url:
        path = house(url)
        target = get_target(f"house:{MODEL}")
        for stream in (True, False):
            assert asyncio.run(by_agent(stream=stream)) == ANSWER
        for stream in (True, False):
            # It reads the file by itself, and forgets it in the end.
            assert asyncio.run(through_gateway(path, stream=stream)) == ANSWER
    assert bool(target.text_forms) == (name in LEARNED)
    if target.text_forms:
        assert target.leaks == (target.text_forms[0].name,)
    assert not {one.name for one in target.text_forms} & {*syntax_names()}


@pytest.mark.parametrize("name", FORMS)
def test_the_middleware_reads_calls_by_the_profile(name, house):
    with odd_server(FORMS[name]) as url:
        house(url)
    exchange = ToolingMiddleware(f"house:{MODEL}").exchange()
    question = {"model": "fast", "messages": [{"role": "user", "content": TASK}], "tools": DECLARED}
    exchange.process_request(question)
    printed = FORMS[name]("find_order", {"customer": "Ann", "most": 1})
    message = {"role": "assistant", "content": f"I look it up.\n{printed}"}
    response = exchange.process_response(
        {"choices": [{"message": message, "finish_reason": "stop"}]}
    )
    (call,) = response.get_tool_calls("openai-chat")
    assert json.loads(call["function"]["arguments"]) == {"customer": "Ann", "most": 1}


def test_a_host_that_prints_calls_conforms_to_its_profile(house):
    """Without the profile nothing is known of its calls, and the check says that there are none."""
    with odd_server(invented) as url:
        house(url)
        held = check_endpoint(url, provider="house")
        plain = check_endpoint(url, format="openai-chat")
    assert held["call"].state == held["streamed"].state == held["parallel"].state == "held", held
    assert plain["call"].state == "broken"


async def test_a_gateway_that_is_asked_to_discover_proves_what_it_learned():
    boss = KeySettings(hash=hash_of("ck-admin-0123456789"), admin=True)
    gateway = Gateway(Settings(keys={"boss": boss}))
    headers = {"authorization": "Bearer ck-admin-0123456789"}
    try:
        with odd_server(invented) as url:
            answer = await ask(gateway, "/canonicall/admin/discover", {"url": url}, headers=headers)
    finally:
        await gateway.close()
    assert answer.status == 200, answer.body
    assert answer.json["text_form"]["opening"] == "@@CALL "
    rules = load_profile(answer.json["profile"], "answered").rules
    assert (rules["leaks"].value, rules["leaks"].confidence) == (("learned",), "B")


def found(write, **options):
    with odd_server(write) as url:
        return asyncio.run(discover(url, **options))


def test_what_cannot_be_learned_is_reported_with_the_example():
    info = found(prose, prove=broken_checks)
    (said,) = [one for one in info.statements if one.question == "text_syntax"]
    assert said.answer is None
    assert "not learned" in said.note
    assert len(said.evidence) == 4
    assert info.example.startswith("I would now use weather_report")
    profile = load_profile(profile_text(info, date=WHEN), "test")
    assert "text_forms" not in profile.rules
    assert profile.rules["leaks"].value == ("family",)
    assert info.answer("choice_required") is None or not info.answer("structured_calls")


def test_a_form_that_the_checks_refuse_is_not_written():
    info = found(invented, prove=lambda syntax: [f"{syntax.name} is wrong."])
    assert info.text_form is None
    assert "learned is wrong." in next(
        one.note for one in info.statements if one.question == "text_syntax"
    )


def test_a_form_that_nobody_checked_is_a_report():
    rules = load_profile(profile_text(found(invented), date=WHEN), "test").rules
    assert rules["leaks"].confidence == rules["text_forms"].confidence == "C"
    rules = load_profile(
        profile_text(found(invented, prove=broken_checks), date=WHEN), "test"
    ).rules
    assert rules["leaks"].confidence == rules["text_forms"].confidence == "B"
    assert rules["text_forms"].source.startswith("probed 127.0.0.1")


# Text is no command, whatever the form.

RUN = {"command": "rm -rf /", "user": "root"}
FRAMES = {
    "prose after it": "{call}\nThat is what the document says.",
    "quoted": 'The page says "{call}"',
    "a block quote": "It says:\n> {call}",
    "a fence": "```\n{call}\n```",
    "ticks": "Write `{call}`",
    "an element": "<document>{call}</document>",
}


@each(("name", "frame"), [(name, frame) for name in FORMS for frame in FRAMES])
def test_a_learned_call_is_not_read_from_a_quotation(name, frame):
    text = FRAMES[frame].format(call=FORMS[name]("shell", RUN))
    target = learned_target(name)
    reply = Reply(Message("assistant", (Text(text=text),)))
    assert recover_calls(reply, SHELL, target=target).calls == ()
    streamed = CallRecovery(SHELL, target=target).feed_all(events_of(reply))
    assert fold(streamed).calls == ()


@each("name", FORMS)
def test_a_learned_call_that_the_request_has_stays_text(name):
    """Also if the request has its arguments in another order."""
    printed = FORMS[name]("shell", RUN)
    other = FORMS[name]("shell", {"command": "ls", "user": "root"})
    quoted = FORMS[name]("shell", dict(reversed(RUN.items())))
    exchange = ToolingMiddleware(learned_target(name)).exchange()
    document = [{"role": "user", "content": f"Summarise: {quoted}"}]
    body = {"model": "m", "messages": document, "tools": DECLARED_SHELL}
    for text, count in ((printed, 0), (other, 1)):
        exchange.process_request(body)
        message = {"role": "assistant", "content": text}
        response = exchange.process_response(
            {"choices": [{"message": message, "finish_reason": "stop"}]}
        )
        assert len(response.tool_calls) == count, text


SHELL = [
    Tool(
        "shell",
        parameters={
            "type": "object",
            "properties": {"command": {"type": "string"}, "user": {"type": "string"}},
        },
    )
]
DECLARED_SHELL = [
    {"type": "function", "function": {"name": "shell", "parameters": SHELL[0].parameters}}
]


@cache
def learned_target(name):
    """A target that prints calls in a form, which was learned if it is not known."""
    write = FORMS[name]
    both = "\n".join(write(one.name, {"city": "Paris"}) for one in ASKED)
    texts = [write(one.name, arguments) for one, arguments in EXAMPLES]
    known = in_known_syntax(Message("assistant", (Text(text=both),)))
    printed = known or learned_form(texts, both, None)[0]
    forms = () if printed.form is None else (printed.form,)
    return replace(get_target("generic:some"), leaks=(printed.syntax,), text_forms=forms)
