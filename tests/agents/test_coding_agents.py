"""Real coding agents, unmodified, work through the gateway before a model of another family."""

import os
import subprocess

import pytest

from agents.coding_agents import CODING_AGENTS, FILE, WORDS, CodingAgent, Place
from agents.task import NoWayOut, no_way_out
from canonicall.codec import decode_request
from canonicall.facts.registry import get_target
from canonicall.gateway.config import Choice, ModelSettings
from canonicall.gateway.served import Begun, Served
from canonicall.testing import Simulator, serve
from gateway_support import World

pytestmark = pytest.mark.deep

_GIVE_UP = 300


class Told:
    """What the gateway told of its requests."""

    def __init__(self) -> None:
        self.served: list[Served] = []

    def begun(self, begun: Begun) -> None:
        pass

    def ended(self, served: Served) -> None:
        self.served.append(served)


def started(agent: CodingAgent, place: Place, proxy: NoWayOut) -> subprocess.CompletedProcess[str]:
    """The agent, when it has ended. It sees nothing of this machine's own settings."""
    own = {"HOME": str(place.home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    return subprocess.run(
        [agent.program_path(), *agent.arguments],
        env=own | proxy.environment | agent.environment(place),
        cwd=place.work,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_GIVE_UP,
        check=False,
    )


@pytest.mark.parametrize("agent", CODING_AGENTS, ids=lambda agent: agent.name)
def test_an_agent_writes_reads_and_runs_by_a_model_of_another_family(agent, tmp_path):
    """Its tools really run; what they say reaches the model, and the model's answer the user."""
    agent.program_path()
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    told = Told()
    world = World()
    gateway = world.gateway(
        {"*": ModelSettings(choices=(Choice(target=agent.back),))}, watchers=[told]
    )
    with serve(gateway) as server, no_way_out() as proxy:
        place = Place(server.url, home, work)
        back = Simulator(get_target(agent.back).provider, model=agent.model(place))
        world.simulators[back.profile.name] = back
        ended = started(agent, place, proxy)

    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert (work / FILE).read_text() == f"{WORDS}\n"
    assert all(words in ended.stdout for words in agent.answer), ended.stdout
    hops = [one for one in told.served if one.begun.action == "generate"]
    assert len(hops) >= agent.hops
    assert all(one.begun.streams and one.status == 200 and one.is_complete for one in hops)
    assert not any(one.is_forwarded for one in hops)
    assert [one.status for one in back.seen] == [200] * len(hops)
    assert not proxy.asked


@pytest.mark.parametrize("agent", CODING_AGENTS, ids=lambda agent: agent.name)
def test_the_simulated_model_makes_no_agent_run_anything(agent, tmp_path):
    """Without a script it calls no tool: it answers with a list of what it was offered."""
    agent.program_path()
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    world = World(Simulator)
    gateway = world.gateway({"*": ModelSettings(choices=(Choice(target=agent.back),))})
    with serve(gateway) as server, no_way_out() as proxy:
        started(agent, Place(server.url, home, work), proxy)

    made = work / FILE
    # An agent may make the empty file that its command line names.
    assert not made.exists() or not made.read_text()
    target = get_target(agent.back)
    seen = world.of(target.provider).seen
    assert seen
    for one in seen:
        read = decode_request(one.body, target.format, provider=target.provider)
        assert not any(message.calls or message.results for message in read.conversation.messages)
