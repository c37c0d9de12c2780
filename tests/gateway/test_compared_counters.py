"""The five counters of tool calling: for the provider that answered, over time, after a restart."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from canonicall.blocks import Text, ToolCall
from canonicall.cli.verbs import cli
from canonicall.facts.registry import get_target
from canonicall.gateway.app import Gateway
from canonicall.gateway.config import (
    Choice,
    ModelSettings,
    RepairSettings,
    Settings,
    StoreSettings,
)
from canonicall.gateway.routing import Switched
from canonicall.gateway.sessions import is_within_turn
from gateway_faults import BACKS, BROKEN, CALLS, FRONTS, Play, Upstream, said, stream_of
from gateway_sockets import until
from gateway_support import World, ask, simulated_providers

GOOD = said(Text(text="I will look."), *CALLS)
WRONG = said(ToolCall(id="call_1", name="no_such_tool", args={}, raw="{}"))


def gateway_before(upstream: Upstream, *chain: str, store: str = "", **options: Any) -> Gateway:
    """A gateway whose model `m` is answered by a chain."""
    first, *others = chain
    settings = Settings(
        providers=simulated_providers(),
        models={"m": ModelSettings(choices=(Choice(target=first),), fallbacks=tuple(others))},
        store=StoreSettings(path=store),
        **options,
    )
    return Gateway(settings, transport=upstream)


def counted(gateway: Gateway, provider: str) -> tuple[int, int]:
    """Calls, and those with invalid arguments."""
    counters = gateway.state.tally.by_provider[provider]
    return counters.tool_calls_total, counters.tool_calls_invalid_args


def compared(*arguments: str) -> dict[str, dict[str, Any]]:
    """What `stats` says, by provider."""
    made = CliRunner().invoke(cli, ["stats", *arguments, "--json"])
    assert made.exit_code == 0, made.output
    return {one["provider"]: one for one in json.loads(made.stdout)["providers"]}


@pytest.mark.parametrize("format", ["openai-chat", "anthropic", "gemini", "openai-responses"])
@pytest.mark.parametrize("reply", [GOOD, WRONG])
async def test_calls_in_forwarded_streams_are_counted(format: str, reply: Any) -> None:
    upstream = Upstream(Play.stream(format, stream_of(reply, format)))
    gateway = gateway_before(upstream, BACKS[format])
    path, body = FRONTS[format].streamed("m")
    answer = await ask(gateway, path, body)
    provider = BACKS[format].partition(":")[0].partition("/")[0]
    found = counted(gateway, provider)
    await gateway.close()
    assert answer.headers["x-canonicall-forwarded"] == "true"
    assert found == ((1, 1) if reply is WRONG else (2, 0))


async def test_calls_in_forwarded_bodies_are_counted() -> None:
    use = {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"city": "Rome"}}
    body = {"id": "msg_1", "type": "message", "role": "assistant", "model": "x", "content": [use]}
    body |= {"stop_reason": "tool_use", "usage": {"input_tokens": 1, "output_tokens": 1}}
    gateway = gateway_before(Upstream(Play.json(json.dumps(body).encode())), BACKS["anthropic"])
    answer = await ask(gateway, *FRONTS["anthropic"].whole("m"))
    found = counted(gateway, "anthropic")
    await gateway.close()
    assert (answer.headers["x-canonicall-forwarded"], found) == ("true", (1, 0))


async def test_calls_are_counted_where_arguments_are_not_looked_at() -> None:
    upstream = Upstream(Play.stream("anthropic", stream_of(WRONG, "anthropic")))
    repair = RepairSettings(arguments="off")
    gateway = gateway_before(upstream, BACKS["anthropic"], repair=repair)
    await ask(gateway, *FRONTS["openai-chat"].streamed("m"))
    found = counted(gateway, "anthropic")
    await gateway.close()
    assert found == (1, 0)


async def test_every_refusal_is_counted_for_who_refused() -> None:
    """Also the one that ends the request, and that of a target with a fallback."""
    refusal = Play.json(b'{"error": {"message": "Something is wrong."}}', 400)
    upstream = Upstream(refusal)
    gateway = gateway_before(upstream, BACKS["gemini"], BACKS["cohere"])
    answer = await ask(gateway, *FRONTS["openai-chat"].whole("m"))
    counts = gateway.state.tally.by_provider
    asked = ["cohere" in url for url in upstream.urls]
    await gateway.close()
    assert answer.status == 400
    assert counts["cohere"].tool_api_400_total == asked.count(True) > 0
    assert counts["gemini"].tool_api_400_total == asked.count(False) > 0


async def test_a_stream_that_another_target_finishes_is_counted_for_that_one() -> None:
    """The first broke off in its text, before any call."""
    begin = stream_of(said(Text(text="I will look at both")), "anthropic").split(b"\n\n")
    cut = [one + b"\n\n" for one in begin if b"stop" not in one]
    upstream = Upstream(
        Play.stream("anthropic", *cut, BROKEN),
        Play.stream("gemini", stream_of(GOOD, "gemini")),
    )
    gateway = gateway_before(upstream, BACKS["anthropic"], BACKS["gemini"])
    await ask(gateway, *FRONTS["openai-chat"].streamed("m"))
    counts = gateway.state.tally.by_provider
    await gateway.close()
    assert counts["gemini"].tool_calls_total == 2
    assert "anthropic" not in counts


async def test_after_a_failover_and_a_restart_stats_name_who_answered(place: str) -> None:
    """In the table of the store, by provider, model and tool."""
    replied = Play.stream("gemini", stream_of(GOOD, "gemini"))
    for _ in range(2):
        gateway = gateway_before(
            Upstream(BROKEN, replied), BACKS["anthropic"], BACKS["gemini"], store=place
        )
        answer = await ask(gateway, *FRONTS["anthropic"].streamed("m"))
        report = await ask(
            gateway, f"/canonicall/reports/{answer.headers['x-canonicall-request-id']}"
        )
        await gateway.close()
        assert answer.headers["x-canonicall-target"].startswith("gemini:")
        assert [one["kind"] for one in report.json["notices"]] == ["switched", "answered"]
    found = await _compared_elsewhere(place)
    assert found["gemini"]["tool_calls_total"] == 4
    assert found["anthropic"]["tool_calls_total"] == 0
    assert found["anthropic"]["tool_calls_invalid_args_rate"] is None


async def _compared_elsewhere(place: str) -> dict[str, dict[str, Any]]:
    """The command has an event loop of its own."""
    given = ("--compare", "anthropic", "gemini", "--since", "7d", "--store", place)
    return await asyncio.to_thread(compared, *given)


async def test_the_store_is_written_while_the_gateway_runs(tmp_path: Path) -> None:
    """Not on the way of the request: a moment later."""
    place = str(tmp_path / "gateway.db")
    upstream = Upstream(Play.stream("gemini", stream_of(GOOD, "gemini")))
    gateway = gateway_before(upstream, BACKS["gemini"], store=place)
    await ask(gateway, *FRONTS["gemini"].streamed("m"))
    assert gateway.state.tally.has_news
    await until(lambda: not gateway.state.tally.has_news)
    found: dict[str, Any] = {}
    async with asyncio.timeout(30):
        # The thread of the store writes it.
        while not found or not found["gemini"]["tool"]:
            found = await asyncio.to_thread(compared, "gemini", "--by", "tool", "--store", place)
    await gateway.close()
    assert (found["gemini"]["tool"], found["gemini"]["tool_calls_total"]) == ("get_weather", 2)


async def test_a_reload_does_not_forget_who_is_down() -> None:
    world = World()
    models = {
        "m": ModelSettings(
            choices=(Choice(target="anthropic:x"),), fallbacks=("openai/openai-chat:y",)
        )
    }
    gateway = world.gateway(models)
    breakers = gateway.state.backs.breakers
    target = gateway.state.routes.find("m").chain("s")[0]
    for _ in range(3):
        breakers.failed(target, "connection", gateway.state.backs.means.elapsed())
    await gateway.reload(gateway.state.settings)
    answer = await ask(gateway, "/v1/messages", {**FRONTS["anthropic"].body, "model": "m"})
    await gateway.close()
    assert answer.headers["x-canonicall-target"].startswith("openai")
    assert "anthropic" not in world.simulators


async def test_a_reload_with_another_address_asks_again() -> None:
    """The operator has put right what was wrong."""
    gateway = World().gateway({"m": ModelSettings(choices=(Choice(target="anthropic:x"),))})
    target = gateway.state.routes.find("m").chain("s")[0]
    for _ in range(3):
        gateway.state.backs.breakers.failed(target, "connection", 0.0)
    settings = gateway.state.settings
    other = replace(settings.providers["anthropic"], base_url="http://anthropic.sim/elsewhere")
    providers = {**settings.providers, "anthropic": other}
    await gateway.reload(replace(settings, providers=providers))
    shown = gateway.state.backs.shown()
    await gateway.close()
    assert shown == []


BUSY = Play.json(b'{"type":"error","error":{"type":"overloaded_error","message":"Busy."}}', 529)


def with_result(front: str) -> tuple[str, dict[str, Any]]:
    """A request in the middle of a turn."""
    path, body = FRONTS[front].whole("m")
    call = {"id": "toolu_1", "name": "get_weather", "input": {"city": "Rome"}}
    made, result = {"type": "tool_use", **call}, {"type": "tool_result", "tool_use_id": "toolu_1"}
    more = [
        {"role": "assistant", "content": [made]},
        {"role": "user", "content": [{**result, "content": "15"}]},
    ]
    return path, {**body, "messages": [*body["messages"], *more]}


@pytest.mark.parametrize("back", ["anthropic", "gemini"])
async def test_a_turn_is_bound_to_its_provider_until_it_fails_for_good(back: str) -> None:
    """In the middle of a turn it is asked again; at its beginning the next one is, at once."""
    found = []
    for path, body in (FRONTS["anthropic"].whole("m"), with_result("anthropic")):
        upstream = Upstream(BUSY)
        gateway = gateway_before(upstream, BACKS[back], BACKS["cohere"])
        backs = gateway.state.backs
        backs.means = replace(backs.means, sleep=lambda _: asyncio.sleep(0))
        await ask(gateway, path, body)
        await gateway.close()
        found.append(sum("cohere" not in url for url in upstream.urls))
    assert found == [1, 3]


@pytest.mark.parametrize(
    ("body", "is_within"),
    [
        ({"messages": [{"role": "tool", "tool_call_id": "c", "content": "15"}]}, True),
        ({"messages": [{"role": "user", "content": "Hello."}]}, False),
        ({"messages": [{"role": "user", "content": [{"type": "tool_result"}]}]}, True),
        ({"input": [{"type": "function_call_output", "call_id": "c", "output": "15"}]}, True),
        ({"input": "Hello."}, False),
        ({"contents": [{"role": "user", "parts": [{"functionResponse": {}}]}]}, True),
        ({"contents": [{"role": "user", "parts": [{"text": "Hello."}]}]}, False),
        ({"messages": [7]}, False),
        ({}, False),
    ],
)
def test_a_request_with_results_is_within_a_turn(body: dict[str, Any], is_within: bool) -> None:
    assert is_within_turn(body) is is_within


def test_a_turn_stays_where_it_is_to_its_end() -> None:
    one, other = get_target("anthropic:x"), get_target("gemini:y")
    switched = Switched()
    switched.took_over("s", other, 0.0)
    later = 10 * 3600.0
    assert switched.first("s", (one, other), later, is_bound=True) == (other, one)
    assert switched.first("s", (one, other), later) == (one, other)
