"""A provider does not take the name of a tool: the finding, the command line and the gateway say how it was sent."""

import json
from urllib.parse import unquote

import pytest
from click.testing import CliRunner

from batches import each
from canonicall import Action, Fault, provider_names, translate
from canonicall.cli.verbs import cli
from canonicall.gateway.config import Choice, ModelSettings
from gateway_support import World, ask

NAMES = ["get.weather", "search", "métro", "a" * 70, "x/1", "x.1"]
CALL = {"id": "call_1", "type": "function", "function": {"name": "old tool", "arguments": "{}"}}
SCHEMA = {"type": "object", "properties": {}}
BODY = {
    "model": "fast",
    "max_tokens": 99,
    "messages": [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "call_1", "content": "Done."},
        {"role": "user", "content": "Go on."},
    ],
    "tools": [
        {"type": "function", "function": {"name": name, "parameters": SCHEMA}} for name in NAMES
    ],
}
MODELS = {"fast": ModelSettings(choices=(Choice(target="anthropic:claude-sonnet-4-5"),))}


def sent_as(target="anthropic"):
    """Own name to wire name, for the tools of the body that are renamed."""
    names = translate(BODY, "openai-chat", target).transcript.names
    return {own: wire for wire, own in names.items()}


@each("target", provider_names)
def test_every_renamed_tool_has_one_finding_with_both_names(target):
    report = translate(BODY, "openai-chat", target).report
    told = [one for one in report if one.code == "tool_renamed"]
    assert {(one.action, one.fault) for one in told} <= {(Action.CHANGED, Fault.PROJECTION)}
    places = {name: f"tools[{at}]" for at, name in enumerate(NAMES)}
    places["old tool"] = "entries[1].blocks[0]"
    expected = {(places[own], own, wire) for own, wire in sent_as(target).items()}
    assert len(told) == len(expected)
    for where, own, wire in expected:
        assert any(
            one.where == where and repr(own) in one.why and repr(wire) in one.why for one in told
        )


def test_names_that_are_taken_have_no_finding():
    body = {**BODY, "messages": BODY["messages"][:1], "tools": BODY["tools"][1:2]}
    assert "tool_renamed" not in translate(body, "openai-chat", "anthropic").report


def test_a_tool_that_the_provider_runs_is_not_renamed():
    hosted = {"type": "openrouter:web_search"}
    encoded = translate({**BODY, "tools": [hosted]}, "openai-chat", "openai")
    assert "openrouter:web_search" not in encoded.transcript.names.values()
    assert encoded.report.counts["tool_renamed"] == 1  # that of the history


@each("target", provider_names)
def test_every_name_that_is_told_is_in_the_body(target):
    encoded = translate(BODY, "openai-chat", target)
    sent = json.dumps(encoded.body, ensure_ascii=False)
    for wire, own in encoded.transcript.names.items():
        assert f'"{wire}"' in sent
        assert f'"{own}"' not in sent


@pytest.mark.parametrize(
    "command", [["fix", "--as"], ["check", "--as"], ["convert", "--to"]], ids=lambda one: one[0]
)
def test_the_command_line_lists_them(command, tmp_path):
    file = tmp_path / "request.json"
    file.write_text(json.dumps(BODY))
    verb, option = command
    done = CliRunner(env={"COLUMNS": "200"}).invoke(cli, [verb, str(file), option, "anthropic"])
    shown = (done.stdout if verb == "check" else done.stderr).replace("\n", " ")
    for own, wire in sent_as().items():
        assert own in shown
        assert wire in shown


@pytest.mark.parametrize("command", [["fix", "--as"], ["convert", "--to"]], ids=lambda one: one[0])
def test_programs_get_them_as_json(command, tmp_path):
    file = tmp_path / "log.jsonl"
    file.write_text(f"{json.dumps(BODY)}\n" * 2)
    verb, option = command
    done = CliRunner().invoke(cli, [verb, str(file), option, "anthropic", "--json"])
    record = json.loads(done.stderr.splitlines()[-1])
    assert record["renamed_tools"] == sent_as()


async def test_the_gateway_names_them_in_a_header_and_in_the_report():
    world = World()
    gateway = world.gateway(MODELS)
    answer = await ask(gateway, "/v1/chat/completions", BODY)
    assert f"tool_renamed={len(sent_as())}" in answer.headers["x-canonicall-changes"]
    pairs = (one.split("=") for one in answer.headers["x-canonicall-renamed-tools"].split(", "))
    assert {unquote(own): unquote(wire) for own, wire in pairs} == sent_as()
    report = await ask(gateway, f"/canonicall/reports/{answer.headers['x-canonicall-request-id']}")
    assert report.json["names"] == {wire: own for own, wire in sent_as().items()}
    await gateway.close()


async def test_the_header_has_an_end_and_is_left_out_where_nothing_was_renamed():
    gateway = World().gateway(MODELS)
    many = [{"type": "function", "function": {"name": f"ü{n}" * 9}} for n in range(100)]
    answer = await ask(gateway, "/v1/chat/completions", {**BODY, "tools": many})
    header = answer.headers["x-canonicall-renamed-tools"]
    assert len(header) < 2100
    assert header.endswith(", ...")
    assert header.isascii()
    plain = {**BODY, "messages": BODY["messages"][:1], "tools": BODY["tools"][1:2]}
    answer = await ask(gateway, "/v1/chat/completions", plain)
    assert "x-canonicall-renamed-tools" not in answer.headers
    await gateway.close()
