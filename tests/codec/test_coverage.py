"""Less than half of a body understood is an error, at every door; anything else is not."""

import json

import pytest
from click.testing import CliRunner

from batches import each
from canonicall import (
    Conversation,
    MostlyUnread,
    Request,
    decode_request,
    encode_request,
    render,
    translate,
    verify,
)
from canonicall.cli.verbs import cli
from front_bodies import request_of
from gateway_support import World, ask
from strange_bodies import CHAT_CALL, GEMINI_SAID, REQUESTS, SAID, UNREAD

from bodies import DISTINCT

FRONTS = ("openai-chat", "openai-responses", "anthropic", "gemini")
ODD = {"role": "user", "text": "Hi"}
CASES = [(name, *case) for name, case in UNREAD.items()]
FOREIGN_PARTS = [
    {"role": "user", "content": [{"toolUse": {"toolUseId": f"t{n}", "name": "f", "input": {}}}]}
    for n in range(3)
]


@each("name, format, body, seen", CASES)
def test_nothing_is_made_of_a_body_that_is_not_understood(name, format, body, seen):
    for given in (body, json.dumps(body).encode()):
        with pytest.raises(MostlyUnread) as caught:
            translate(given, format, "anthropic")
        assert seen in str(caught.value)
        assert f"read as {format}" in str(caught.value)
        assert 2 * caught.value.understood < caught.value.total
        with pytest.raises(MostlyUnread):
            decode_request(given, format)


def test_the_error_has_the_numbers_and_a_way_out():
    messages = [SAID[0], *(dict(ODD) for _ in range(3)), {"role": "user", "parts": ["Hi"]}]
    with pytest.raises(MostlyUnread) as caught:
        translate({"messages": messages}, "openai-chat", "gemini")
    error = caught.value
    assert (error.understood, error.total, error.format) == (1, 5, "openai-chat")
    assert "read as openai-chat, only 1 of 5 texts would be sent" in str(error)
    assert "Name the format that the body is in" in str(error)


@each("format", REQUESTS)
@each("target", DISTINCT.values(), ids=DISTINCT)
def test_half_is_enough(format, target):
    """As many messages that cannot be read as those that can: the rest is worth sending."""
    body = json.loads(json.dumps(REQUESTS[format]))
    translate(body, format, target)
    field = {"gemini": "contents", "openai-responses": "input"}.get(format, "messages")
    other = {"role": "user", "content": "Hi"} if format == "gemini" else dict(ODD)
    if format == "openai-responses":
        other = {"type": "unheard_of", "text": "Hi"}
    body[field] += [other] * len(body[field])
    sent = translate(body, format, target)
    assert list(verify(sent.body, sent.target)) == []


CALLS = [{**CHAT_CALL, "id": f"call_{number}"} for number in range(3)]
ORPHANS = [{"role": "tool", "tool_call_id": f"call_{n}", "content": "1"} for n in range(9)]
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
NOT_COUNTED = {
    "orphans": [SAID[0], *ORPHANS],
    "nothing but orphans": ORPHANS,
    "duplicates": [
        SAID[0],
        {"role": "assistant", "content": None, "tool_calls": [CHAT_CALL]},
        *[{"role": "tool", "tool_call_id": "call_1", "content": "1"}] * 9,
    ],
    "reasoning": [SAID[0], *[{"role": "assistant", "reasoning_content": "Hm."}] * 9],
    "media": [SAID[0], {"role": "user", "content": [IMAGE] * 9}],
    "blank text": [SAID[0], *[{"role": "user", "content": " "}] * 9],
    "messages without content": [SAID[0], *[{"role": "user", "content": None}] * 9],
    "calls without results": [{"role": "assistant", "content": None, "tool_calls": CALLS}],
}


@each("name", NOT_COUNTED)
@each("target", DISTINCT.values(), ids=DISTINCT)
def test_what_has_a_finding_is_not_counted(name, target):
    sent = translate({"messages": NOT_COUNTED[name]}, "openai-chat", target)
    assert list(verify(sent.body, sent.target)) == []


def test_orphans_do_not_count_for_what_was_understood():
    """Results that are set aside say nothing about the other messages."""
    with pytest.raises(MostlyUnread, match="only 0 of 3"):
        translate({"messages": [*ORPHANS, ODD, ODD, ODD]}, "openai-chat", "anthropic")


def test_parts_that_were_kept_unread_count_where_they_are_sent():
    body = {"max_tokens": 9, "messages": FOREIGN_PARTS}
    request = decode_request(body, "anthropic")
    with pytest.raises(MostlyUnread, match=r"as in a request of Bedrock Converse \('bedrock'\)"):
        translate(body, "anthropic", "openai")
    assert encode_request(request, "openai").body["messages"]


def test_a_conversation_of_the_caller_always_renders():
    chat = Conversation()
    assert render(chat, "anthropic").turns
    assert encode_request(Request(chat), "openai").body["messages"]


@pytest.mark.parametrize("verb", [["check", "--as"], ["fix", "--as"], ["convert", "--to"]])
@each("name, format, body, seen", CASES)
def test_every_verb_refuses_it(verb, tmp_path, name, format, body, seen):
    file = tmp_path / "body.json"
    file.write_text(json.dumps(body))
    done = CliRunner().invoke(cli, [verb[0], str(file), verb[1], "mistral", "--from", format])
    if verb[0] == "check" and format == "openai-chat":
        pytest.skip("a body in the format of the target is judged as it is")
    assert done.exit_code == 1, done.output
    assert done.stdout == ""
    assert " ".join(seen.split()) in " ".join(done.stderr.split())


def test_a_body_that_only_another_target_could_take_is_refused(tmp_path):
    file = tmp_path / "body.json"
    file.write_text(json.dumps({"max_tokens": 9, "messages": FOREIGN_PARTS}))
    for options in (["fix", "--as"], ["convert", "--to"]):
        done = CliRunner().invoke(
            cli, [options[0], str(file), options[1], "openai", "--from", "anthropic"]
        )
        assert done.exit_code == 1, done.output
        assert "only 0 of 3" in done.stderr


def test_the_other_lines_of_a_file_are_converted(tmp_path):
    file, out = tmp_path / "log.jsonl", tmp_path / "out.jsonl"
    good = json.dumps(REQUESTS["openai-chat"])
    file.write_text("\n".join([good, json.dumps({"messages": [ODD]}), good]))
    options = ["--to", "anthropic", "--from", "openai-chat", "-o", str(out)]
    done = CliRunner().invoke(cli, ["convert", str(file), *options])
    assert done.exit_code == 3, done.output
    assert len(out.read_text().splitlines()) == 2
    (aside,) = (tmp_path / "out.jsonl.rejected.jsonl").read_text().splitlines()
    assert json.loads(aside)["line"] == 2
    assert "only 0 of 1" in json.loads(aside)["why"]


FRONT_BODIES = {
    "openai-chat": {"messages": [ODD]},
    "openai-responses": {"input": [], "messages": SAID},
    "anthropic": {"max_tokens": 9, "messages": [ODD]},
    "gemini": {"contents": [{"role": "user", "content": "Hi"}]},
}
ENVELOPES = {
    "openai-chat": lambda body: (body["error"]["type"], body["error"]["message"]),
    "openai-responses": lambda body: (body["error"]["type"], body["error"]["message"]),
    "anthropic": lambda body: (body["error"]["type"], body["error"]["message"]),
    "gemini": lambda body: (body["error"]["status"], body["error"]["message"]),
}


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("front", FRONTS)
async def test_the_gateway_answers_in_the_envelope_of_its_front(front, streamed):
    world = World()
    gateway = world.gateway()
    model = "bedrock:some-model"
    path, asked = request_of(front, model, "Hi", streamed=streamed, tools=False)
    body = {**asked, **FRONT_BODIES[front]}
    answer = await ask(gateway, path, body)
    assert answer.status == 422, answer.json
    kind, message = ENVELOPES[front](answer.json)
    assert kind in ("invalid_request_error", "INVALID_ARGUMENT")
    assert "only 0 of" in message
    assert not any(one.seen for one in world.simulators.values())
    await gateway.close()


async def test_the_gateway_knows_what_its_target_does_not_get():
    world = World()
    gateway = world.gateway()
    body = {"model": "openai:gpt-4o", "max_tokens": 9, "messages": FOREIGN_PARTS}
    answer = await ask(gateway, "/v1/messages", body)
    assert answer.status == 422, answer.json
    await gateway.close()


def test_gemini_messages_in_their_own_field_are_read():
    assert len(translate({"contents": GEMINI_SAID}, "gemini", "openai").body["messages"]) == 5
