"""The Google SDK talks to the simulated Gemini API."""

import asyncio

import pytest

from canonicall.testing.faults import Fault
from judges.simulated import ANSWER, ARGUMENTS, NAMES, QUESTION, RESULTS, SCHEMA
from judges.sources import MISSING

genai = pytest.importorskip("google.genai", reason=MISSING)
errors = pytest.importorskip("google.genai.errors", reason=MISSING)
httpx2 = pytest.importorskip("httpx2", reason=MISSING)

DECLARED = [{"name": name, "description": name, "parameters_json_schema": SCHEMA} for name in NAMES]
CONFIG = {
    "tools": [{"function_declarations": DECLARED}],
    "automatic_function_calling": {"disable": True},
    "thinking_config": {"include_thoughts": True},
}
SIGNING, FREE = "gemini-3-pro-preview", "gemini-2.5-flash"
ways = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])


@pytest.fixture
def connect():
    """Clients that are closed behind the test."""
    clients = []

    def open_client(provider, key="any"):
        clients.append(genai.Client(api_key=key, http_options={"base_url": provider.url}))
        return clients[-1].models

    yield open_client
    for client in clients:
        client.close()


def generated(models, streamed, **asked):
    """The content of the reply, as it goes back."""
    if not streamed:
        return models.generate_content(config=CONFIG, **asked).candidates[0].content
    parts = [
        part
        for chunk in models.generate_content_stream(config=CONFIG, **asked)
        for part in chunk.candidates[0].content.parts or ()
    ]
    return genai.types.Content(role="model", parts=parts)


def calls(content):
    return [part.function_call for part in content.parts if part.function_call]


def words(content):
    return "".join(part.text for part in content.parts if part.text and not part.thought)


def user(text):
    return genai.types.Content(role="user", parts=[genai.types.Part(text=text)])


def results(content):
    parts = [
        genai.types.Part(
            function_response=genai.types.FunctionResponse(
                id=one.id, name=one.name, response={"output": RESULTS[one.name]}
            )
        )
        for one in calls(content)
    ]
    return genai.types.Content(role="user", parts=parts)


@ways
@pytest.mark.parametrize("model", [SIGNING, FREE])
def test_a_conversation_with_tools_and_thinking(simulate, connect, model, streamed):
    provider = simulate("gemini")
    models = connect(provider)
    contents = [user(QUESTION)]
    first = generated(models, streamed, model=model, contents=contents)
    assert [one.name for one in calls(first)] == NAMES
    assert [one.args for one in calls(first)] == [ARGUMENTS, ARGUMENTS]
    assert any(part.thought for part in first.parts)
    signed = [bool(part.thought_signature) for part in first.parts if part.function_call]
    assert signed == [model == SIGNING, False]
    contents += [first, results(first)]
    second = generated(models, streamed, model=model, contents=contents)
    assert words(second).strip() == ANSWER
    contents += [second, user("And the weather in Rome?")]
    (only,) = calls(generated(models, streamed, model=model, contents=contents))
    assert only.args == {"city": "Rome"}
    assert provider.statuses == [200, 200, 200]


def test_a_lost_signature_is_missed_and_one_of_another_model_is_refused(simulate, connect):
    models = connect(simulate("gemini"))
    contents = [user(QUESTION)]
    first = generated(models, streamed=False, model=SIGNING, contents=contents)
    contents += [first, results(first)]
    with pytest.raises(errors.ClientError, match="thought signature"):
        models.generate_content(model="gemini-3-flash-preview", contents=contents, config=CONFIG)
    for part in first.parts:
        part.thought_signature = None
    with pytest.raises(errors.ClientError, match="missing a thought_signature"):
        models.generate_content(model=SIGNING, contents=contents, config=CONFIG)


def test_a_signature_of_vertex_is_none_of_geminis(simulate, connect):
    contents = [user(QUESTION)]
    first = generated(connect(simulate("vertex")), False, model=SIGNING, contents=contents)
    contents += [first, results(first)]
    with pytest.raises(errors.ClientError, match="thought signature"):
        connect(simulate("gemini")).generate_content(
            model=SIGNING, contents=contents, config=CONFIG
        )


def test_an_open_call_is_refused_in_the_words_of_the_api(simulate, connect):
    models = connect(simulate("gemini"))
    contents = [user(QUESTION)]
    first = generated(models, streamed=False, model=FREE, contents=contents)
    one_result = genai.types.Content(role="user", parts=results(first).parts[:1])
    contents += [first, one_result]
    with pytest.raises(errors.ClientError, match="number of function response parts") as caught:
        models.generate_content(model=FREE, contents=contents, config=CONFIG)
    assert (caught.value.code, caught.value.status) == (400, "INVALID_ARGUMENT")


@pytest.mark.parametrize(
    ("fault", "error", "status"),
    [
        (Fault.RATE_LIMITED, errors.ClientError, "RESOURCE_EXHAUSTED"),
        (Fault.OVERLOADED, errors.ServerError, "UNAVAILABLE"),
        (Fault.SERVER_ERROR, errors.ServerError, "INTERNAL"),
    ],
)
def test_a_fault_is_the_typed_error_of_the_client(simulate, connect, fault, error, status):
    models = connect(simulate("gemini", faults=[fault]))
    with pytest.raises(error) as caught:
        models.generate_content(model=FREE, contents="Hi")
    assert caught.value.status == status


@pytest.mark.parametrize("fault", [Fault.CUT_STREAM, Fault.ERROR_IN_200])
def test_a_stream_that_does_not_end_breaks_in_the_client(simulate, connect, fault):
    models = connect(simulate("gemini", faults=[fault]))
    with pytest.raises((errors.APIError, httpx2.RemoteProtocolError)):
        list(models.generate_content_stream(model=FREE, contents=QUESTION))


def test_tokens_are_counted_and_models_listed(simulate, connect):
    models = connect(simulate("gemini"))
    assert models.count_tokens(model=FREE, contents=QUESTION).total_tokens > 0
    assert f"models/{FREE}" in [one.name for one in models.list()]
    assert models.get(model=FREE).name == f"models/{FREE}"


def test_keys_and_models_are_checked(simulate, connect):
    provider = simulate("gemini", keys=["right"], models=[FREE])
    with pytest.raises(errors.ClientError, match="API key not valid"):
        connect(provider, "wrong").generate_content(model=FREE, contents="Hi")
    with pytest.raises(errors.ClientError, match="is not found for API version v1beta"):
        connect(provider, "right").generate_content(model=SIGNING, contents="Hi")


# The SDK's own way with aiohttp, where that is installed.
@pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning")
def test_the_asynchronous_client(simulate):
    async def ask(url):
        async with genai.Client(api_key="any", http_options={"base_url": url}).aio as client:
            return await client.models.generate_content(
                model=FREE, contents=QUESTION, config=CONFIG
            )

    reply = asyncio.run(ask(simulate("gemini").url))
    assert [one.name for one in reply.function_calls] == NAMES
