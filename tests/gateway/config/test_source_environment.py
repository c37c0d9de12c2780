"""Without a file the environment says who can be asked; without a key, a simulated model answers."""

from pathlib import Path

from canonicall.client.secrets import Secret
from canonicall.gateway.config.source import (
    SIMULATED,
    default_settings,
    environment_settings,
    state_file,
)


def test_every_provider_with_a_key_is_a_back():
    environ = {"OPENAI_API_KEY": "sk-1", "ANTHROPIC_API_KEY": " sk-2\n", "MISTRAL_API_KEY": ""}
    settings = environment_settings(environ)
    assert {name: one.keys for name, one in settings.providers.items()} == {
        "openai": (Secret("sk-1"),),
        "anthropic": (Secret("sk-2"),),
    }
    assert settings.models == {}


def test_a_cloud_whose_requests_are_signed_is_a_back_without_a_key():
    environ = {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret"}
    assert environment_settings(environ).providers["bedrock"].keys == ()


def test_without_a_key_there_are_no_settings_of_the_environment():
    assert environment_settings({}) is None


def test_the_default_answers_every_name_on_loopback():
    settings = default_settings({"XDG_STATE_HOME": "state"})
    assert settings.server.host == "127.0.0.1"
    assert settings.models["*"].choices[0].target == SIMULATED
    assert settings.store.path == str(Path("state", "canonicall", "gateway.db"))


def test_the_state_is_kept_in_the_users_own_folder():
    assert state_file({"HOME": "me"}) == Path("me", ".local", "state", "canonicall", "gateway.db")
