"""The OpenAI SDK talks to the simulated Responses API, stored state and all."""

import json

import pytest

from canonicall.testing.faults import Fault
from judges.simulated import ANSWER, ARGUMENTS, NAMES, QUESTION, RESULTS, SCHEMA
from judges.sources import MISSING

openai = pytest.importorskip("openai", reason=MISSING)
httpx2 = pytest.importorskip("httpx2", reason=MISSING)

TOOLS = [
    {"type": "function", "name": name, "description": name, "parameters": SCHEMA, "strict": False}
    for name in NAMES
]
ASKED = {"model": "gpt-5.2", "tools": TOOLS, "reasoning": {"effort": "low"}}
ways = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])


@pytest.fixture(scope="module")
def connections():
    with openai.DefaultHttpxClient() as shared:
        yield shared


@pytest.fixture
def connect(connections):
    def open_client(provider):
        url = f"{provider.url}/v1"
        return openai.OpenAI(
            base_url=url, api_key="any", max_retries=0, http_client=connections
        ).responses

    return open_client


def responded(responses, streamed, **asked):
    if not streamed:
        return responses.create(**asked)
    with responses.stream(**asked) as stream:
        return stream.get_final_response()


def as_input(response):
    """The output of a response as it goes back, without what the client's parser added."""
    items = [item.to_dict(mode="json") for item in response.output]
    for item in items:
        item.pop("parsed_arguments", None)
    return items


def outputs(response):
    return [
        {"type": "function_call_output", "call_id": one.call_id, "output": RESULTS[one.name]}
        for one in response.output
        if one.type == "function_call"
    ]


@ways
def test_a_conversation_that_the_client_keeps(simulate, connect, streamed):
    """Nothing is stored: reasoning goes back encrypted, with its calls."""
    provider = simulate("openai")
    responses = connect(provider)
    said = [{"role": "user", "content": QUESTION}]
    first = responded(responses, streamed, input=said, store=False, **ASKED)
    assert [item.type for item in first.output] == ["reasoning", "function_call", "function_call"]
    assert first.output[0].encrypted_content
    assert [json.loads(item.arguments) for item in first.output[1:]] == [ARGUMENTS, ARGUMENTS]
    said += [*as_input(first), *outputs(first)]
    second = responded(responses, streamed, input=said, store=False, **ASKED)
    assert second.output_text == ANSWER
    said += [*as_input(second), {"role": "user", "content": "And the weather in Rome?"}]
    third = responded(responses, streamed, input=said, store=False, **ASKED)
    assert [item.name for item in third.output if item.type == "function_call"] == ["get_weather"]
    assert provider.statuses == [200, 200, 200]


@ways
def test_a_conversation_that_the_provider_keeps(simulate, connect, streamed):
    """Each request has only what is new; the responses can be read again and deleted."""
    provider = simulate("openai")
    responses = connect(provider)
    first = responded(responses, streamed, input=QUESTION, **ASKED)
    second = responded(
        responses, streamed, input=outputs(first), previous_response_id=first.id, **ASKED
    )
    assert second.output_text == ANSWER
    third = responded(
        responses,
        streamed,
        input="And the weather in Rome?",
        previous_response_id=second.id,
        **ASKED,
    )
    assert [item.name for item in third.output if item.type == "function_call"] == ["get_weather"]
    assert responses.retrieve(second.id).output_text == ANSWER
    kinds = [item.type for item in responses.input_items.list(second.id)]
    calls, results = ["function_call"] * 2, ["function_call_output"] * 2
    assert kinds == ["message", "reasoning", *calls, *results]
    responses.delete(first.id)
    with pytest.raises(openai.NotFoundError, match="not found"):
        responses.retrieve(first.id)
    with pytest.raises(openai.NotFoundError):
        responses.input_items.list(first.id)
    with pytest.raises(openai.BadRequestError, match="Previous response with id"):
        responses.create(input="Go on.", previous_response_id=first.id, **ASKED)


def test_what_is_not_stored_cannot_be_gone_on_with(simulate, connect):
    responses = connect(simulate("openai"))
    first = responses.create(input=QUESTION, store=False, **ASKED)
    with pytest.raises(openai.BadRequestError) as caught:
        responses.create(input="Go on.", previous_response_id=first.id, **ASKED)
    assert caught.value.code == "previous_response_not_found"


def test_an_item_can_be_named_by_its_id_where_it_is_stored(simulate, connect):
    provider = simulate("openai")
    responses = connect(provider)
    said = [{"role": "user", "content": QUESTION}]
    for stored in (True, False):
        first = responses.create(input=said, store=stored, **ASKED)
        named = [{"type": "item_reference", "id": item.id} for item in first.output]
        asked = {"input": [*said, *named, *outputs(first)], **ASKED}
        if stored:
            assert responses.create(**asked).output_text == ANSWER
        else:
            with pytest.raises(openai.BadRequestError, match="Items are not persisted"):
                responses.create(**asked)


def test_reasoning_of_another_service_cannot_be_read(simulate, connect):
    said = [{"role": "user", "content": QUESTION}]
    first = connect(simulate("azure")).create(input=said, store=False, **ASKED)
    said += [*as_input(first), *outputs(first)]
    with pytest.raises(openai.BadRequestError, match="could not be verified") as caught:
        connect(simulate("openai")).create(input=said, store=False, **ASKED)
    assert caught.value.code == "invalid_encrypted_content"


def test_an_open_call_is_refused(simulate, connect):
    responses = connect(simulate("openai"))
    first = responses.create(input=QUESTION, **ASKED)
    with pytest.raises(openai.BadRequestError, match="No tool output found for function call"):
        responses.create(input=outputs(first)[:1], previous_response_id=first.id, **ASKED)


def test_a_fault_is_the_typed_error_of_the_client(simulate, connect):
    responses = connect(simulate("openai", faults=[Fault.RATE_LIMITED]))
    with pytest.raises(openai.RateLimitError):
        responses.create(input=QUESTION, stream=True, **ASKED)


def test_a_stream_that_fails_says_so_at_its_end(simulate, connect):
    """The client hands the event on and raises nothing."""
    responses = connect(simulate("openai", faults=[Fault.ERROR_IN_200]))
    *_, last = responses.create(input=QUESTION, stream=True, **ASKED)
    assert last.type == "response.failed"
    assert "had an error" in last.response.error.message


def test_a_cut_stream_breaks_in_the_client(simulate, connect):
    responses = connect(simulate("openai", faults=[Fault.CUT_STREAM]))
    with pytest.raises((openai.APIError, httpx2.RemoteProtocolError)):
        list(responses.create(input=QUESTION, stream=True, **ASKED))


@pytest.mark.parametrize(("host", "model"), [("xai", "grok-4.3"), ("deepseek", "deepseek-v4")])
def test_other_hosts_of_the_format(simulate, connect, host, model):
    provider = simulate(host)
    responses = connect(provider)
    asked = {**ASKED, "model": model, "store": False}
    said = [{"role": "user", "content": QUESTION}]
    first = responses.create(input=said, **asked)
    said += [*as_input(first), *outputs(first)]
    assert responses.create(input=said, **asked).output_text == ANSWER
