"""Addresses and headers of every provider, from its profile and the configuration."""

import re

import pytest

from batches import each
from canonicall.client.config import ClientConfig, ProviderConfig
from canonicall.client.endpoints import MissingSetting, base_address, check_settings, outgoing
from canonicall.errors import InvalidValue
from canonicall.facts.registry import (
    get_profile,
    get_target,
    register_provider,
    unregister_provider,
)

from client_support import PLACES, target

KEY = "sk-0123456789"
VALUES = {"region": "eu-west-1", "resource": "mine", "location": "us-east5", "project": "p1"}
VALUES |= {"account": "a1", "account_id": "a2", "gateway_id": "g1", "workspace": "w.example.net"}
CLAUDE = "anthropic.claude-sonnet-4-5-20250929-v1:0"


async def sent(goal, *, stream=True, now=0.0, environ=None, **own):
    own = {"key": KEY, "values": VALUES, **own}
    made = ClientConfig({goal.partition("/")[0].partition(":")[0]: own}, environ=environ)
    return await outgoing(get_target(goal), b"{}", made, stream=stream, now=lambda: now)


VERTEX = "https://us-east5-aiplatform.googleapis.com/v1/projects/p1/locations/us-east5/publishers"


@pytest.mark.parametrize(
    ("goal", "streamed", "whole", "auth"),
    [
        ("openai:m", "https://api.openai.com/v1/chat/completions", None, "authorization"),
        ("openai/openai-responses:m", "https://api.openai.com/v1/responses", None, "authorization"),
        ("anthropic:m", "https://api.anthropic.com/v1/messages", None, "x-api-key"),
        (
            "kimi/anthropic:m",
            "https://api.moonshot.ai/anthropic/v1/messages",
            None,
            "authorization",
        ),
        (
            "gemini:models/m",
            "https://generativelanguage.googleapis.com/v1beta/models/m:streamGenerateContent?alt=sse",
            "https://generativelanguage.googleapis.com/v1beta/models/m:generateContent",
            "x-goog-api-key",
        ),
        (
            "vertex:gemini-3-pro",
            f"{VERTEX}/google/models/gemini-3-pro:streamGenerateContent?alt=sse",
            f"{VERTEX}/google/models/gemini-3-pro:generateContent",
            "authorization",
        ),
        (
            "vertex/anthropic:claude-x@2025",
            f"{VERTEX}/anthropic/models/claude-x%402025:streamRawPredict",
            f"{VERTEX}/anthropic/models/claude-x%402025:rawPredict",
            "authorization",
        ),
        (
            f"bedrock:{CLAUDE}",
            "https://bedrock-runtime.eu-west-1.amazonaws.com/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream",
            "https://bedrock-runtime.eu-west-1.amazonaws.com/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse",
            "authorization",
        ),
        ("azure:d", "https://mine.openai.azure.com/openai/v1/chat/completions", None, "api-key"),
        (
            "azure/openai-responses:d",
            "https://mine.openai.azure.com/openai/v1/responses",
            None,
            "api-key",
        ),
        (
            "azure/anthropic:d",
            "https://mine.services.ai.azure.com/anthropic/v1/messages",
            None,
            "x-api-key",
        ),
        ("cohere:m", "https://api.cohere.com/v2/chat", None, "authorization"),
        ("ollama:m", "http://localhost:11434/api/chat", None, "authorization"),
        (
            "ollama/openai-chat:m",
            "http://localhost:11434/v1/chat/completions",
            None,
            "authorization",
        ),
        ("mistral:m", "https://api.mistral.ai/v1/chat/completions", None, "authorization"),
    ],
)
async def test_where_a_target_is_asked_and_how_the_key_is_shown(goal, streamed, whole, auth):
    made = await sent(goal)
    assert made.url == streamed
    assert (await sent(goal, stream=False)).url == (whole or streamed)
    shown = f"Bearer {KEY}" if auth == "authorization" else KEY
    assert {name: value for name, value in made.headers.items() if KEY in value} == {auth: shown}


@each("place", PLACES)
async def test_every_place_has_an_address_without_gaps(place):
    goal = target(place)
    own = {"key": KEY, "values": VALUES}
    if place.startswith("generic"):
        own["base_url"] = "http://localhost:1"
    made = await outgoing(
        goal, b"{}", ClientConfig({goal.provider: own}), stream=True, now=lambda: 0.0
    )
    assert re.fullmatch(r"https?://[\w.:-]+/[\w./%:@?=-]+", made.url)


async def test_messages_name_the_version_of_their_api():
    assert (await sent("anthropic:m")).headers["anthropic-version"] == "2023-06-01"
    # The body names it there, and the path the model.
    assert "anthropic-version" not in (await sent("vertex/anthropic:m")).headers


@pytest.mark.parametrize(
    ("location", "host"),
    [("global", "aiplatform.googleapis.com"), ("eu", "aiplatform.eu.rep.googleapis.com")],
)
async def test_places_of_google_with_a_host_of_their_own(location, host):
    made = await sent("vertex:m", values={"location": location, "project": "p"})
    assert made.url.startswith(f"https://{host}/v1/projects/p/locations/{location}/")


@pytest.mark.parametrize(
    ("goal", "own", "told"),
    [
        ("openai:m", {"key": None}, "openai: there is no key. Set the variable OPENAI_API_KEY"),
        ("vertex:m", {"key": None, "values": VALUES}, "`gcloud auth print-access-token`"),
        ("azure:m", {"values": {}}, '{resource} is not known. Set values["resource"], or the variable AZURE_OPENAI_RESOURCE'),
        ("bedrock:m", {"values": {}}, '{region} is not known. Set values["region"], or the variable AWS_REGION or AWS_DEFAULT_REGION.'),
        ("generic:m", {}, "generic: base_url: the provider has no address of its own. Set base_url, or the variable GENERIC_BASE_URL."),
        ("openai", {}, "openai: the target has no model. Name one: openai:MODEL."),
        ("kimi/anthropic:m", {"base_url": "http://localhost:1"}, 'Set base_urls["anthropic"] beside base_url.'),
    ],
)  # fmt: skip
async def test_what_is_missing_is_named_with_what_to_do(goal, own, told):
    with pytest.raises(MissingSetting, match=re.escape(told)):
        await sent(goal, **own)


async def test_a_server_of_ones_own_needs_no_key():
    made = await sent("ollama:m", key=None)
    assert "authorization" not in made.headers


async def test_a_header_of_ones_own_can_take_the_place_of_the_key():
    made = await sent("openai:m", key=None, headers={"Authorization": "Basic abc"})
    assert made.headers["authorization"] == "Basic abc"


async def test_a_token_is_asked_for_before_every_request():
    given = iter(["token-one-1", "token-two-2"])

    async def later():
        return next(given)

    made = [await sent("vertex:m", token=later) for _ in range(2)]
    assert [one.headers["authorization"] for one in made] == [
        "Bearer token-one-1",
        "Bearer token-two-2",
    ]
    assert "token-one-1" in [one.reveal() for one in made[0].secrets]
    assert (await sent("vertex:m", token=lambda: "plain-token")).headers[
        "authorization"
    ] == "Bearer plain-token"


async def test_a_token_is_no_key_where_the_two_have_different_headers():
    made = await sent("azure:d", token=lambda: "directory-token")
    assert made.headers["authorization"] == "Bearer directory-token"
    assert "api-key" not in made.headers


async def test_a_token_source_that_fails_is_told_without_its_words():
    def broken():
        raise OSError(KEY)

    with pytest.raises(
        MissingSetting, match=r"vertex: the source of its token failed \(OSError\)"
    ) as caught:
        await sent("vertex:m", token=broken)
    assert KEY not in str(caught.value)


async def test_white_space_around_a_key_is_none_of_it():
    made = await sent("openai:m", key=None, environ={"OPENAI_API_KEY": f" {KEY}\n"})
    assert made.headers["authorization"] == f"Bearer {KEY}"


async def test_bedrock_is_signed_where_there_is_no_token():
    environ = {
        "AWS_ACCESS_KEY_ID": "AKID",
        "AWS_SECRET_ACCESS_KEY": "hush-hush",
        "AWS_REGION": "us-east-1",
    }
    made = await sent(f"bedrock:{CLAUDE}", key=None, values={}, environ=environ, now=1767225600.0)
    assert made.headers["authorization"].startswith(
        "AWS4-HMAC-SHA256 Credential=AKID/20260101/us-east-1/bedrock/aws4_request, SignedHeaders="
    )
    with_token = {**environ, "AWS_BEARER_TOKEN_BEDROCK": "bedrock-token"}
    bearer = await sent(f"bedrock:{CLAUDE}", key=None, values={}, environ=with_token)
    assert bearer.headers["authorization"] == "Bearer bedrock-token"


def test_an_address_of_ones_own_takes_the_place_of_the_providers():
    own = ProviderConfig(base_url="http://localhost:1/v1/")
    assert base_address(get_profile("openai"), "openai-responses", own) == "http://localhost:1/v1"


@pytest.mark.parametrize(
    ("endpoints", "told"),
    [
        ('[endpoints.openai-chat]\nauth = "x-key"', "`source` is missing"),
        ('[endpoints.anthropic]\nsource = "s"', "a table for some of openai-chat"),
        ('[endpoints.openai-chat]\nsource = "s"\npaths = "/x"', "does not fit"),
    ],
)
def test_a_wrong_endpoint_in_a_profile_is_refused(endpoints, told):
    with pytest.raises(InvalidValue, match=re.escape(told)):
        register_provider(f'name = "attic"\nformat = "openai-chat"\n{endpoints}')


async def test_a_provider_of_ones_own_is_asked_as_its_profile_says():
    register_provider("""
    name = "attic"
    format = "openai-chat"
    base_url = "https://attic.example/api"
    key_env = ["ATTIC_KEY"]
    [endpoints.openai-chat]
    path = "/talk"
    auth = "x-attic-key"
    source = "the server's own documentation"
    """)
    try:
        made = await sent("attic:m", key=None, environ={"ATTIC_KEY": KEY})
    finally:
        unregister_provider("attic")
    assert made.url == "https://attic.example/api/talk"
    assert made.headers["x-attic-key"] == KEY


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.8.8.8", "[::1]"])
async def test_an_address_of_this_machine_needs_no_key(host):
    made = await sent("openai:m", key=None, base_url=f"http://{host}:8080/v1")
    assert made.url == f"http://{host}:8080/v1/chat/completions"
    assert "authorization" not in made.headers


@pytest.mark.parametrize("host", ["10.0.0.5", "127.0.0.1.example", "example.org"])
async def test_an_address_of_another_machine_needs_the_key(host):
    with pytest.raises(MissingSetting, match="there is no key") as caught:
        await sent("openai:m", key=None, base_url=f"http://{host}:8080/v1")
    assert caught.value.variables == ("OPENAI_API_KEY",)


def test_settings_can_be_checked_before_anything_is_asked():
    """As a request would find them."""
    target = get_target("openai:m")
    with pytest.raises(MissingSetting, match="there is no key"):
        check_settings(target, ClientConfig())
    check_settings(target, ClientConfig({"openai": {"key": "k"}}))
    check_settings(target, ClientConfig(environ={"OPENAI_API_KEY": "k"}))
    check_settings(target, ClientConfig({"openai": {"token": lambda: "t"}}))
    check_settings(target, ClientConfig({"openai": {"headers": {"Authorization": "Bearer k"}}}))
