"""Profiles in files: what was found out about an endpoint is used by a gateway."""

import pytest

from canonicall.facts.profile import load_profile
from canonicall.facts.registry import (
    find_profile,
    get_profile,
    get_target,
    register_provider,
)
from canonicall.gateway.app import Gateway
from canonicall.gateway.config import Settings, UnusableSettings, load_file
from canonicall.testing import Simulator
from canonicall.testing.transport import SimulatorTransport
from gateway_support import World, ask

PROFILE = """
name = "house"
format = "openai-chat"
base_url = "http://house.sim/v1"
key_env = ["HOUSE_KEY"]

[rules.max_tools]
value = 3
source = "probed house.sim"
date = "2026-11-16"
"""
SETTINGS = "profiles: [found/house.toml]\nmodels: {fast: 'house:m'}\n"
NEAR = "providers: {near: {profile: vllm, base_url: 'http://near.sim/v1'}}\n"
ENVIRON = {"HOUSE_KEY": "sk-house"}


@pytest.fixture
def written(tmp_path):
    """Writes a file of settings, and profiles in a folder beside it; gives the file."""
    (tmp_path / "found").mkdir()

    def write(settings=SETTINGS, **profiles):
        for name, text in (profiles or {"house": PROFILE}).items():
            (tmp_path / "found" / f"{name}.toml").write_text(text)
        path = tmp_path / "gateway.yaml"
        path.write_text(settings)
        return path

    return write


def told(path):
    with pytest.raises(UnusableSettings) as caught:
        load_file(path, ENVIRON)
    return [str(one) for one in caught.value.problems]


async def test_a_model_of_a_probed_endpoint_is_served(written):
    path = written()
    settings = load_file(path, ENVIRON).settings
    assert settings.profiles == (str(path.parent / "found" / "house.toml"),)
    assert get_target("house:m").max_tools == 3
    simulator = Simulator("house")
    gateway = Gateway(
        settings, transport=SimulatorTransport(lambda url: simulator), environ=ENVIRON
    )
    body = {"model": "fast", "messages": [{"role": "user", "content": "Hello?"}]}
    answer = await ask(gateway, "/v1/chat/completions", body)
    assert answer.status == 200, answer.body
    assert [one.target.name for one in simulator.seen] == ["house:m"]
    await gateway.close()


async def test_settings_in_code_name_files_too(written):
    path = written().parent / "found" / "house.toml"
    gateway = Gateway(Settings(profiles=(str(path),)), transport=World().transport)
    assert get_profile("house").base_url == "http://house.sim/v1"
    await gateway.close()


def test_a_file_that_is_read_again_counts_as_it_is_now(written):
    load_file(written(), ENVIRON)
    load_file(written(house=PROFILE.replace("value = 3", "value = 5")), ENVIRON)
    assert get_target("house:m").max_tools == 5


@pytest.mark.parametrize(
    ("profile", "words"),
    [
        ("name = ", "this is not TOML"),
        (PROFILE.replace("max_tools", "most_tools"), "'most_tools' is no field of Target"),
        (PROFILE.replace("value = 3", 'value = "3"'), "rules.max_tools.value"),
        (PROFILE.replace('"openai-chat"', '"openai-chatter"'), "openai-chatter"),
    ],
)
def test_what_is_wrong_is_told_with_its_file_and_place(written, profile, words):
    path = written(house=profile)
    (problem, *_) = told(path)
    assert problem.startswith("$.profiles[0]: ")
    assert str(path.parent / "found" / "house.toml") in problem
    assert words in problem
    assert find_profile("house") is None


def test_a_file_that_is_not_there_and_two_of_one_name(written):
    gone = written("profiles: found/gone.toml\n", house=PROFILE)
    assert "gone.toml: the profile cannot be read: No such file" in told(gone)[0]
    twice = written("profiles: [found/a.toml, found/b.toml]\n", a=PROFILE, b=PROFILE)
    (problem,) = told(twice)
    assert problem.startswith("$.profiles[1]: ")
    assert "another of these files is about 'house' already" in problem


def test_settings_that_are_refused_leave_all_providers_as_they_were(written):
    load_file(written(), ENVIRON)
    builtin = get_profile("openai")
    newer = PROFILE.replace("value = 3", "value = 5")
    own = PROFILE.replace('"house"', '"openai"')
    files = "profiles: [found/house.toml, found/openai.toml]\nmodels: {fast: 'nobody:m'}\n"
    assert "nobody" in told(written(files, house=newer, openai=own))[0]
    assert get_profile("house") == load_profile(PROFILE, "test")
    assert get_profile("openai") == builtin


def asked_for(name):
    return {"model": name, "messages": [{"role": "user", "content": "Hello?"}]}


async def test_a_profile_that_new_settings_do_not_name_is_gone_with_the_old_ones(written):
    own = PROFILE.replace('"house"', '"groq"')
    path = written("profiles: [found/house.toml, found/groq.toml]\n", house=PROFILE, groq=own)
    world = World()
    gateway = Gateway(load_file(path, ENVIRON).settings, transport=world.transport, environ=ENVIRON)
    assert (await ask(gateway, "/v1/chat/completions", asked_for("house:m"))).status == 200
    builtin_url = "https://api.groq.com/openai/v1"
    assert get_profile("groq").base_url == "http://house.sim/v1"

    gateway.state.open_requests += 1  # Somebody is still served by the old settings.
    old = gateway.state
    await gateway.reload(load_file(written("profiles: []\n"), ENVIRON).settings)
    assert gateway.state.routes.find("groq:m").chain("")[0].max_tools == 3
    assert get_profile("house").base_url == "http://house.sim/v1"
    old.open_requests -= 1
    await gateway._retire(old)

    assert find_profile("house") is None
    assert get_profile("groq").base_url == builtin_url
    assert gateway.state.routes.find("groq:m").chain("")[0] == get_target("groq:m")
    refused = await ask(gateway, "/v1/chat/completions", asked_for("house:m"))
    assert refused.status == 404, refused.body
    await gateway.close()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (SETTINGS, "models: {fast: 'house:m'}\n"),
        (NEAR + "models: {fast: 'near:m'}\n", "models: {fast: 'near:m'}\n"),
    ],
)
async def test_a_target_whose_provider_was_dropped_is_refused_when_the_file_is_read_again(
    written, before, after
):
    settings = load_file(written(before, house=PROFILE), ENVIRON).settings
    gateway = Gateway(settings, transport=World().transport, environ=ENVIRON)
    (problem,) = told(written(after, house=PROFILE))
    assert problem.startswith("$.models.fast.choices[0].target: no provider is called")
    assert get_target(settings.models["fast"].choices[0].target)
    await gateway.close()


def test_what_a_program_registered_itself_stays_known_to_settings(written):
    register_provider(PROFILE)
    load_file(written("models: {fast: 'house:m'}\n"), ENVIRON)
    load_file(written("models: {fast: 'house:m'}\n"), ENVIRON)
    assert get_profile("house").base_url == "http://house.sim/v1"
