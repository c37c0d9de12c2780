"""Codex with a WebSocket and with its remote compaction, before a model of another family."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from agents.coding_agents import (
    CODEX_SETTINGS,
    CODING_AGENTS,
    COUNTED,
    FILE,
    WORDS,
    Place,
)
from agents.task import no_way_out
from agents.test_coding_agents import Told, started
from canonicall.gateway.compaction import PROMPT
from canonicall.gateway.config import Choice, ModelSettings
from canonicall.reply import Reply
from canonicall.request import Request
from canonicall.testing import Simulator, says, serve
from gateway_support import World

pytestmark = pytest.mark.deep

CODEX = next(one for one in CODING_AGENTS if one.name == "Codex")
# It compacts at the server only if that is called so.
_COMPACTING = CODEX_SETTINGS.replace('name = "canonicall"', 'name = "OpenAI"')
_EARLY = "model_auto_compact_token_limit = 7100\n"


def settings(place: Place, *, socket: bool) -> dict[str, str]:
    text = _EARLY + _COMPACTING.replace("{url}", place.url)
    own = f"{text}supports_websockets = {'true' if socket else 'false'}\n"
    place.write(".codex/config.toml", own)
    return {"CANONICALL_KEY": "any"}


class Summing:
    """Does the task, sums it up when asked, and reads the result from the summary."""

    def __init__(self) -> None:
        self._task = CODEX.model(Place("", Path(), Path()))
        self.summaries = 0

    def __call__(self, request: Request) -> Reply:
        messages = list(request.conversation.messages)
        if messages[-1].text.endswith(PROMPT):
            self.summaries += 1
            told = [one.text for message in messages for one in message.results]
            return says("All was done: " + " ".join(told))
        read = [one.text for one in messages if "All was done: " in one.text]
        return says(read[-1]) if read else self._task(request)


@pytest.mark.parametrize("socket", [False, True])
def test_codex_continues_from_a_summary_of_another_model(tmp_path, socket):
    CODEX.program_path()
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    told, world, model = Told(), World(), Summing()
    world.simulators["anthropic"] = Simulator("anthropic", model=model)
    models = {"*": ModelSettings(choices=(Choice(target=CODEX.back),))}
    with serve(world.gateway(models, watchers=[told])) as server, no_way_out() as proxy:
        place = Place(server.url, home, work)
        agent = replace(CODEX, environment=lambda place: settings(place, socket=socket))
        ended = started(agent, place, proxy)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert (work / FILE).read_text() == f"{WORDS}\n"
    assert model.summaries == 1
    last = ended.stdout.rpartition('"agent_message"')[2]
    assert "All was done: " in last
    assert WORDS in last
    assert COUNTED in last
    assert all(one.status == 200 and one.is_complete for one in told.served)
    # Over the socket, one response is prepared without a model.
    assert len(told.served) == len(world.of("anthropic").seen) + (1 if socket else 0)
