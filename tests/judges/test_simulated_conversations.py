"""The OpenAI SDK's conversations, compaction and stored prompts against the simulated API."""

import pytest

from canonicall.testing import call, says
from judges.simulated import SCHEMA
from judges.sources import MISSING

openai = pytest.importorskip("openai", reason=MISSING)

MODEL = "gpt-5.2"
TOOL = {"type": "function", "name": "get_weather", "parameters": SCHEMA, "strict": False}
LOOP = [says(call("get_weather", city="Paris")), "Sunny.", "Still sunny."]
ways = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])


@pytest.fixture(scope="module")
def connections():
    with openai.DefaultHttpxClient() as shared:
        yield shared


@pytest.fixture
def connect(connections):
    def open_client(provider):
        url = f"{provider.url}/v1"
        return openai.OpenAI(base_url=url, api_key="any", max_retries=0, http_client=connections)

    return open_client


def responded(client, streamed=False, **asked):
    if not streamed:
        return client.responses.create(model=MODEL, **asked)
    with client.responses.stream(model=MODEL, **asked) as stream:
        return stream.get_final_response()


def texts(request):
    return [one.text for one in request.conversation.messages if one.text]


@ways
def test_a_conversation_keeps_the_turns(simulate, connect, streamed):
    provider = simulate("openai", script=LOOP)
    client = connect(provider)
    talk = client.conversations.create(
        items=[{"type": "message", "role": "developer", "content": "Be brief."}],
        metadata={"topic": "weather"},
    )
    asked = {"conversation": talk.id, "tools": [TOOL]}
    first = responded(client, streamed, input="The weather in Paris?", **asked)
    (made,) = [one for one in first.output if one.type == "function_call"]
    result = {"type": "function_call_output", "call_id": made.call_id, "output": "fair"}
    assert responded(client, streamed, input=[result], **asked).output_text == "Sunny."
    last = responded(
        client, streamed, input="And now?", **{**asked, "conversation": {"id": talk.id}}
    )
    assert last.output_text == "Still sunny."
    assert last.conversation.id == talk.id
    assert texts(provider.simulator.model.requests[-1]) == [
        "Be brief.",
        "The weather in Paris?",
        "Sunny.",
        "And now?",
    ]
    items = list(client.conversations.items.list(talk.id, order="asc", limit=2))
    assert [one.type for one in items] == [
        *("message", "message", "function_call", "function_call_output"),
        *("message", "message", "message"),
    ]
    assert next(iter(client.conversations.items.list(talk.id))).content[0].text == "Still sunny."


def test_conversations_are_made_read_changed_and_deleted(simulate, connect):
    client = connect(simulate("openai"))
    talk = client.conversations.create()
    assert (talk.object, talk.metadata) == ("conversation", {})
    assert client.conversations.update(talk.id, metadata={"a": "b"}).metadata == {"a": "b"}
    assert client.conversations.retrieve(talk.id).metadata == {"a": "b"}
    said = {"type": "message", "role": "user", "content": "Hi"}
    added = client.conversations.items.create(talk.id, items=[said, said])
    assert [one.content[0].text for one in added.data] == ["Hi", "Hi"]
    assert added.data[0].id != added.data[1].id
    one = client.conversations.items.retrieve(added.data[0].id, conversation_id=talk.id)
    assert one.id == added.first_id
    client.conversations.items.delete(one.id, conversation_id=talk.id)
    with pytest.raises(openai.NotFoundError):
        client.conversations.items.retrieve(one.id, conversation_id=talk.id)
    with pytest.raises(openai.BadRequestError, match="maximum length 20"):
        client.conversations.items.create(talk.id, items=[said] * 21)
    assert client.conversations.delete(talk.id).deleted
    for ask in (client.conversations.retrieve, client.conversations.delete):
        with pytest.raises(openai.NotFoundError, match=f"Conversation with id '{talk.id}' not"):
            ask(talk.id)
    with pytest.raises(openai.NotFoundError, match="Conversation with id"):
        responded(client, input="Hi", conversation=talk.id)


def test_one_state_at_a_time(simulate, connect):
    client = connect(simulate("openai"))
    talk, first = client.conversations.create(), responded(client, input="Hi")
    with pytest.raises(openai.BadRequestError, match="Mutually exclusive parameters"):
        responded(client, input="Hi", conversation=talk.id, previous_response_id=first.id)


def test_a_refused_turn_is_not_added(simulate, connect):
    client = connect(simulate("openai", script=LOOP))
    talk = client.conversations.create()
    asked = {"conversation": talk.id, "tools": [TOOL]}
    responded(client, input="The weather in Paris?", **asked)
    with pytest.raises(openai.BadRequestError, match="No tool output found"):
        responded(client, input="Well?", **asked)
    assert len(list(client.conversations.items.list(talk.id))) == 2


def test_a_conversation_is_compacted(simulate, connect):
    provider = simulate("openai")
    client = connect(provider)
    history = [
        {"role": "user", "content": "I live in Oslo."},
        {"role": "assistant", "content": "Noted."},
        {"role": "user", "content": "I like snow."},
    ]
    packed = client.responses.compact(model=MODEL, input=history)
    assert packed.object == "response.compaction"
    assert [one.type for one in packed.output] == ["message", "message", "compaction"]
    assert packed.usage.total_tokens > 0
    summary = packed.output[-1].to_dict(mode="json")
    read = []
    provider.simulator.model = lambda request: read.extend(texts(request)) or says("Yes.")
    client.responses.create(model=MODEL, input=[summary, {"role": "user", "content": "Where?"}])
    assert "I live in Oslo." in read[0]
    assert "Noted." in read[0]
    foreign = {**summary, "encrypted_content": "gAAA"}
    with pytest.raises(openai.BadRequestError, match="could not be verified"):
        client.responses.create(model=MODEL, input=[foreign])
    with pytest.raises(openai.BadRequestError, match="could not be verified"):
        client.responses.create(model="gpt-4.1", input=[summary])


def test_a_stored_response_is_compacted(simulate, connect):
    client = connect(simulate("openai"))
    first = responded(client, input="I live in Oslo.")
    packed = client.responses.compact(model=MODEL, previous_response_id=first.id)
    assert [one.type for one in packed.output] == ["message", "compaction"]
    with pytest.raises(openai.BadRequestError, match="Previous response with id"):
        client.responses.compact(model=MODEL, previous_response_id="resp_unknown")


PROMPTS = {
    "pmpt_weather": {
        "1": {"model": MODEL, "instructions": "Old."},
        "2": {
            "model": MODEL,
            "instructions": "You are in {{ city }}.",
            "input": [{"role": "user", "content": "Say {{word}}."}],
            "tools": [TOOL],
        },
    }
}


def test_a_stored_prompt_is_filled(simulate, connect):
    provider = simulate("openai", script=["Yes."] * 3, prompts=PROMPTS)
    client = connect(provider)
    values = {"city": "Oslo", "word": {"type": "input_text", "text": "hello"}}
    prompt = {"id": "pmpt_weather", "variables": values}
    made = client.responses.create(prompt=prompt, input="Now.")
    assert (made.output_text, made.model, made.prompt.id) == ("Yes.", MODEL, "pmpt_weather")
    request = provider.simulator.model.requests[-1]
    assert texts(request) == ["You are in Oslo.", "Say hello.", "Now."]
    assert [tool.name for tool in request.tools] == ["get_weather"]
    client.responses.create(prompt={"id": "pmpt_weather", "version": "1"}, input="Now.")
    assert texts(provider.simulator.model.requests[-1]) == ["Old.", "Now."]


def test_a_prompt_that_is_not_stored_is_refused(simulate, connect):
    client = connect(simulate("openai", prompts=PROMPTS))
    with pytest.raises(openai.NotFoundError, match="Prompt with id 'pmpt_other' not found"):
        client.responses.create(prompt={"id": "pmpt_other"}, input="Hi")
    with pytest.raises(openai.NotFoundError, match="version '9' not found"):
        client.responses.create(prompt={"id": "pmpt_weather", "version": "9"}, input="Hi")
    with pytest.raises(openai.BadRequestError, match="Missing prompt variables: city"):
        client.responses.create(prompt={"id": "pmpt_weather"}, input="Hi")
