"""The Anthropic SDK's threads and tool runner against the simulated Messages API."""

import pytest

from canonicall.testing import call, says
from judges.sources import MISSING

anthropic = pytest.importorskip("anthropic", reason=MISSING)

MODEL = "claude-haiku-4-5"
QUESTION = {"role": "user", "content": "What is the weather in Paris?"}
THREADS = ["message-threads-2026-08-12"]
ways = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
LOOP = [
    says(call("get_weather", city="Paris")),
    says("One more.", call("get_weather", city="Oslo")),
    "Sunny, then snow.",
]


@pytest.fixture(scope="module")
def connections():
    with anthropic.DefaultHttpxClient() as shared:
        yield shared


@pytest.fixture
def connect(connections):
    def open_client(provider):
        url = provider.url
        return anthropic.Anthropic(
            base_url=url, api_key="any", max_retries=0, http_client=connections
        )

    return open_client


@anthropic.beta_tool
def get_weather(city: str) -> str:
    """The weather in a city."""
    return f"fair in {city}"


def bodies(provider):
    return [one.body for one in provider.simulator.seen]


def read(request):
    """What a model can read in a request."""
    messages = request.conversation.messages
    return [one.text or [result.text for result in one.results] for one in messages]


def run(client, streamed, **options):
    """The last message of a tool runner with its defaults."""
    asked = {"model": MODEL, "max_tokens": 1000, "system": "Be brief.", "messages": [QUESTION]}
    runner = client.beta.messages.tool_runner(
        **asked, tools=[get_weather], **({"stream": True} if streamed else {}), **options
    )
    return runner.until_done()


@ways
def test_the_tool_runner_continues_a_thread(simulate, connect, streamed):
    provider = simulate("anthropic", script=LOOP)
    final = run(connect(provider), streamed)
    assert final.content[0].text == "Sunny, then snow."
    assert provider.statuses == [200] * 3
    first, *later = bodies(provider)
    assert first["thread"] == {"type": "create"}
    assert [one["thread"]["type"] for one in later] == ["continue"] * 2
    assert [len(one["messages"]) for one in later] == [1, 1]
    assert not any("system" in one or "tools" in one for one in later)
    # The model read the whole conversation, system and tools among it.
    request = provider.simulator.model.requests[-1]
    assert read(request)[:2] == ["Be brief.", QUESTION["content"]]
    assert [result.text for one in request.conversation.messages for result in one.results] == [
        "fair in Paris",
        "fair in Oslo",
    ]
    assert [tool.name for tool in request.tools] == ["get_weather"]


def test_a_thread_that_is_lost_is_sent_again(simulate, connect):
    """The SDK recovers from the errors that it has a type for."""
    client = connect(simulate("anthropic", script=LOOP))
    thread = client.beta.messages.thread(model=MODEL, max_tokens=500, tools=[get_weather.to_dict()])
    asked = thread.send(QUESTION)
    other = simulate("anthropic", script=["Sunny."])
    client.base_url = other.url
    result = {"type": "tool_result", "tool_use_id": asked.content[0].id, "content": "fair"}
    assert thread.send({"role": "user", "content": [result]}).content[0].text == "Sunny."
    assert other.statuses == [404, 200]
    assert [one["thread"]["type"] for one in bodies(other)] == ["continue", "create"]
    assert len(bodies(other)[1]["messages"]) == 3


@ways
def test_the_runner_goes_on_without_threads_where_they_are_refused(simulate, connect, streamed):
    provider = simulate("anthropic", script=LOOP, faults=["thread_unsupported"])
    assert run(connect(provider), streamed).content[0].text == "Sunny, then snow."
    refused, *later = bodies(provider)
    assert provider.statuses == [400, 200, 200, 200]
    assert refused["thread"] == {"type": "create"}
    assert not any("thread" in one for one in later)
    assert [len(one["messages"]) for one in later] == [1, 3, 5]


def created(client, **more):
    asked = {"model": MODEL, "max_tokens": 500, "messages": [QUESTION], "betas": THREADS}
    return client.beta.messages.create(**{**asked, **more})


def going_on(id, **more):
    thread = {"type": "continue", "previous_message_id": id}
    return {"thread": thread, "messages": [{"role": "user", "content": "And then?"}], **more}


def test_each_reply_is_continued_once(simulate, connect):
    client = connect(simulate("anthropic"))
    first = created(client, thread={"type": "create"})
    second = created(client, **going_on(first.id))
    with pytest.raises(anthropic.types.ThreadAlreadyContinuedError):
        created(client, **going_on(first.id))
    assert created(client, **going_on(second.id)).id != second.id


def test_what_a_continuation_cannot_have(simulate, connect):
    client = connect(simulate("anthropic"))
    low = {"model": "claude-opus-4-5", "output_config": {"effort": "low"}}
    first = created(client, thread={"type": "create"}, **low)
    with pytest.raises(anthropic.types.ThreadNotFoundError) as lost:
        created(client, **going_on("msg_unknown"))
    assert lost.value.status_code == 404
    for field in ({"system": "Be long."}, {"tools": [get_weather.to_dict()]}):
        with pytest.raises(anthropic.BadRequestError, match="cannot be sent when a thread"):
            created(client, **going_on(first.id, **field))
    with pytest.raises(anthropic.types.ThreadFingerprintMismatchError, match="output_config"):
        created(client, **going_on(first.id))
    with pytest.raises(anthropic.BadRequestError, match="at least one message is required"):
        created(client, **going_on(first.id, **low, messages=[]))
    with pytest.raises(anthropic.BadRequestError, match="thread: Extra inputs are not permitted"):
        created(client, **going_on(first.id, betas=[]))
    # None of these has used the reply up.
    assert created(client, **going_on(first.id, **low)).content


def test_the_calls_of_a_thread_need_their_results(simulate, connect):
    client = connect(simulate("anthropic", script=LOOP))
    first = created(client, thread={"type": "create"}, tools=[get_weather.to_dict()])
    with pytest.raises(anthropic.BadRequestError, match="tool_use` ids were found without"):
        created(client, **going_on(first.id))


def test_a_host_that_only_speaks_the_format_has_no_threads(simulate, connect):
    provider = simulate("deepseek")
    asked = going_on("msg_unknown", model="deepseek-chat")
    with pytest.raises(anthropic.BadRequestError, match="this provider does not keep it"):
        created(connect(provider), **asked)


@ways
def test_the_runner_compacts_on_a_fork(simulate, connect, streamed):
    provider = simulate("anthropic")
    client = connect(provider)
    runner = client.beta.messages.tool_runner(
        model=MODEL,
        max_tokens=1000,
        messages=[QUESTION],
        tools=[get_weather],
        betas=["compact-2026-09-04"],
        **({"stream": True} if streamed else {}),
    )
    reasons = []
    for item in runner:
        message = item.get_final_message() if streamed else item
        reasons.append(message.stop_reason)
        if len(reasons) == 1:
            runner.compact_before_next_turn()
        if message.stop_reason == "compaction":
            (block,) = message.content
            assert block.type == "compaction"
            assert "What is the weather in Paris?" in block.content
    assert reasons == ["tool_use", "compaction", "end_turn"]
    assert provider.statuses == [200] * 3
    first, asked, last = bodies(provider)
    assert asked["compaction"] == {"type": "summarize"}
    assert [one["thread"]["type"] for one in (first, asked, last)] == ["create"] * 3
    assert last["messages"][0]["content"][0]["type"] == "compaction"


def test_a_summary_comes_back_as_it_was_made(simulate, connect):
    client = connect(simulate("anthropic"))
    betas = ["compact-2026-09-04"]
    made = created(client, compaction={"type": "summarize"}, betas=betas)
    assert (made.stop_reason, len(made.content)) == ("compaction", 1)
    block = made.content[0].to_dict(mode="json")
    for edit, error in (
        ({"content": "Other."}, anthropic.types.CompactionContentMismatchError),
        ({"signature": "Other."}, anthropic.types.CompactionSignatureInvalidError),
    ):
        history = [{"role": "assistant", "content": [{**block, **edit}]}, QUESTION]
        with pytest.raises(error):
            created(client, messages=history, betas=betas)
    history = [{"role": "assistant", "content": [block]}, QUESTION]
    assert created(client, messages=history, betas=betas).stop_reason == "end_turn"
    with pytest.raises(anthropic.types.CompactionNothingToSummarizeError):
        created(client, compaction={"type": "summarize"}, betas=betas, messages=[])
    call = {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {}}
    unfinished = [QUESTION, {"role": "assistant", "content": [call]}]
    with pytest.raises(anthropic.types.CompactionIncompleteTurnError):
        created(client, compaction={"type": "summarize"}, betas=betas, messages=unfinished)
