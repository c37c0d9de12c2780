"""The Ollama SDK talks to a simulated server."""

import asyncio

import pytest

from canonicall.testing.faults import Fault
from judges.simulated import ANSWER, ARGUMENTS, FUNCTIONS, NAMES, QUESTION, RESULTS
from judges.sources import MISSING

ollama = pytest.importorskip("ollama", reason=MISSING)
httpx = pytest.importorskip("httpx", reason=MISSING)

ASKED = {"model": "qwen3:8b", "tools": FUNCTIONS, "think": True}
ways = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])


@pytest.fixture
def connect():
    """Clients that are closed behind the test."""
    clients = []

    def open_client(provider):
        clients.append(ollama.Client(host=provider.url))
        return clients[-1]

    yield open_client
    for client in clients:
        client._client.close()


def said(client, streamed, **asked):
    """The message of a reply."""
    if not streamed:
        return client.chat(**asked).message
    pieces = [part.message for part in client.chat(stream=True, **asked)]
    return ollama.Message(
        role="assistant",
        content="".join(piece.content or "" for piece in pieces),
        thinking="".join(piece.thinking or "" for piece in pieces),
        tool_calls=[call for piece in pieces for call in piece.tool_calls or ()],
    )


def results(message):
    return [
        {"role": "tool", "tool_name": one.function.name, "content": RESULTS[one.function.name]}
        for one in message.tool_calls
    ]


@ways
def test_a_conversation_with_tools_and_thinking(simulate, connect, streamed):
    provider = simulate("ollama")
    client = connect(provider)
    messages = [{"role": "user", "content": QUESTION}]
    first = said(client, streamed, messages=messages, **ASKED)
    assert first.thinking
    assert [one.function.name for one in first.tool_calls] == NAMES
    assert [one.function.arguments for one in first.tool_calls] == [ARGUMENTS, ARGUMENTS]
    messages += [first, *results(first)]
    second = said(client, streamed, messages=messages, **ASKED)
    assert second.content == ANSWER
    messages += [second, {"role": "user", "content": "And the weather in Rome?"}]
    (only,) = said(client, streamed, messages=messages, **ASKED).tool_calls
    assert only.function.arguments == {"city": "Rome"}
    assert provider.statuses == [200, 200, 200]


def test_a_violation_is_the_typed_error_of_the_client(simulate, connect):
    client = connect(simulate("ollama"))
    with pytest.raises(ollama.ResponseError, match="role") as caught:
        client.chat(messages=[{"role": "wizard", "content": "Hi"}], **ASKED)
    assert caught.value.status_code == 400


@pytest.mark.parametrize(("fault", "status"), [(Fault.RATE_LIMITED, 429), (Fault.OVERLOADED, 503)])
def test_a_fault_is_the_typed_error_of_the_client(simulate, connect, fault, status):
    client = connect(simulate("ollama", faults=[fault]))
    with pytest.raises(ollama.ResponseError) as caught:
        client.chat(messages=[{"role": "user", "content": "Hi"}], **ASKED)
    assert caught.value.status_code == status


def test_a_cut_stream_breaks_in_the_client(simulate, connect):
    client = connect(simulate("ollama", faults=[Fault.CUT_STREAM]))
    with pytest.raises(httpx.RemoteProtocolError):
        said(client, streamed=True, messages=[{"role": "user", "content": QUESTION}], **ASKED)


def test_an_error_inside_a_stream_is_raised_by_the_client(simulate, connect):
    client = connect(simulate("ollama", faults=[Fault.ERROR_IN_200]))
    with pytest.raises(ollama.ResponseError, match="had an error"):
        said(client, streamed=True, messages=[{"role": "user", "content": QUESTION}], **ASKED)


def test_models_are_listed_and_checked(simulate, connect):
    client = connect(simulate("ollama", models=["qwen3:8b"]))
    assert [one.model for one in client.list().models] == ["qwen3:8b"]
    with pytest.raises(ollama.ResponseError, match="model 'llama9' not found") as caught:
        client.chat(model="llama9", messages=[{"role": "user", "content": "Hi"}])
    assert caught.value.status_code == 404


def test_the_asynchronous_client(simulate):
    async def ask(url):
        client = ollama.AsyncClient(host=url)
        try:
            return await client.chat(messages=[{"role": "user", "content": QUESTION}], **ASKED)
        finally:
            await client._client.aclose()

    reply = asyncio.run(ask(simulate("ollama").url))
    assert [one.function.name for one in reply.message.tool_calls] == NAMES


def test_the_client_is_told_which_models_there_are_and_what_one_can_do(simulate, connect):
    client = connect(simulate("ollama"))
    named = [one.model for one in client.list().models]
    assert "qwen3:8b" in named
    assert client.show("qwen3:8b").capabilities == ["completion", "tools", "thinking"]
