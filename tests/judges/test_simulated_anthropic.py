"""The Anthropic SDK talks to the simulated Messages API."""

import asyncio

import pytest

from canonicall.testing.faults import Fault
from judges.simulated import ANSWER, ARGUMENTS, NAMES, QUESTION, RESULTS, SCHEMA
from judges.sources import MISSING

anthropic = pytest.importorskip("anthropic", reason=MISSING)
httpx2 = pytest.importorskip("httpx2", reason=MISSING)

TOOLS = [{"name": name, "description": name, "input_schema": SCHEMA} for name in NAMES]
MANUAL = {"type": "enabled", "budget_tokens": 1024}
ASKED = {"model": "claude-haiku-4-5", "max_tokens": 3000, "tools": TOOLS, "thinking": MANUAL}
BOUND = {**ASKED, "model": "claude-opus-5-5", "thinking": {"type": "adaptive"}}
ways = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])


@pytest.fixture(scope="module")
def connections():
    with anthropic.DefaultHttpxClient() as shared:
        yield shared


@pytest.fixture
def connect(connections):
    def open_client(provider, key="any"):
        return anthropic.Anthropic(
            base_url=provider.url, api_key=key, max_retries=0, http_client=connections
        )

    return open_client


def created(client, streamed, **asked):
    if not streamed:
        return client.messages.create(**asked)
    with client.messages.stream(**asked) as stream:
        return stream.get_final_message()


def said_back(message):
    return {"role": "assistant", "content": [one.to_dict(mode="json") for one in message.content]}


def results(message):
    blocks = [
        {"type": "tool_result", "tool_use_id": one.id, "content": RESULTS[one.name]}
        for one in message.content
        if one.type == "tool_use"
    ]
    return {"role": "user", "content": blocks}


@ways
@pytest.mark.parametrize("asked", [ASKED, BOUND], ids=["signed", "bound"])
def test_a_conversation_with_tools_and_thinking(simulate, connect, asked, streamed):
    provider = simulate("anthropic")
    client = connect(provider)
    messages = [{"role": "user", "content": QUESTION}]
    first = created(client, streamed, messages=messages, **asked)
    assert first.stop_reason == "tool_use"
    assert [one.type for one in first.content] == ["thinking", "tool_use", "tool_use"]
    assert [one.input for one in first.content[1:]] == [ARGUMENTS, ARGUMENTS]
    messages += [said_back(first), results(first)]
    second = created(client, streamed, messages=messages, **asked)
    assert [one.type for one in second.content] == ["thinking", "text"]
    assert second.content[-1].text == ANSWER
    messages += [said_back(second), {"role": "user", "content": "And the weather in Rome?"}]
    third = created(client, streamed, messages=messages, **asked)
    assert third.content[-1].input == {"city": "Rome"}
    assert provider.statuses == [200, 200, 200]


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda block: block.update(thinking="Something else."), "Invalid `signature`"),
        (lambda block: block.update(signature="bm90aGluZw=="), "Invalid `signature`"),
        (lambda block: block.pop("signature"), "signature"),
    ],
    ids=["other words", "other signature", "no signature"],
)
def test_thinking_that_came_back_changed_is_refused(simulate, connect, damage, words):
    client = connect(simulate("anthropic"))
    messages = [{"role": "user", "content": QUESTION}]
    first = client.messages.create(messages=messages, **ASKED)
    messages += [said_back(first), results(first)]
    damage(messages[1]["content"][0])
    with pytest.raises(anthropic.BadRequestError, match=words):
        client.messages.create(messages=messages, **ASKED)


def test_an_edited_history_is_noticed_where_thinking_is_bound(simulate, connect):
    client = connect(simulate("anthropic"))
    messages = [{"role": "user", "content": QUESTION}]
    first = client.messages.create(messages=messages, **BOUND)
    messages += [said_back(first), results(first)]
    messages[0] = {"role": "user", "content": QUESTION + " Please."}
    with pytest.raises(anthropic.BadRequestError, match="bound to a different conversation"):
        client.messages.create(messages=messages, **BOUND)


def test_an_open_call_is_refused_in_the_words_of_the_api(simulate, connect):
    client = connect(simulate("anthropic"))
    messages = [{"role": "user", "content": QUESTION}]
    first = client.messages.create(messages=messages, **ASKED)
    messages += [said_back(first), {"role": "user", "content": "Well?"}]
    words = "`tool_use` ids were found without `tool_result` blocks immediately after"
    with pytest.raises(anthropic.BadRequestError, match=words) as caught:
        client.messages.create(messages=messages, **ASKED)
    assert caught.value.body["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize(
    ("fault", "error", "status"),
    [
        (Fault.RATE_LIMITED, anthropic.RateLimitError, 429),
        (Fault.OVERLOADED, anthropic.InternalServerError, 529),
        (Fault.SERVER_ERROR, anthropic.InternalServerError, 500),
    ],
)
def test_a_fault_is_the_typed_error_of_the_client(simulate, connect, fault, error, status):
    client = connect(simulate("anthropic", faults=[fault]))
    with pytest.raises(error) as caught:
        client.messages.create(messages=[{"role": "user", "content": "Hi"}], **ASKED)
    assert caught.value.status_code == status


@pytest.mark.parametrize("fault", [Fault.CUT_STREAM, Fault.ERROR_IN_200])
def test_a_stream_that_does_not_end_breaks_in_the_client(simulate, connect, fault):
    client = connect(simulate("anthropic", faults=[fault]))
    with pytest.raises((anthropic.APIError, httpx2.RemoteProtocolError)):
        created(client, streamed=True, messages=[{"role": "user", "content": QUESTION}], **ASKED)


def test_tokens_are_counted_and_models_listed(simulate, connect):
    client = connect(simulate("anthropic"))
    short = client.messages.count_tokens(
        model="claude-haiku-4-5", messages=[{"role": "user", "content": "Hi"}]
    )
    long = client.messages.count_tokens(
        model="claude-haiku-4-5", messages=[{"role": "user", "content": "Hi" * 500}]
    )
    assert 0 < short.input_tokens < long.input_tokens
    names = [one.id for one in client.models.list()]
    assert "claude-haiku-4-5" in names
    assert client.models.retrieve(names[0]).id == names[0]


def test_keys_and_models_are_checked(simulate, connect):
    provider = simulate("anthropic", keys=["right"], models=["claude-haiku-4-5"])
    with pytest.raises(anthropic.AuthenticationError, match="invalid x-api-key"):
        connect(provider, "wrong").models.list()
    with pytest.raises(anthropic.NotFoundError, match="model: claude-opus-5-5"):
        connect(provider, "right").messages.create(
            messages=[{"role": "user", "content": "Hi"}], **BOUND
        )


@pytest.mark.parametrize(
    ("host", "model"), [("deepseek", "deepseek-v4"), ("kimi", "kimi-k2"), ("minimax", "MiniMax-M2")]
)
def test_other_hosts_of_the_format(simulate, connect, host, model):
    client = connect(simulate(host))
    asked = {"model": model, "max_tokens": 500, "tools": TOOLS}
    messages = [{"role": "user", "content": QUESTION}]
    first = client.messages.create(messages=messages, **asked)
    messages += [said_back(first), results(first)]
    assert client.messages.create(messages=messages, **asked).content[-1].text == ANSWER


async def _asked(url):
    async with anthropic.AsyncAnthropic(base_url=url, api_key="any", max_retries=0) as client:
        messages = [{"role": "user", "content": QUESTION}]
        async with client.messages.stream(messages=messages, **ASKED) as stream:
            return await stream.get_final_message()


def test_the_asynchronous_client(simulate):
    reply = asyncio.run(_asked(simulate("anthropic").url))
    assert [one.type for one in reply.content] == ["thinking", "tool_use", "tool_use"]
