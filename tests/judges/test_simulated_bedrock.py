"""The AWS SDK talks to the simulated Converse API: its own signing, its own binary frames."""

import json
from contextlib import closing

import pytest

from canonicall.testing.faults import Fault
from judges.simulated import ANSWER, ARGUMENTS, NAMES, QUESTION, RESULTS, SCHEMA
from judges.sources import MISSING

boto3 = pytest.importorskip("boto3", reason=MISSING)
config = pytest.importorskip("botocore.config", reason=MISSING)
urllib3 = pytest.importorskip("urllib3.exceptions", reason=MISSING)
exceptions = pytest.importorskip("botocore.exceptions", reason=MISSING)

TOOLS = [
    {"toolSpec": {"name": name, "description": name, "inputSchema": {"json": SCHEMA}}}
    for name in NAMES
]
CLAUDE, NOVA = "anthropic.claude-haiku-4-5-20251001-v1:0", "amazon.nova-pro-v1:0"
ASKED = {"toolConfig": {"tools": TOOLS}, "inferenceConfig": {"maxTokens": 3000}}
THINKING = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
THOUGHTFUL = {**ASKED, "modelId": CLAUDE, "additionalModelRequestFields": THINKING}
PLAIN = {**ASKED, "modelId": NOVA}
ways = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])


@pytest.fixture(scope="module")
def session():
    """Reading the descriptions of the services is dear: once for all tests."""
    return boto3.Session(
        aws_access_key_id="any",
        aws_secret_access_key="any",  # noqa: S106  any will do
        region_name="us-east-1",
    )


@pytest.fixture
def connect(session):
    """Clients that are closed behind the test."""
    clients = []
    options = config.Config(retries={"total_max_attempts": 1})

    def open_client(provider, service="bedrock-runtime"):
        clients.append(session.client(service, endpoint_url=provider.url, config=options))
        return clients[-1]

    yield open_client
    for client in clients:
        client.close()


def said(client, streamed, **asked):
    """The message of a reply."""
    if not streamed:
        return client.converse(**asked)["output"]["message"]
    with closing(client.converse_stream(**asked)["stream"]) as stream:
        return {"role": "assistant", "content": folded(stream)}


def folded(stream):
    """The content blocks of a stream, put together."""
    blocks = {}
    for event in stream:
        if "contentBlockStart" in event:
            start = event["contentBlockStart"]
            tool = start["start"]["toolUse"]
            blocks[start["contentBlockIndex"]] = {"toolUse": {**tool, "input": ""}}
        elif "contentBlockDelta" in event:
            at, delta = (event["contentBlockDelta"][key] for key in ("contentBlockIndex", "delta"))
            grow(blocks.setdefault(at, {}), delta)
    for block in blocks.values():
        if "toolUse" in block:
            block["toolUse"]["input"] = json.loads(block["toolUse"]["input"] or "{}")
    return list(blocks.values())


def grow(block, delta):
    if "toolUse" in delta:
        block["toolUse"]["input"] += delta["toolUse"]["input"]
    elif "reasoningContent" in delta:
        told = block.setdefault("reasoningContent", {"reasoningText": {"text": ""}})
        for key, piece in delta["reasoningContent"].items():
            told["reasoningText"][key] = told["reasoningText"].get(key, "") + piece
    else:
        block["text"] = block.get("text", "") + delta["text"]


def uses(message):
    return [block["toolUse"] for block in message["content"] if "toolUse" in block]


def results(message):
    content = [
        {
            "toolResult": {
                "toolUseId": one["toolUseId"],
                "content": [{"text": RESULTS[one["name"]]}],
            }
        }
        for one in uses(message)
    ]
    return {"role": "user", "content": content}


def user(text):
    return {"role": "user", "content": [{"text": text}]}


@ways
@pytest.mark.parametrize("asked", [THOUGHTFUL, PLAIN], ids=["thinking", "plain"])
def test_a_conversation_with_tools(simulate, connect, asked, streamed):
    provider = simulate("bedrock")
    client = connect(provider)
    messages = [user(QUESTION)]
    first = said(client, streamed, messages=messages, **asked)
    assert [one["name"] for one in uses(first)] == NAMES
    assert [one["input"] for one in uses(first)] == [ARGUMENTS, ARGUMENTS]
    assert ("reasoningContent" in first["content"][0]) == (asked is THOUGHTFUL)
    messages += [first, results(first)]
    second = said(client, streamed, messages=messages, **asked)
    assert second["content"][-1]["text"] == ANSWER
    messages += [second, user("And the weather in Rome?")]
    (only,) = uses(said(client, streamed, messages=messages, **asked))
    assert only["input"] == {"city": "Rome"}
    assert provider.statuses == [200, 200, 200]


def test_a_changed_thought_is_refused(simulate, connect):
    client = connect(simulate("bedrock"))
    messages = [user(QUESTION)]
    first = said(client, streamed=False, messages=messages, **THOUGHTFUL)
    first["content"][0]["reasoningContent"]["reasoningText"]["text"] = "Something else."
    messages += [first, results(first)]
    with pytest.raises(client.exceptions.ValidationException, match="Invalid `signature`"):
        client.converse(messages=messages, **THOUGHTFUL)


def test_an_open_call_is_refused_in_the_words_of_the_api(simulate, connect):
    client = connect(simulate("bedrock"))
    messages = [user(QUESTION)]
    first = said(client, streamed=False, messages=messages, **PLAIN)
    messages += [first, user("Well?")]
    words = "Expected toolResult blocks at messages.2.content for the following Ids"
    with pytest.raises(client.exceptions.ValidationException, match=words):
        client.converse(messages=messages, **PLAIN)


@pytest.mark.parametrize(
    ("fault", "name"),
    [
        (Fault.RATE_LIMITED, "ThrottlingException"),
        (Fault.OVERLOADED, "ServiceUnavailableException"),
        (Fault.SERVER_ERROR, "InternalServerException"),
    ],
)
def test_a_fault_is_the_typed_error_of_the_client(simulate, connect, fault, name):
    client = connect(simulate("bedrock", faults=[fault]))
    with pytest.raises(getattr(client.exceptions, name)):
        client.converse(messages=[user("Hi")], **PLAIN)


def test_an_exception_inside_a_stream_is_raised_by_the_client(simulate, connect):
    client = connect(simulate("bedrock", faults=[Fault.ERROR_IN_200]))
    with pytest.raises(exceptions.EventStreamError, match="modelStreamErrorException"):
        said(client, streamed=True, messages=[user(QUESTION)], **PLAIN)


def test_a_cut_stream_breaks_in_the_client(simulate, connect):
    client = connect(simulate("bedrock", faults=[Fault.CUT_STREAM]))
    with pytest.raises((exceptions.HTTPClientError, urllib3.ProtocolError)):
        said(client, streamed=True, messages=[user(QUESTION)], **PLAIN)


def test_tokens_are_counted_and_models_listed_and_checked(simulate, connect):
    provider = simulate("bedrock", models=[NOVA])
    client = connect(provider)
    asked = {"converse": {"messages": [user(QUESTION)]}}
    assert client.count_tokens(modelId=NOVA, input=asked)["inputTokens"] > 0
    (listed,) = connect(provider, "bedrock").list_foundation_models()["modelSummaries"]
    assert listed["modelId"] == NOVA
    with pytest.raises(client.exceptions.ValidationException, match="identifier is invalid"):
        client.converse(messages=[user("Hi")], **THOUGHTFUL)
