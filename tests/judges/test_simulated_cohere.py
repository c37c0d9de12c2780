"""The Cohere SDK, its client of the second version, talks to the simulated Cohere API."""

import json

import pytest

from canonicall.testing.faults import Fault
from judges.simulated import ANSWER, ARGUMENTS, FUNCTIONS, NAMES, QUESTION, RESULTS
from judges.sources import MISSING

cohere = pytest.importorskip("cohere", reason=MISSING)
api_error = pytest.importorskip("cohere.core.api_error", reason=MISSING)
httpx = pytest.importorskip("httpx", reason=MISSING)

ASKED = {"model": "command-a-03-2025", "tools": FUNCTIONS, "thinking": {"type": "enabled"}}


@pytest.fixture(scope="module")
def connections():
    with httpx.Client() as shared:
        yield shared


@pytest.fixture
def connect(connections):
    def open_client(provider, key="any"):
        return cohere.ClientV2(
            api_key=key,
            base_url=provider.url,
            httpx_client=connections,
            log_warning_experimental_features=False,
        )

    return open_client


def results(calls):
    return [{"role": "tool", "tool_call_id": id, "content": RESULTS[name]} for id, name, _ in calls]


def replied(client, **asked):
    """The thought, the text and the calls of a reply."""
    message = client.chat(**asked).message
    parts = {part.type: getattr(part, part.type) for part in message.content or ()}
    calls = [
        (one.id, one.function.name, one.function.arguments) for one in message.tool_calls or ()
    ]
    return parts.get("thinking", ""), parts.get("text", ""), calls


def streamed(client, **asked):
    """The same, put together from a stream."""
    thought = text = ""
    calls = []
    for event in client.chat_stream(**asked):
        match event.type:
            case "content-delta":
                thought += event.delta.message.content.thinking or ""
                text += event.delta.message.content.text or ""
            case "tool-call-start":
                call = event.delta.message.tool_calls
                calls.append([call.id, call.function.name, call.function.arguments or ""])
            case "tool-call-delta":
                calls[-1][2] += event.delta.message.tool_calls.function.arguments
    return thought, text, [tuple(call) for call in calls]


def said_back(thought, calls):
    told = [
        {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
        for id, name, arguments in calls
    ]
    content = [{"type": "thinking", "thinking": thought}]
    return {"role": "assistant", "content": content, "tool_calls": told}


@pytest.mark.parametrize("ask", [replied, streamed])
def test_a_conversation_with_tools_and_thinking(simulate, connect, ask):
    provider = simulate("cohere")
    client = connect(provider)
    messages = [{"role": "user", "content": QUESTION}]
    thought, _, calls = ask(client, messages=messages, **ASKED)
    assert thought.startswith("The user asks")
    assert [name for _, name, _ in calls] == NAMES
    assert [json.loads(arguments) for *_, arguments in calls] == [ARGUMENTS, ARGUMENTS]
    messages += [said_back(thought, calls), *results(calls)]
    _, text, _ = ask(client, messages=messages, **ASKED)
    assert text == ANSWER
    messages += [
        {"role": "assistant", "content": text},
        {"role": "user", "content": "And the weather in Rome?"},
    ]
    _, _, [only] = ask(client, messages=messages, **ASKED)
    assert json.loads(only[2]) == {"city": "Rome"}
    assert provider.statuses == [200, 200, 200]


def test_an_open_call_is_refused(simulate, connect):
    client = connect(simulate("cohere"))
    messages = [{"role": "user", "content": QUESTION}]
    thought, _, calls = replied(client, messages=messages, **ASKED)
    messages += [said_back(thought, calls), *results(calls)[:1]]
    with pytest.raises(cohere.BadRequestError) as caught:
        client.chat(messages=messages, **ASKED)
    assert "A call has no result" in caught.value.body["message"]


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault.RATE_LIMITED, cohere.TooManyRequestsError),
        (Fault.OVERLOADED, cohere.ServiceUnavailableError),
        (Fault.SERVER_ERROR, cohere.InternalServerError),
    ],
)
def test_a_fault_is_the_typed_error_of_the_client(simulate, connect, fault, error):
    client = connect(simulate("cohere", faults=[fault]))
    asked = {"request_options": {"max_retries": 0}, **ASKED}
    with pytest.raises(error):
        client.chat(messages=[{"role": "user", "content": "Hi"}], **asked)


def test_a_cut_stream_breaks_in_the_client(simulate, connect):
    client = connect(simulate("cohere", faults=[Fault.CUT_STREAM]))
    with pytest.raises((httpx.RemoteProtocolError, api_error.ApiError)):
        streamed(client, messages=[{"role": "user", "content": QUESTION}], **ASKED)


def test_an_error_inside_a_stream_is_told_at_its_end(simulate, connect):
    client = connect(simulate("cohere", faults=[Fault.ERROR_IN_200]))
    *_, last = client.chat_stream(messages=[{"role": "user", "content": QUESTION}], **ASKED)
    assert (last.type, last.delta.finish_reason) == ("message-end", "ERROR")


def test_keys_and_models_are_checked(simulate, connect):
    provider = simulate("cohere", keys=["right"], models=["command-a-03-2025"])
    assert [one.name for one in connect(provider, "right").models.list().models] == [
        "command-a-03-2025"
    ]
    with pytest.raises(cohere.UnauthorizedError):
        connect(provider, "wrong").models.list()
    with pytest.raises(cohere.NotFoundError):
        connect(provider, "right").chat(
            model="command-z", messages=[{"role": "user", "content": "Hi"}]
        )
