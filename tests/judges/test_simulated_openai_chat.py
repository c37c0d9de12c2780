"""The OpenAI SDK talks to the simulated hosts of Chat Completions."""

import asyncio
import json

import pytest

from canonicall.testing.faults import Fault
from canonicall.testing.script import call, says, thought
from judges.simulated import ANSWER, ARGUMENTS, FUNCTIONS, NAMES, QUESTION, RESULTS
from judges.sources import MISSING

openai = pytest.importorskip("openai", reason=MISSING)
httpx2 = pytest.importorskip("httpx2", reason=MISSING)

HOSTS = {
    "openai": "gpt-5.2",
    "azure": "gpt-4.1",
    "mistral": "mistral-large-latest",
    "kimi": "kimi-k2-0905-preview",
    "deepseek": "deepseek-chat",
    "xai": "grok-4-1-fast",
    "groq": "llama-3.3-70b-versatile",
    "cerebras": "qwen-3-coder-480b",
    "openrouter": "anthropic/claude-sonnet-4.5",
    "qwen": "qwen3-max",
    "zai": "glm-4.6",
    "minimax": "MiniMax-M2",
    "vllm": "any-model",
    "generic": "any-model",
}
WORDS = {
    "deepseek": "insufficient tool messages following tool_calls message",
    "minimax": "tool call result does not follow tool call (2013)",
    "zai": '"code":"1214"',
}
DEMANDING = {"deepseek": "deepseek-reasoner", "kimi": "kimi-k2-thinking"}
ways = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])


@pytest.fixture(scope="module")
def connections():
    with openai.DefaultHttpxClient() as shared:
        yield shared


@pytest.fixture
def connect(connections):
    """Makes clients; all share their connections, which are dear to set up."""

    def open_client(provider, **options):
        options = {"api_key": "any", "max_retries": 0, **options}
        return openai.OpenAI(base_url=f"{provider.url}/v1", http_client=connections, **options)

    return open_client


def completed(client, streamed, **asked):
    if not streamed:
        return client.chat.completions.create(**asked)
    with client.chat.completions.stream(**asked) as stream:
        return stream.get_final_completion()


def as_sent(message):
    """A reply as it goes back: without what the client added, and no empty content."""
    calls = [
        {**one, "function": {"name": said["name"], "arguments": said["arguments"]}}
        for one in message["tool_calls"]
        for said in [one["function"]]
    ]
    for one in calls:
        one.pop("index", None)
    kept = {name: value for name, value in message.items() if value and name != "parsed"}
    return {**kept, "tool_calls": calls}


def results(calls):
    return [
        {"role": "tool", "tool_call_id": one.id, "content": RESULTS[one.function.name]}
        for one in calls
    ]


@ways
@pytest.mark.parametrize("host", HOSTS)
def test_a_conversation_with_tools(simulate, connect, host, streamed):
    """Two calls at once, two results, the answer, and a second question behind it."""
    provider = simulate(host)
    client = connect(provider)
    asked = {"model": HOSTS[host], "tools": FUNCTIONS}
    messages = [{"role": "user", "content": QUESTION}]
    choice = completed(client, streamed, messages=messages, **asked).choices[0]
    calls = choice.message.tool_calls
    assert choice.finish_reason == "tool_calls"
    assert [one.function.name for one in calls] == NAMES
    assert [json.loads(one.function.arguments) for one in calls] == [ARGUMENTS, ARGUMENTS]
    messages += [choice.message.to_dict(mode="json"), *results(calls)]
    messages[1] = as_sent(messages[1])
    answer = completed(client, streamed, messages=messages, **asked).choices[0].message
    assert answer.content == ANSWER
    messages += [
        {"role": "assistant", "content": answer.content},
        {"role": "user", "content": "And the weather in Rome?"},
    ]
    again = completed(client, streamed, messages=messages, **asked).choices[0].message
    (only,) = again.tool_calls
    assert json.loads(only.function.arguments) == {"city": "Rome"}
    assert only.id not in {one.id for one in calls}
    assert provider.statuses == [200, 200, 200]


@ways
@pytest.mark.parametrize("host", DEMANDING)
def test_reasoning_that_is_passed_back_is_accepted(simulate, connect, host, streamed):
    provider = simulate(host)
    client = connect(provider)
    asked = {"model": DEMANDING[host], "tools": FUNCTIONS}
    messages = [{"role": "user", "content": QUESTION}]
    reply = completed(client, streamed, messages=messages, **asked).choices[0].message
    assert reply.reasoning_content
    messages += [as_sent(reply.to_dict(mode="json")), *results(reply.tool_calls)]
    answer = completed(client, streamed, messages=messages, **asked).choices[0].message
    assert answer.content == ANSWER
    assert provider.statuses == [200, 200]


@pytest.mark.parametrize("host", DEMANDING)
def test_reasoning_that_is_not_passed_back_is_missed(simulate, connect, host):
    provider = simulate(host)
    client = connect(provider)
    asked = {"model": DEMANDING[host], "tools": FUNCTIONS}
    messages = [{"role": "user", "content": QUESTION}]
    reply = completed(client, streamed=False, messages=messages, **asked).choices[0].message
    calls = [one.to_dict(mode="json") for one in reply.tool_calls]
    messages += [{"role": "assistant", "content": "", "tool_calls": calls}]
    messages += results(reply.tool_calls)
    with pytest.raises(openai.BadRequestError, match="reasoning_content"):
        client.chat.completions.create(messages=messages, **asked)
    assert [one.code for one in provider.simulator.seen[-1].violations] == ["reasoning_missing"]


@ways
@pytest.mark.parametrize(
    ("host", "fields"),
    [
        ("xai", {"reasoning_content"}),
        ("groq", {"reasoning"}),
        ("openrouter", {"reasoning", "reasoning_details"}),
        ("openai", set()),
    ],
)
def test_thoughts_stand_where_the_host_shows_them(simulate, connect, host, fields, streamed):
    provider = simulate(host, script=[says(thought("Let me see."), "Four.")])
    asked = {"model": HOSTS[host], "messages": [{"role": "user", "content": "Two and two?"}]}
    reply = completed(connect(provider), streamed, **asked).choices[0].message
    shown = reply.to_dict(mode="json")
    assert reply.content == "Four."
    assert {name for name in shown if name.startswith("reasoning")} == fields
    assert all("Let me see." in json.dumps(shown[name]) for name in fields)


@pytest.mark.parametrize(
    "host", ["openai", "groq", "deepseek", "xai", "kimi", "qwen", "minimax", "zai"]
)
def test_an_open_call_is_refused_in_the_words_of_the_host(simulate, connect, host):
    provider = simulate(host)
    client = connect(provider)
    asked = {"model": HOSTS[host], "tools": FUNCTIONS}
    messages = [{"role": "user", "content": QUESTION}]
    reply = completed(client, streamed=False, messages=messages, **asked).choices[0].message
    messages += [as_sent(reply.to_dict(mode="json")), *results(reply.tool_calls)[:1]]
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(messages=messages, **asked)
    # The client shows the message of OpenAI's own envelope only; xAI has another.
    assert WORDS.get(host, "must be followed by tool messages") in caught.value.response.text
    assert provider.statuses == [200, 400]


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault.RATE_LIMITED, openai.RateLimitError),
        (Fault.OVERLOADED, openai.InternalServerError),
        (Fault.SERVER_ERROR, openai.InternalServerError),
    ],
)
def test_a_fault_is_the_typed_error_of_the_client(simulate, connect, fault, error):
    client = connect(simulate("openai", faults=[fault]))
    asked = {"model": "gpt-5.2", "messages": [{"role": "user", "content": "Hi"}]}
    with pytest.raises(error):
        client.chat.completions.create(**asked)
    assert client.chat.completions.create(**asked).choices[0].message.content


def test_the_client_tries_again_after_a_fault(simulate, connect):
    provider = simulate("openai", faults=[Fault.SERVER_ERROR])
    client = connect(provider, max_retries=1)
    asked = {"model": "gpt-5.2", "messages": [{"role": "user", "content": "Hi"}]}
    assert client.chat.completions.create(**asked).choices[0].message.content
    assert provider.statuses == [500, 200]


def test_a_cut_stream_breaks_in_the_client(simulate, connect):
    client = connect(simulate("openai", faults=[Fault.CUT_STREAM]))
    asked = {"model": "gpt-5.2", "messages": [{"role": "user", "content": QUESTION}]}
    with pytest.raises((openai.APIError, httpx2.RemoteProtocolError)):
        list(client.chat.completions.create(stream=True, **asked))


def test_an_error_inside_a_stream_is_raised_by_the_client(simulate, connect):
    client = connect(simulate("openai", faults=[Fault.ERROR_IN_200]))
    asked = {"model": "gpt-5.2", "messages": [{"role": "user", "content": QUESTION}]}
    with pytest.raises(openai.APIError, match="had an error"):
        list(client.chat.completions.create(stream=True, **asked))


def test_a_fault_can_be_asked_for_in_a_header(simulate, connect):
    client = connect(simulate("openai"), default_headers={"x-sim-fault": "reused_ids"})
    asked = {
        "model": "gpt-5.2",
        "tools": FUNCTIONS,
        "messages": [{"role": "user", "content": QUESTION}],
    }
    first, second = (
        [one.id for one in client.chat.completions.create(**asked).choices[0].message.tool_calls]
        for _ in range(2)
    )
    assert first == second


def test_keys_and_models_are_checked(simulate, connect):
    provider = simulate("openai", keys=["right"], models=["gpt-5.2"])
    right, wrong = connect(provider, api_key="right"), connect(provider, api_key="wrong")
    assert [one.id for one in right.models.list()] == ["gpt-5.2"]
    assert right.models.retrieve("gpt-5.2").id == "gpt-5.2"
    with pytest.raises(openai.AuthenticationError, match="Incorrect API key"):
        wrong.models.list()
    with pytest.raises(openai.NotFoundError, match="gpt-9"):
        right.chat.completions.create(model="gpt-9", messages=[{"role": "user", "content": "Hi"}])


def test_usage_comes_with_a_stream_where_it_is_asked_for(simulate, connect):
    client = connect(simulate("openai"))
    asked = {"model": "gpt-5.2", "messages": [{"role": "user", "content": "Hi"}], "stream": True}
    assert not any(chunk.usage for chunk in client.chat.completions.create(**asked))
    counted = client.chat.completions.create(stream_options={"include_usage": True}, **asked)
    assert list(counted)[-1].usage.total_tokens > 0


def test_a_script_says_what_is_answered(simulate, connect):
    script = [says("Let me look.", call("get_weather", city="Oslo")), "Cold."]
    client = connect(simulate("openai", script=script))
    asked = {
        "model": "gpt-5.2",
        "tools": FUNCTIONS,
        "messages": [{"role": "user", "content": "Well?"}],
    }
    first = client.chat.completions.create(**asked).choices[0].message
    assert first.content == "Let me look."
    assert json.loads(first.tool_calls[0].function.arguments) == {"city": "Oslo"}
    assert client.chat.completions.create(**asked).choices[0].message.content == "Cold."
    with pytest.raises(openai.InternalServerError, match="the script has 2 replies"):
        client.chat.completions.create(**asked)


async def _asked(url):
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0) as client:
        asked = {"model": "gpt-5.2", "messages": [{"role": "user", "content": "Hi"}]}
        async with client.chat.completions.stream(**asked) as stream:
            return await stream.get_final_completion()


def test_the_asynchronous_client(simulate):
    reply = asyncio.run(_asked(simulate("openai").url))
    assert reply.choices[0].message.content.startswith("You said: Hi")
