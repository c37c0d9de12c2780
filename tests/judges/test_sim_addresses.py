"""The addresses that `canonicall sim` prints are what the official clients take."""

import asyncio

import pytest

from canonicall.cli.sim import addresses
from canonicall.client.config import ClientConfig
from canonicall.client.model import HttpModel
from canonicall.conversation import Conversation
from canonicall.facts.registry import get_profile, get_target, provider_names
from canonicall.request import Request
from canonicall.testing.habits import models_of
from canonicall.testing.server import serve
from canonicall.testing.simulator import Simulator
from judges.sources import MISSING

HI = [{"role": "user", "content": "Hi"}]
ANSWER = "You said: Hi I have no tools here."


@pytest.fixture(scope="module")
def printed():
    """Every address, by provider and format."""
    names = list(provider_names())
    with serve({name: Simulator(name) for name in names}) as server:
        yield addresses(server.url, names)


def test_the_openai_sdk(printed):
    openai = pytest.importorskip("openai", reason=MISSING)
    for name in ("openai", "mistral", "groq", "ollama"):
        url, model = printed[name]["openai-chat"], models_of(name)[0]
        with openai.OpenAI(base_url=url, api_key="any", max_retries=0) as client:
            made = client.chat.completions.create(model=model, messages=HI)
            assert made.choices[0].message.content == ANSWER
            assert client.models.list().data
    url = printed["openai"]["openai-responses"]
    with openai.OpenAI(base_url=url, api_key="any", max_retries=0) as client:
        assert client.responses.create(model="gpt-5.2", input="Hi").output_text == ANSWER


def test_the_anthropic_sdk(printed):
    anthropic = pytest.importorskip("anthropic", reason=MISSING)
    url = printed["anthropic"]["anthropic"]
    with anthropic.Anthropic(base_url=url, api_key="any", max_retries=0) as client:
        made = client.messages.create(model="claude-haiku-4-5", max_tokens=99, messages=HI)
        assert made.content[0].text == ANSWER
        assert client.models.list().data


def test_the_google_sdk(printed):
    genai = pytest.importorskip("google.genai", reason=MISSING)
    url = printed["gemini"]["gemini"]
    with genai.Client(api_key="any", http_options={"base_url": url}) as client:
        made = client.models.generate_content(model="gemini-3-pro-preview", contents="Hi")
        assert made.text == ANSWER


def test_the_mistral_sdk(printed):
    mistral = pytest.importorskip("mistralai.client", reason=MISSING)
    url = printed["mistral"]["openai-chat"]
    with mistral.Mistral(api_key="any", server_url=url) as client:
        made = client.chat.complete(model="mistral-large-latest", messages=HI)
        assert made.choices[0].message.content == ANSWER


def test_the_cohere_sdk(printed):
    cohere = pytest.importorskip("cohere", reason=MISSING)
    url = printed["cohere"]["cohere"]
    assert url.endswith("/v2")
    httpx = pytest.importorskip("httpx", reason=MISSING)
    with httpx.Client() as connections:
        client = cohere.ClientV2(api_key="any", base_url=url, httpx_client=connections)
        made = client.chat(model="command-a-03-2025", messages=HI)
        assert made.message.content[0].text == ANSWER
        assert client.models.list().models


def test_the_ollama_sdk(printed):
    ollama = pytest.importorskip("ollama", reason=MISSING)
    client = ollama.Client(host=printed["ollama"]["ollama"])
    assert client.chat(model="qwen3:8b", messages=HI).message.content == ANSWER
    assert client.list().models
    client._client.close()


def test_every_address_is_a_base_url_of_our_own_client(printed):
    talk = Conversation()
    talk.user("Hi")

    async def answers(name, format, url):
        values = dict.fromkeys(("region", "location", "project", "account", "workspace"), "some")
        values |= dict.fromkeys(("resource", "account_id", "gateway_id"), "some")
        config = ClientConfig({name: {"key": "any", "base_urls": {format: url}, "values": values}})
        target = get_target(f"{name}/{format}:{models_of(name)[0]}")
        async with HttpModel(config) as model:
            *_, last = [event async for event in model.ask(Request(talk), target)]
        return last.reply.message.text

    async def every():
        return {
            f"{name}/{format}": await answers(name, format, url)
            for name, formats in printed.items()
            for format, url in formats.items()
        }

    told = asyncio.run(every())
    assert {where: text for where, text in told.items() if text != ANSWER} == {}
    assert len(told) == sum(len(get_profile(name).formats) for name in provider_names())
