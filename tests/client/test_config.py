"""Settings: from code, from the environment, and never shown."""

import pytest

from canonicall.client.config import ClientConfig, ProviderConfig
from canonicall.client.secrets import Secret, hide
from canonicall.client.sigv4 import AwsCredentials
from canonicall.client.transport import Timeouts
from canonicall.errors import UnknownName
from canonicall.facts.registry import get_profile

KEY = "sk-0123456789"


def config(providers=None, **environ):
    return ClientConfig(providers, environ=environ)


def test_keys_come_from_the_variables_of_the_profile_in_their_order():
    both = config(GEMINI_API_KEY="first-key", GOOGLE_API_KEY="second-key")
    assert both.of(get_profile("gemini")).secret == Secret("first-key")
    assert config(GOOGLE_API_KEY="second-key").of(get_profile("gemini")).secret == Secret(
        "second-key"
    )
    assert not config().of(get_profile("gemini")).secret


def test_a_key_in_code_comes_before_the_environment():
    given = config({"claude": {"key": KEY}}, ANTHROPIC_API_KEY="another")
    assert given.of(get_profile("anthropic")).secret.reveal() == KEY


def test_credentials_of_aws_are_no_key():
    environ = {"AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "hush"}
    own = config(**environ).of(get_profile("bedrock"))
    assert own.aws == AwsCredentials("AKID", Secret("hush"))
    assert not own.secret
    assert config(AWS_ACCESS_KEY_ID="AKID").of(get_profile("bedrock")).aws is None
    assert config(**environ).of(get_profile("openai")).aws is None


def test_the_environment_of_the_process_is_read_when_asked_for(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1")
    own = ClientConfig.from_environment().of(get_profile("openai"))
    assert (own.secret.reveal(), own.base_url) == (KEY, "http://localhost:1/v1")
    assert not ClientConfig().of(get_profile("openai")).secret


def test_who_has_a_key_is_told_by_names_only():
    made = config({"openai": {"key": KEY}}, GROQ_API_KEY=KEY, AWS_BEARER_TOKEN_BEDROCK=KEY)
    assert made.present() == {
        "bedrock": ("AWS_BEARER_TOKEN_BEDROCK",),
        "bedrock-mantle": ("AWS_BEARER_TOKEN_BEDROCK",),
        "groq": ("GROQ_API_KEY",),
        "openai": ("config",),
    }


def test_nothing_shows_a_key():
    aws = AwsCredentials("AKID", Secret(KEY), Secret(KEY))
    own = ProviderConfig(key=KEY, headers={"x-own": KEY}, aws=aws, proxy=f"http://me:{KEY}@host")
    shown = f"{own!r} {own} {aws!r} {config({'openai': own})!r} {Secret(KEY)} {own.secrets}"
    assert KEY not in shown
    assert KEY not in hide(f"Incorrect API key provided: {KEY}.", own.secrets)


def test_an_unknown_provider_is_refused():
    with pytest.raises(UnknownName):
        config({"nobody": {"key": KEY}})


def test_timeouts_of_a_provider_come_before_those_of_all():
    made = ClientConfig({"openai": {"timeouts": Timeouts(total=1)}}, timeouts=Timeouts(total=2))
    assert made.of(get_profile("openai")).timeouts == Timeouts(total=1)
    assert made.of(get_profile("groq")).timeouts == Timeouts(total=2)


@pytest.mark.parametrize(
    ("url", "proxy"),
    [
        ("https://api.openai.com/v1", "http://secure:1"),
        ("http://api.openai.com/v1", "http://plain:1"),
        ("https://inside.example/v1", ""),
        ("https://a.b.example.org/v1", ""),
        ("https://example.org/v1", ""),
        ("https://notexample.org/v1", "http://secure:1"),
        ("http://localhost:8000/v1", ""),
        ("http://localhost:8001/v1", "http://plain:1"),
    ],
)
def test_proxies_of_the_environment(url, proxy):
    made = config(
        https_proxy="http://secure:1",
        HTTP_PROXY="http://plain:1",
        NO_PROXY="inside.example, .example.org,localhost:8000",
    )
    assert made.proxy_of(ProviderConfig(), url) == proxy


def test_a_proxy_in_code_comes_before_the_environment():
    made = config(ALL_PROXY="http://all:1")
    assert made.proxy_of(ProviderConfig(), "https://a.example") == "http://all:1"
    assert (
        made.proxy_of(ProviderConfig(proxy="http://own:1"), "https://a.example") == "http://own:1"
    )
    assert made.proxy_of(ProviderConfig(proxy=""), "https://a.example") == ""
    everything = config(ALL_PROXY="http://all:1", no_proxy="*")
    assert everything.proxy_of(ProviderConfig(), "https://a.example") == ""
