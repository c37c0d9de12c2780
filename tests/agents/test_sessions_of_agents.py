"""Real coding agents: the sessions they store are read, and those that were repaired go on."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec import Struct
from msgspec.structs import replace

from agents.coding_agents import CODING_AGENTS, WORDS, Place
from agents.task import no_way_out
from agents.test_coding_agents import started
from canonicall import load, read_document
from canonicall.cli.verbs import cli
from canonicall.facts.registry import get_target
from canonicall.gateway.config import Choice, ModelSettings
from canonicall.testing import Simulator, says, serve
from gateway_support import World

pytestmark = pytest.mark.deep

GO_ON = "Go on."


class Kept(Struct, frozen=True):
    """Where an agent keeps its session, how it dies in the middle, and how it goes on."""

    agent: str
    files: str
    died: Callable[[list[str]], list[str]]
    """The lines that are there when it dies while its last tools run."""
    resumed: Callable[[Path], tuple[str, ...]]


def _behind(mark: str) -> Callable[[list[str]], list[str]]:
    """Cut behind the last line with this in it."""
    return lambda lines: lines[: max(at for at, line in enumerate(lines) if mark in line) + 1]


def _without_results(lines: list[str]) -> list[str]:
    """Gemini CLI writes calls and results in one line."""
    *before, last = _behind('"toolCalls"')(lines)
    message = json.loads(last)
    for call in message["toolCalls"]:
        del call["result"]
    return [*before, json.dumps(message)]


KEPT = (
    Kept(
        "Claude Code",
        ".claude/projects/*/*.jsonl",
        _behind('"type":"tool_use"'),
        lambda file: ("-p", GO_ON, "--resume", file.stem, "--output-format", "json"),
    ),
    Kept(
        "Codex",
        ".codex/sessions/*/*/*/*.jsonl",
        _behind('"type":"function_call",'),
        lambda file: (
            *("exec", "resume", "--json", "--skip-git-repo-check", "--model", "gpt-5.5"),
            *(file.stem[-36:], GO_ON),
        ),
    ),
    Kept(
        "Gemini CLI",
        ".gemini/tmp/*/chats/*.jsonl",
        _without_results,
        lambda _: (
            *("--resume", "latest", "--prompt", GO_ON, "--yolo", "--skip-trust"),
            *("--output-format", "json", "--model", "gemini-2.5-pro"),
        ),
    ),
)


class Desk:
    """An agent at work, with one home for all of its runs."""

    def __init__(self, name: str, folder: Path) -> None:
        (self.agent,) = [one for one in CODING_AGENTS if one.name == name]
        self.agent.program_path()
        self.home, self._work = folder / "home", folder / "work"
        self.home.mkdir()
        self._work.mkdir()

    def work(self, arguments=(), model=None):
        """What the model was asked, by a run that ended well."""
        world = World()
        choice = ModelSettings(choices=(Choice(target=self.agent.back),))
        with serve(world.gateway({"*": choice})) as server, no_way_out() as proxy:
            place = Place(server.url, self.home, self._work)
            name = get_target(self.agent.back).provider
            back = Simulator(name, model=model or self.agent.model(place))
            world.simulators[name] = back
            agent = replace(self.agent, arguments=arguments or self.agent.arguments)
            ended = started(agent, place, proxy)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        assert {one.status for one in back.seen} == {200}
        return [str(one.body) for one in back.seen]


@pytest.mark.parametrize("kept", KEPT, ids=lambda kept: kept.agent)
def test_a_session_is_read_repaired_and_goes_on(kept, tmp_path):
    desk = Desk(kept.agent, tmp_path)
    desk.work()
    (file,) = desk.home.glob(kept.files)
    conversation = read_document(file.read_bytes()).request.conversation
    assert (len(conversation.ledger), conversation.ledger.open) == (3, ())
    assert WORDS in [message.text for message in conversation.messages][-1]

    file.write_text("".join(f"{line}\n" for line in kept.died(file.read_text().splitlines())))
    assert read_document(file.read_bytes()).request.conversation.ledger.open
    options = ["--as", "openai", "--in-place", "--write-session"]
    assert CliRunner().invoke(cli, ["fix", str(file), *options]).exit_code == 0
    *_, asked = desk.work(kept.resumed(file), lambda _: says("Fine."))
    assert "The tool may have run." in asked
    assert GO_ON in asked


def test_the_database_of_opencode_is_read(tmp_path):
    desk = Desk("opencode", tmp_path)
    desk.work()
    database = desk.home / ".local" / "share" / "opencode" / "opencode.db"
    (row,) = map(json.loads, _imported(database, "--json").splitlines())
    assert (row["calls"], row["open_calls"]) == (3, 0)
    stored = load(_imported(database, "--session", row["session"]).encode()).conversation
    assert WORDS in [message.text for message in stored.messages][-1]


def _imported(*arguments):
    done = CliRunner().invoke(cli, ["import", *map(str, arguments)])
    assert done.exit_code == 0
    return done.stdout
