"""A delta is not a whole: what continues state on a server is sent as it is, or not at all."""

import json

import pytest
from msgspec.structs import replace

from batches import each
from canonicall import (
    MalformedBody,
    StateElsewhere,
    decode_request,
    detect_format,
    encode_request,
    get_target,
    provider_names,
    translate,
    verify,
)
from canonicall.deltas import other_state_api, state_names
from canonicall.facts.registry import get_profile
from canonicall.facts.target import FORMATS
from corpus.support import FORMATS as PROTOCOLS
from corpus.support import every_record, needs_corpus
from delta_bodies import ARN, DELTAS, OUTPUT, THREAD

OTHERS = ("openai", "anthropic", "gemini", "bedrock", "cohere", "ollama", "mistral")
INVENTED = ("ending_added", "bridge_added", "tool_stubs_added", "result_made_up", "words_added")
LOST = ("orphan_not_sent", "orphan_result", "result_not_sent", "stored_turns_lost")


def sent(delta):
    return encode_request(decode_request(delta.body, delta.format), delta.owner)


@each("name", DELTAS)
def test_it_is_recognised(name):
    delta = DELTAS[name]
    assert detect_format(delta.body) == delta.format
    assert delta.field in state_names(delta.body, delta.format)
    assert decode_request(delta.body, delta.format).continues is not None


@each("name", DELTAS)
def test_its_own_provider_gets_it_as_it_came(name):
    """Nothing is put in and nothing is left out, and the judge finds nothing in either."""
    delta = DELTAS[name]
    made = sent(delta)
    assert {key: value for key, value in made.body.items() if value != []} == {
        key: value for key, value in delta.body.items() if value != []
    }
    assert not {one.code for one in made.report} & {*INVENTED, *LOST}
    assert [one.code for one in made.report if one.code == "state_elsewhere"]
    assert made.report.changes == ()
    assert not verify(made.body, delta.owner)
    assert not verify(made.body, made.target)


@each("name", DELTAS)
def test_another_provider_gets_nothing(name):
    delta = DELTAS[name]
    for other in OTHERS:
        if get_target(other).format != delta.format:
            with pytest.raises(StateElsewhere, match=f"`{delta.field}`") as caught:
                translate(delta.body, delta.format, other)
            assert "Send the whole conversation" in str(caught.value)
            assert caught.value.names


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("openai", "azure/openai-responses"),
        ("azure", "openai/openai-responses"),
        ("openai", "openrouter/openai-responses"),
        ("openai", "chatgpt-codex"),
        ("openai-responses", "openrouter/openai-responses"),
    ],
)
def test_who_speaks_the_same_format_has_other_state(source, target):
    delta = DELTAS["an output after a response"]
    with pytest.raises(StateElsewhere, match="`previous_response_id`"):
        translate(delta.body, source, target)


def test_an_item_that_another_host_stores_is_not_left_out():
    """Whose item it is was not said: OpenAI's, which Azure cannot read."""
    body = {"model": "m", "input": [{"type": "item_reference", "id": "msg_1"}]}
    assert translate(body, "openai-responses", "openai/openai-responses").body == body
    assert translate(body, "azure", "azure/openai-responses").body == body
    with pytest.raises(StateElsewhere, match="`item_reference`"):
        translate(body, "openai-responses", "azure/openai-responses")


def test_only_the_claude_api_has_threads():
    delta = DELTAS["a result after a thread"]
    hosts = [name for name in provider_names() if "anthropic" in get_profile(name).formats]
    assert len(hosts) > 5
    for host in hosts:
        if host != "anthropic":
            with pytest.raises(StateElsewhere, match="`thread`"):
                translate(delta.body, "anthropic", f"{host}/anthropic")


def test_a_thread_that_is_created_is_whole():
    body = {
        "model": "claude-opus-5",
        "max_tokens": 9,
        "thread": {"type": "create"},
        "messages": [{"role": "user", "content": "Hi"}],
    }
    assert decode_request(body, "anthropic").continues is None
    assert translate(body, "anthropic", "anthropic").body == body
    assert "thread" not in translate(body, "anthropic", "openai").body
    body["messages"][0]["content"] = [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]
    assert "orphan_result_sent" in verify(body, "anthropic")


def test_what_a_thread_keeps_is_not_repeated():
    """The API refuses `system` and `tools` beside a thread that is continued."""
    tool = {"name": "f", "input_schema": {"type": "object"}}
    body = {
        "model": "claude-opus-5",
        "max_tokens": 9,
        "system": "Be brief.",
        "tools": [tool],
        "thread": THREAD,
        "messages": [{"role": "user", "content": "Hi"}],
    }
    assert verify(body, "anthropic").counts == {"parameter_unsupported": 2}
    made = translate(body, "anthropic", "anthropic")
    assert not body.keys() - made.body.keys() - {"system", "tools"}
    assert "system" not in made.body
    assert "tools" not in made.body
    assert made.body["messages"] == body["messages"]
    assert made.report.counts == {"state_elsewhere": 1, "param_dropped": 2}
    assert [one.came for one in made.report.changes] == ["$.system", "$.tools"]


def test_a_result_after_a_reply_of_the_delta_is_an_orphan():
    """The calls that it could answer are in the request."""
    body = {
        "model": "claude-opus-5",
        "max_tokens": 9,
        "thread": THREAD,
        "messages": [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": "Hello."},
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}],
            },
            {"role": "user", "content": "So?"},
        ],
    }
    assert "orphan_result_sent" in verify(body, "anthropic")
    made = translate(body, "anthropic", "anthropic")
    assert "orphan_not_sent" in made.report
    assert made.body["messages"] == [*body["messages"][:2], body["messages"][3]]


def test_its_end_is_repaired_as_that_of_any_request():
    """Which message is the last is known: only what precedes the first is not."""
    reply = {"role": "model", "parts": [{"text": "It is."}]}
    body = {"cachedContent": "cachedContents/a", "contents": [reply]}
    target = get_target("gemini")
    assert "must_end_with_user" in verify(body, target)
    made = translate(body, "gemini", target)
    assert made.body["contents"][0] == reply
    assert made.report.counts == {"state_elsewhere": 1, "ending_added": 1}
    assert not verify(made.body, target)


def test_another_model_is_not_the_prompt_that_was_named():
    body = {"modelId": ARN, "messages": [{"role": "user", "content": [{"text": "Hi"}]}]}
    assert translate(body, "bedrock", "bedrock").body == body
    with pytest.raises(StateElsewhere, match="`modelId`"):
        translate(body, "bedrock", "bedrock:anthropic.claude-opus-5-v1:0")


def test_a_target_of_ones_own_says_what_it_keeps():
    request = decode_request(DELTAS["a conversation"].body, "openai-responses")
    target = get_target("openai/openai-responses")
    kept = replace(target, kept_state=("conversation",))
    assert encode_request(request, kept).body["conversation"] == "conv_1"
    for others in ((), ("previous_response_id",)):
        with pytest.raises(StateElsewhere):
            encode_request(request, replace(target, kept_state=others))


NOT_READ = {
    "gemini-interactions": {"model": "gemini-3-pro", "input": "Hi", "previous_interaction_id": "i"},
    "openai-assistants": {"assistant_id": "asst_1", "additional_messages": []},
    "mistral-conversations": {"inputs": "Hi", "agent_id": "ag_1", "stream": False},
    "mistral-agents": {"agent_id": "ag_1", "messages": [{"role": "user", "content": "Hi"}]},
}


@each("name", NOT_READ)
def test_an_api_that_is_not_read_is_named(name):
    body = NOT_READ[name]
    api = other_state_api(body)
    assert api is not None
    assert api.name == name
    assert detect_format(body) is None
    for format in FORMATS:
        for given in (body, json.dumps(body)):
            with pytest.raises(MalformedBody, match=r"This API is not supported\.") as caught:
                decode_request(given, format)
            assert api.what in str(caught.value)
            assert api.instead in str(caught.value)


@each("name, provider", [(name, name.partition("-")[0]) for name in NOT_READ])
def test_an_api_that_is_not_read_is_not_judged(name, provider):
    report = verify(NOT_READ[name], provider)
    assert not report
    assert name in report.notes[0]


@pytest.mark.parametrize(
    ("format", "body"),
    [
        ("openai-responses", {"input": "Hi", "previous_response_id": None, "conversation": ""}),
        ("openai-responses", {"input": "Hi", "prompt": {}}),
        ("openai-responses", {"input": [{"type": "message", "id": "msg_1"}, OUTPUT]}),
        ("anthropic", {"messages": [], "thread": None}),
        ("anthropic", {"messages": [], "thread": {"type": "create"}}),
        ("gemini", {"contents": [], "cachedContent": ""}),
        ("bedrock", {"messages": [], "modelId": "arn:aws:bedrock:us-east-1::foundation-model/x"}),
        ("bedrock", {"messages": [], "promptVariables": {}}),
        ("openai-chat", {"messages": [], "previous_response_id": "resp_1", "thread": THREAD}),
    ],
)
def test_these_are_whole(format, body):
    assert state_names(body, format) == ()


@needs_corpus
def test_recorded_deltas_are_accepted_and_go_back_as_they_were():
    """What real clients sent, and real providers answered: nothing is invented or lost."""
    seen = 0
    for record in every_record():
        format, body = PROTOCOLS.get(record["protocol"]), record["request"]
        names = state_names(body, format) if format else ()
        if not names or record["status"] != 200:
            continue
        seen += 1
        made = encode_request(decode_request(body, format), f"{record['provider']}/{format}")
        assert not {one.code for one in made.report} & {*INVENTED, *LOST}, record["id"]
        assert not verify(made.body, made.target), record["id"]
        assert not verify(body, f"{record['provider']}/{format}"), record["id"]
        with pytest.raises(StateElsewhere):
            translate(body, format, "cohere")
    assert seen >= 7
