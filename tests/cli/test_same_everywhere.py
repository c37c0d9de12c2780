"""One scenario through every way to run it: the same conversation, the same figures."""

import asyncio
import json
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from canonicall.cli.tool_choice import choose_tools
from canonicall.conversation import Conversation
from canonicall.decisions import CallDecided
from canonicall.persisted import dump
from canonicall.runtime.agent import Agent
from canonicall.runtime.model import LocalModel
from canonicall.runtime.session import Session
from canonicall.testing.script import ScriptedModel, call, says
from canonicall.testing.script_files import read_script
from cli.talks import SCENARIO, outcomes, stored, write_script, write_tools
from cli.terminal import Terminal

TEXT = "Go."


class Watched(Agent):
    """An agent whose sessions can be looked at afterwards."""

    def session(self, **options):
        self.last = super().session(**options)
        return self.last


def allow(call):
    return True


def written(conversation, *, by):
    """What is stored, but for who decided: that is on record, and is somebody else each time."""
    decided = [one for one in conversation.entries if isinstance(one, CallDecided)]
    assert [one.by for one in decided] == [by]
    return dump(
        Conversation.of(
            replace(one, by="") if isinstance(one, CallDecided) else one
            for one in conversation.entries
        )
    )


def figures(stats):
    """What must not depend on the way: everything but time."""
    told = json.loads(msgspec.json.encode(stats))
    for one in (*told["providers"].values(), *told["tools"].values()):
        one["latency"] = one["latency"]["count"]
    return told


@pytest.fixture(scope="module")
def scenario(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scenario")
    return folder, write_script(folder, *SCENARIO), write_tools(folder)


@pytest.fixture(scope="module")
def replies(scenario):
    return read_script(Path(scenario[1]).read_bytes())


@pytest.fixture(scope="module")
def expected(scenario, replies):
    """The library itself: a session and nothing else."""
    *_, tools = scenario

    async def main():
        model = LocalModel(ScriptedModel(replies))
        session = Session(model, "openai", choose_tools(tools), approve=allow)
        async for _ in session.send(TEXT):
            pass
        await session.close()
        return session

    session = asyncio.run(main())
    assert outcomes(session.conversation) == [
        ("weather", "completed"),
        ("weather", "invalid"),
        ("pay", "completed"),
        ("pray", "invalid"),
    ]
    return written(session.conversation, by="approve"), figures(session.stats)


def options(scenario, id, *more):
    folder, script, tools = scenario
    return [
        *("--script", script, "--tools", tools, "--model", "openai"),
        *("--session", id, "--store", str(folder / "sessions.db"), *more),
    ]


def told(scenario, id, stdout):
    """What was stored, and the figures in the last line."""
    stats = json.loads(stdout.splitlines()[-1])["stats"]
    conversation = stored(scenario[0] / "sessions.db", id)
    return written(conversation, by="command line"), figures(stats)


def test_run(scenario, expected, canonicall):
    done = canonicall("run", *options(scenario, "run", "--yes", "--json", "--stats"), TEXT)
    assert told(scenario, "run", done.stdout) == expected


def test_chat_from_a_pipe(scenario, expected, canonicall):
    arguments = options(scenario, "pipe", "--yes", "--json")
    done = canonicall("chat", *arguments, input=f"{TEXT}\n/stats\n")
    assert told(scenario, "pipe", done.stdout) == expected


def test_chat_in_a_terminal(scenario, expected):
    """A person says yes."""
    one = Terminal("chat", *options(scenario, "tty"), env={"PROMPT_TOOLKIT_NO_CPR": "1"})
    try:
        one.answer(TEXT)
        one.answer("y")
        one.answer("/quit")
        assert one.end()[0] == 0
    finally:
        one.close()
    conversation = stored(scenario[0] / "sessions.db", "tty")
    assert written(conversation, by="user") == expected[0]


async def test_a_sub_agent(scenario, expected, replies):
    """As a tool of another agent, which hears its answer and nothing else."""
    *_, tools = scenario
    inner = Watched(
        LocalModel(ScriptedModel(replies)),
        "openai",
        tools=[choose_tools(tools)],
        approve=allow,
    )
    outer = Agent(
        LocalModel(ScriptedModel([says(call("helper", task=TEXT)), "It is done."])),
        "anthropic",
        tools=[inner.as_tool("helper", "Does things.")],
    )
    session = outer.session()
    async for _ in session.send("Let it be done."):
        pass
    await session.close()
    (one,) = session.conversation.ledger.values()
    assert one.result.text == SCENARIO[-1]
    told_below = written(inner.last.conversation, by="approve")
    assert (told_below, figures(inner.last.stats)) == expected
