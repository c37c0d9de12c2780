"""The Mistral SDK talks to the simulated Mistral API."""

import asyncio
import json

import pytest

from canonicall.testing.faults import Fault
from canonicall.testing.script import says, thought
from judges.simulated import ANSWER, ARGUMENTS, FUNCTIONS, NAMES, QUESTION, RESULTS
from judges.sources import MISSING

mistralai = pytest.importorskip("mistralai.client", reason=MISSING)
errors = pytest.importorskip("mistralai.client.errors", reason=MISSING)
httpx2 = pytest.importorskip("httpx2", reason=MISSING)

ASKED = {"model": "mistral-large-latest", "tools": FUNCTIONS}
ways = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])


@pytest.fixture
def connect():
    """Clients that are closed behind the test."""
    clients = []

    def open_client(provider, key="any"):
        clients.append(mistralai.Mistral(api_key=key, server_url=provider.url).__enter__())
        return clients[-1]

    yield open_client
    for client in clients:
        client.__exit__(None, None, None)


def said(client, streamed, **asked):
    """The text and the calls of a reply."""
    if not streamed:
        message = client.chat.complete(**asked).choices[0].message
        return message.content, message.tool_calls or []
    deltas = [event.data.choices[0].delta for event in client.chat.stream(**asked)]
    text = "".join(delta.content for delta in deltas if isinstance(delta.content, str))
    return text, [one for delta in deltas for one in delta.tool_calls or ()]


def said_back(calls):
    told = [
        {"id": one.id, "function": {"name": one.function.name, "arguments": one.function.arguments}}
        for one in calls
    ]
    return {"role": "assistant", "content": "", "tool_calls": told}


def results(calls):
    return [
        {
            "role": "tool",
            "tool_call_id": one.id,
            "name": one.function.name,
            "content": RESULTS[one.function.name],
        }
        for one in calls
    ]


@ways
def test_a_conversation_with_tools(simulate, connect, streamed):
    provider = simulate("mistral")
    client = connect(provider)
    messages = [{"role": "user", "content": QUESTION}]
    _, calls = said(client, streamed, messages=messages, **ASKED)
    assert [one.function.name for one in calls] == NAMES
    assert [json.loads(one.function.arguments) for one in calls] == [ARGUMENTS, ARGUMENTS]
    assert [len(one.id) for one in calls] == [9, 9]
    messages += [said_back(calls), *results(calls)]
    text, _ = said(client, streamed, messages=messages, **ASKED)
    assert text == ANSWER
    messages += [
        {"role": "assistant", "content": text},
        {"role": "user", "content": "And the weather in Rome?"},
    ]
    _, (only,) = said(client, streamed, messages=messages, **ASKED)
    assert json.loads(only.function.arguments) == {"city": "Rome"}
    assert provider.statuses == [200, 200, 200]


def test_thoughts_are_parts_of_the_content(simulate, connect):
    client = connect(simulate("mistral", script=[says(thought("Let me see."), "Four.")]))
    message = client.chat.complete(
        model="magistral-medium-latest", messages=[{"role": "user", "content": "Two and two?"}]
    )
    first, second = message.choices[0].message.content
    assert first.thinking[0].text == "Let me see."
    assert second.text == "Four."


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda messages: messages.pop(), "Not the same number of function calls and responses"),
        (
            lambda messages: messages[1]["tool_calls"][0].update(id="call_1"),
            "must be a-z, A-Z, 0-9, with a length of 9",
        ),
    ],
    ids=["open call", "bad id"],
)
def test_a_violation_is_refused_in_the_words_of_the_api(simulate, connect, damage, words):
    """By an older model: newer ones take ids of any form."""
    client = connect(simulate("mistral"))
    messages = [{"role": "user", "content": QUESTION}]
    asked = ASKED | {"model": "open-mistral-7b"}
    _, calls = said(client, streamed=False, messages=messages, **asked)
    messages += [said_back(calls), *results(calls)]
    damage(messages)
    with pytest.raises(errors.MistralError, match=words) as caught:
        client.chat.complete(messages=messages, **asked)
    assert caught.value.status_code == 400


@pytest.mark.parametrize(
    ("fault", "status"), [(Fault.RATE_LIMITED, 429), (Fault.SERVER_ERROR, 500)]
)
def test_a_fault_is_the_typed_error_of_the_client(simulate, connect, fault, status):
    client = connect(simulate("mistral", faults=[fault]))
    with pytest.raises(errors.MistralError) as caught:
        client.chat.complete(messages=[{"role": "user", "content": "Hi"}], **ASKED)
    assert caught.value.status_code == status


def test_a_cut_stream_breaks_in_the_client(simulate, connect):
    client = connect(simulate("mistral", faults=[Fault.CUT_STREAM]))
    with pytest.raises(httpx2.RemoteProtocolError):
        said(client, streamed=True, messages=[{"role": "user", "content": QUESTION}], **ASKED)


def test_keys_are_checked_and_models_listed(simulate, connect):
    provider = simulate("mistral", keys=["right"], models=["mistral-large-latest"])
    client = connect(provider, "right")
    assert [one.id for one in client.models.list().data] == ["mistral-large-latest"]
    with pytest.raises(errors.MistralError) as caught:
        connect(provider, "wrong").models.list()
    assert caught.value.status_code == 401
    with pytest.raises(errors.MistralError, match="Invalid model: mistral-huge"):
        client.chat.complete(model="mistral-huge", messages=[{"role": "user", "content": "Hi"}])


def test_the_asynchronous_client(simulate):
    async def ask(url):
        async with mistralai.Mistral(api_key="any", server_url=url) as client:
            messages = [{"role": "user", "content": QUESTION}]
            return await client.chat.complete_async(messages=messages, **ASKED)

    message = asyncio.run(ask(simulate("mistral").url)).choices[0].message
    assert [one.function.name for one in message.tool_calls] == NAMES
