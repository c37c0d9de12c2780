"""Settings that are well formed are judged by what they mean together."""

import hashlib

import pytest

from canonicall.gateway.config import read_settings

HASH = "sha256:" + hashlib.sha256(b"a key").hexdigest()


def read(text):
    return read_settings(text.encode(), "gateway.yaml", {})


def test_a_fallback_that_was_asked_before_is_told():
    text = "models: {a: ['openai:x', 'xai:y', 'xai:y'], b: {target: 'openai:x', fallbacks: 'openai:x'}}"
    told = {one.where: one.what for one in read(text).warnings}
    assert told == {
        "$.models.a.fallbacks[1]": "'xai:y' has been asked before.",
        "$.models.b.fallbacks[0]": "'openai:x' has been asked before.",
    }


@pytest.mark.parametrize(
    ("section", "is_told"),
    [
        ("openai: {base_url: 'http://localhost:8000/v1'}", True),
        ("anthropic: {base_url: 'http://10.0.0.5/'}", True),
        ("openai: {base_url: 'https://eu.api.openai.com/v1'}", False),
        ("openai: {profile: vllm, base_url: 'http://localhost:8000/v1'}", False),
        ("vllm: {base_url: 'http://127.0.0.1:8000/v1'}", False),
        ("ollama: {base_url: 'http://localhost:11434'}", False),
    ],
)
def test_a_server_of_ones_own_under_the_name_of_another_is_told(section, is_told):
    """What the owner of a format replies is not read: calls that leak into words would pass."""
    told = [one.where for one in read(f"providers: {{{section}}}\nmodels: {{a: 'xai:x'}}").warnings]
    assert [where.endswith(".base_url") for where in told] == [True] * is_told


def test_a_format_may_be_named_in_place_of_its_provider():
    assert not read("models: {a: 'openai-responses:gpt-5'}").warnings


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("server: {workers: 2}\nmodels: {a: 'openai:x'}", "$.store.path"),
        ("models: {'claude-*': 'openai:x', 'claude-4*': 'openai:y', claude-5: 'openai:z'}", '$.models["claude-4*"]'),
        (f"models: {{a: 'openai:x'}}\nkeys: {{k: {{hash: '{HASH}', models: [a, b]}}}}", "$.keys.k.models[1]"),
    ],
)  # fmt: skip
def test_what_is_probably_not_meant_is_a_warning(text, where):
    assert [one.where for one in read(text).warnings] == [where]


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.9.9.9"])
def test_loopback_needs_no_key(host):
    assert read(f"server: {{host: '{host}'}}").settings.server.host == host


def test_a_gateway_is_open_if_its_settings_say_so():
    text = "server: {host: 0.0.0.0, open: true, allowed_hosts: gateway.internal}"
    server = read(text).settings.server
    assert (server.open, server.allowed_hosts) == (True, ("gateway.internal",))
