"""The name of a format is a target wherever a target is taken: its own provider, in that format.
The name of a model alone is refused everywhere, with the target that was meant."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner

from canonicall import (
    Agent,
    Conversation,
    HttpModel,
    LocalModel,
    Message,
    Reply,
    Request,
    Session,
    Text,
    Tool,
    ToolingMiddleware,
    UnknownName,
    decode_response,
    encode_request,
    encode_response,
    get_capabilities,
    get_profile,
    get_target,
    provider_names,
    render,
    translate,
    translate_tools,
    verify,
)
from canonicall.cli.verbs import cli
from canonicall.facts.target import FORMATS
from canonicall.testing import ScriptedModel
from gateway_support import World, ask

TOOL = {"type": "function", "function": {"name": "find", "parameters": {"type": "object"}}}
BODY = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "tools": [TOOL]}


def scripted() -> LocalModel:
    return LocalModel(ScriptedModel(["Hi."]))


def asked() -> Request:
    chat = Conversation()
    chat.user("Hi")
    return Request(chat, (Tool("find"),), model="m")


async def switched(name: str) -> Any:
    """A session that changes to another target."""
    session = Session(scripted(), "generic")
    session.use(name)
    async for _ in session.send("Hi"):
        pass
    await session.close()
    return session.machine.target


TAKERS: dict[str, Callable[[str], Any]] = {
    "get_target": get_target,
    "render": lambda name: render(asked().conversation, name).turns,
    "encode_request": lambda name: encode_request(asked(), name).data,
    "translate": lambda name: translate(BODY, "openai-chat", name).data,
    "translate_tools": lambda name: translate_tools([TOOL], "openai-chat", name).tools,
    "verify": lambda name: list(verify(BODY, name)),
    "agent": lambda name: Agent(scripted(), name).target,
    "agent over http": lambda name: Agent(f"{name}:m").target,
    "session": lambda name: Session(scripted(), name).machine.target,
    "client": lambda name: HttpModel(fallbacks=[name]).learned(name),
    "middleware": lambda name: ToolingMiddleware(name).target,
}
"""What takes the name of a target, and what comes of it."""


def own(format: str) -> str:
    """A format as a format of its provider."""
    return f"{get_target(format).provider}/{format}"


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("taker", TAKERS)
async def test_a_format_is_a_target_in_the_library(taker: str, format: str) -> None:
    assert TAKERS[taker](format) == TAKERS[taker](own(format))


@pytest.mark.parametrize("format", FORMATS)
async def test_a_session_can_change_to_a_format(format: str) -> None:
    assert await switched(format) == get_target(own(format))


@pytest.mark.parametrize("format", FORMATS)
def test_the_capabilities_of_a_format_are_those_of_its_provider(format: str) -> None:
    assert get_capabilities(format) == get_capabilities(get_target(format).provider)


VERBS = {
    "check": ("check", "{file}", "--as", "{name}", "--json"),
    "fix": ("fix", "{file}", "--as", "{name}"),
    "convert": ("convert", "{file}", "--to", "{name}"),
    "tools": ("tools", "convert", "{file}", "--to", "{name}"),
    "bench": ("bench", "{file}", "--as", "{name}", "--json"),
    "run": ("run", "Hi", "--model", "{name}:m", "--script", "{script}", "--store", ":memory:"),
}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb != "bench"])
def test_a_format_is_a_target_on_the_command_line(verb: str, format: str, tmp_path: Any) -> None:
    file, script = tmp_path / "body.json", tmp_path / "script.jsonl"
    file.write_text(json.dumps(BODY), "utf-8")
    script.write_text('"Hi."\n', "utf-8")

    def done(name: str) -> tuple[int, str]:
        filled = [one.format(file=file, name=name, script=script) for one in VERBS[verb]]
        shown = CliRunner().invoke(cli, filled)
        return shown.exit_code, shown.stdout.replace(f'"target":"{name}"', '"target":""')

    code, shown = done(format)
    assert code in (0, 3), shown
    assert (code, shown) == done(own(format))


@pytest.mark.parametrize("format", FORMATS)
async def test_a_format_is_a_target_in_the_gateway(format: str) -> None:
    gateway = World().gateway()
    made = [
        (await ask(gateway, "/canonicall/translate", {"body": BODY, "to": name})).json
        for name in (f"{format}:m", f"{own(format)}:m")
    ]
    assert made[0]["format"] == format
    assert made[0] == made[1]
    await gateway.close()


@pytest.mark.parametrize(
    ("model", "target"),
    [("gpt-4o", "openai:gpt-4o"), ("claude-sonnet-4-5", "anthropic:claude-sonnet-4-5")],
)
@pytest.mark.parametrize("taker", TAKERS)
def test_a_model_alone_is_refused_with_the_target_that_was_meant(
    taker: str, model: str, target: str
) -> None:
    with pytest.raises(UnknownName, match=f"Did you mean '{target}"):
        TAKERS[taker](model)


@pytest.mark.parametrize("verb", VERBS)
def test_a_model_alone_is_refused_on_the_command_line(verb: str, tmp_path: Any) -> None:
    file = tmp_path / "body.json"
    file.write_text(json.dumps(BODY), "utf-8")
    filled = [one.format(file=file, name="gpt-4o", script=file) for one in VERBS[verb]]
    done = CliRunner().invoke(cli, filled)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "Did you mean 'openai:gpt-4o" in " ".join(done.stderr.split())


@pytest.mark.parametrize("format", FORMATS)
def test_a_provider_is_the_source_of_a_reply_in_each_of_its_formats(format: str) -> None:
    """Where a provider is called like a format, the format is meant."""
    body = encode_response(Reply(Message("assistant", (Text(text="Hi."),))), format)
    for name in provider_names():
        if format not in get_profile(name).formats or name in FORMATS:
            continue
        reply = decode_response(body, name)
        assert reply.message.text == "Hi."
        assert reply.message.origin is not None
        assert (reply.message.origin.provider, reply.message.origin.format) == (name, format)
