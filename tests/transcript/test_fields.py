"""Native fields: whose they are decides who gets them."""

import pytest
from msgspec.structs import replace

from canonicall import Conversation, Media, Message, Native, Origin, Text, ToolCall, Unknown
from canonicall.codec import decode_request, encode_request, render, translate
from canonicall.facts.registry import get_target
from canonicall.request import Request, Tool

CHAT = "openai-chat"
USER = Message("user", (Text(text="Go."),))


def said(provider, *blocks, **fields):
    """What a message of `provider` becomes for a target."""
    native = Native(CHAT, fields) if fields else None
    message = Message("assistant", blocks, origin=Origin(provider, CHAT), native=native)
    return Conversation.of([USER, message])


def body_for(conversation, target):
    encoded = encode_request(Request(conversation, model="m"), target)
    return encoded.body["messages"][1], encoded.report.counts.get("fields_dropped", 0)


# The provider that made the field, the target, and whether the target gets it.
OWNERS = [
    ("deepseek", "deepseek", True),
    ("deepseek", "openrouter", False),
    ("deepseek", "openai", False),
    ("", "openrouter", True),
    ("", "openai", False),
    ("openai", "openai", True),
    ("openrouter", "generic", False),
]
every_owner = pytest.mark.parametrize(("maker", "target", "is_sent"), OWNERS)
# In a history that was refused over a field, the field would be refused for ever.
in_history = pytest.mark.parametrize(
    ("maker", "target", "is_sent"),
    [(maker, target, is_sent and target != "openai") for maker, target, is_sent in OWNERS],
)


@in_history
def test_a_field_of_a_message(maker, target, is_sent):
    message, lost = body_for(said(maker, Text(text="Yes."), smell=1, name="ann"), target)
    assert message.get("smell") == (1 if is_sent else None)
    assert message["name"] == "ann"
    assert lost == (0 if is_sent else 1)


@in_history
def test_a_field_of_a_call(maker, target, is_sent):
    call = ToolCall(id="call_1", name="run", args={}, native=Native(CHAT, {"smell": 1}))
    message, lost = body_for(said(maker, call), target)
    assert ("smell" in message["tool_calls"][0]) is is_sent
    assert lost == (0 if is_sent else 1)


@every_owner
def test_a_part_that_is_not_known(maker, target, is_sent):
    """A host that lists the types of parts gets no other, whoever made it."""
    smell = {"type": "smell", "smell": 1}
    blocks = Text(text="Yes."), Unknown(native=Native(CHAT, smell))
    message, _ = body_for(said(maker, *blocks), target)
    assert ("smell" in str(message)) is (is_sent and not get_target(target).part_types)


@every_owner
def test_a_field_of_the_request_and_of_its_tools(maker, target, is_sent):
    function = {"name": "run", "parameters": {"type": "object"}}
    body = {
        "model": "m",
        "messages": [{"role": "user", "content": "Go, in JSON."}],
        "tools": [{"type": "function", "function": function, "smell": 1}, {"type": "smelling"}],
        "response_format": {"type": "json_object"},
        "smell": 1,
    }
    encoded = translate(body, CHAT, target, provider=maker)
    assert ("smell" in encoded.body) is is_sent
    assert ("smell" in encoded.body["tools"][0]) is is_sent
    assert len(encoded.body["tools"]) == (2 if is_sent else 1)
    assert encoded.body["response_format"] == {"type": "json_object"}
    found = encoded.report.counts
    assert found.get("fields_dropped", 0) == (0 if is_sent else 2)
    assert found.get("tool_dropped", 0) == (0 if is_sent else 1)


def test_words_for_reasoning_of_another_host_are_said_in_common_words():
    body = {"model": "m", "messages": [{"role": "user", "content": "Go."}]}
    body |= {"reasoning": {"effort": "low", "exclude": True}}
    made = translate(body, CHAT, "deepseek", provider="openrouter")
    assert made.body["reasoning_effort"] == "low"
    assert "reasoning" not in made.body
    assert [one.why for one in made.report if one.code == "fields_dropped"] == [
        "The target is not known to have these fields: reasoning."
    ]
    assert translate(body, CHAT, "openrouter", provider="openrouter").body["reasoning"] == {
        "effort": "low",
        "exclude": True,
    }


@pytest.mark.parametrize("target", ["anthropic", "openai/openai-responses", "gemini", "bedrock"])
@pytest.mark.parametrize("limit", ["max_tokens", "max_completion_tokens"])
def test_what_a_parameter_says_is_not_reported_as_lost(target, limit):
    body = {"model": "m", "messages": [{"role": "user", "content": "Go."}], limit: 99}
    made = translate(body | {"reasoning_effort": "low"}, CHAT, target)
    assert "99" in str(made.body)
    assert not any("max_" in one.why for one in made.report)
    assert "param_dropped" not in made.report or target == "bedrock"


@pytest.mark.parametrize(
    ("target", "url", "is_sent"),
    [
        ("openai", "https://x.test/a.pdf", False),
        ("openai", "data:application/pdf;base64,aGk=", True),
        ("generic", "https://x.test/a.pdf", False),
    ],
)
def test_a_document_by_address_is_sent_where_it_is_fetched(target, url, is_sent):
    part = {"type": "document_url", "document_url": url}
    body = {"model": "m", "messages": [{"role": "user", "content": [part]}]}
    made = translate(body, CHAT, target)
    assert ("media_dropped" not in made.report) is is_sent
    assert "document_url" not in str(made.body)


def test_a_tool_without_parameters_has_a_schema_where_it_must():
    request = Request(Conversation.of([USER]), tools=(Tool("run"),), model="m")
    (tool,) = encode_request(request, "mistral").body["tools"]
    assert tool["function"]["parameters"] == {"type": "object", "properties": {}}
    (tool,) = encode_request(request, "openai").body["tools"]
    assert "parameters" not in tool["function"]


def test_fields_of_another_format_are_named_once():
    message = Message("user", (Text(text="Go."),), native=Native("gemini", {"smell": 1}))
    findings = render(Conversation.of([message]), "openai").findings
    assert [(one.code, one.where) for one in findings] == [("fields_dropped", "entries[0]")]


def test_a_target_of_no_provider_takes_what_it_is_given():
    """Somebody's own target: nothing is known of it, so nothing is held back."""
    target = replace(get_target("generic"), provider="")
    message, lost = body_for(said("deepseek", Text(text="Yes."), smell=1), target)
    assert (message["smell"], lost) == (1, 0)


def test_a_longer_conversation_only_adds_to_the_bytes():
    """L4 on the whole body: messages stand last, behind the tools and all parameters."""
    body = {"model": "m", "messages": [], "temperature": 0.5, "user": "ann", "tools": []}
    body["tools"] = [{"type": "function", "function": {"name": "run"}}]
    bodies = []
    for role in ("user", "assistant", "user"):
        body["messages"].append({"role": role, "content": f"{role} speaks."})
        if role == "user":
            bodies.append(encode_request(decode_request(body, CHAT), "openai").data)
    first, second = bodies
    assert second.startswith(first.removesuffix(b"]}"))


def test_a_schema_in_gemini_s_own_words_is_not_lost_on_the_way_to_others():
    declared = {
        "name": "f",
        "parameters": {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}},
    }
    body = {
        "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
        "tools": [{"functionDeclarations": [declared]}],
    }
    made = translate(body, "gemini", "kimi:kimi-k2")
    assert made.body["tools"][0]["function"]["parameters"]["properties"] == {
        "a": {"type": "string"}
    }
    assert "fields_dropped" not in made.report.counts
    behaving = {**body, "tools": [{"functionDeclarations": [{**declared, "behavior": "BLOCKING"}]}]}
    (lost,) = [
        one.why
        for one in translate(behaving, "gemini", "kimi:kimi-k2").report
        if one.code == "fields_dropped"
    ]
    assert "behavior" in lost
    assert "parameters" not in lost


@pytest.mark.parametrize("role", ["system", "developer"])
def test_instructions_keep_the_name_of_their_speaker(role):
    """OpenAI's few-shot prompts name those who speak in the examples."""
    example = {"role": role, "name": "example_user", "content": "What is 1 + 1?"}
    body = {"model": "m", "messages": [example, {"role": "user", "content": "And 2 + 2?"}]}
    assert translate(body, CHAT, "openai").body["messages"][0] == example
    for target in ("anthropic", "gemini", "mistral"):
        made = translate(body, CHAT, target)
        assert [one.where for one in made.report if "name" in one.why] == ["entries[0]"]


def test_later_instructions_keep_the_name_where_they_become_words_of_the_user():
    named = {"role": "system", "name": "boss", "content": "Be brief."}
    messages = [{"role": "user", "content": "Hi"}, named]
    made = translate(
        {"model": "m", "messages": messages},
        CHAT,
        replace(get_target("openai"), system_later=False),
    )
    assert made.body["messages"][-1] == named | {"role": "user"}


def test_documents_reach_mistral_in_parts_of_its_own():
    part = {
        "type": "document_url",
        "document_url": "data:application/pdf;base64,aGk=",
        "document_name": "a.pdf",
    }
    body = {"model": "m", "messages": [{"role": "user", "content": [part]}]}
    again = translate(body, CHAT, "mistral:mistral-medium-latest", provider="mistral")
    assert again.body["messages"][0]["content"] == [part]
    assert again.report.counts == {}
    elsewhere = translate(body, CHAT, "openai:gpt-5.2", provider="mistral").body["messages"][0]
    held = {"filename": "a.pdf", "file_data": "data:application/pdf;base64,aGk="}
    assert elsewhere["content"] == [{"type": "file", "file": held}]
    back = translate({"model": "m", "messages": [elsewhere]}, CHAT, "mistral", provider="openai")
    assert back.body["messages"][0]["content"] == [part]


@pytest.mark.parametrize(
    ("target", "is_sent"), [("anthropic:claude-opus-5", False), ("kimi/anthropic", True)]
)
def test_unknown_fields_of_text_and_results_go_where_they_are_not_refused(target, is_sent):
    call = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}
    answer = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok", "note": 1}
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "Hi", "id": "a"}]},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [answer]},
    ]
    made = translate({"model": "m", "max_tokens": 9, "messages": messages}, "anthropic", target)
    asked, _, answered = made.body["messages"]
    assert ("id" in asked["content"][0], "note" in answered["content"][0]) == (is_sent, is_sent)
    assert made.report.counts.get("fields_dropped", 0) == (0 if is_sent else 2)


def test_a_result_repeats_only_what_its_call_has():
    call = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}
    answer = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok", "toolset_name": "b"}
    messages = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [answer]},
    ]
    body = {"model": "m", "max_tokens": 9, "messages": messages}
    made = translate(body, "anthropic", "anthropic:claude-opus-5")
    assert "toolset_name" not in made.body["messages"][-1]["content"][0]
    assert made.report.counts["fields_dropped"] == 1


def test_a_result_holds_no_parts_that_results_cannot_have():
    call = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}
    video, named = {"type": "video", "source": {}}, {"type": "tool_reference", "tool_name": "f"}
    answer = {"type": "tool_result", "tool_use_id": "toolu_1", "content": [video, named]}
    messages = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [answer]},
    ]
    body = {"model": "m", "max_tokens": 9, "messages": messages}
    made = translate(body, "anthropic", "anthropic:claude-opus-5")
    note, kept = made.body["messages"][-1]["content"][0]["content"]
    assert (note["type"], kept) == ("text", named)
    assert made.report.counts["block_dropped"] == 1


def gemini_part(provider, **fields):
    """What a part with such fields becomes, and how often something of it was left out."""
    block = Media(media_type="image/png", data="eA==", native=Native("gemini", fields))
    message = Message("user", (block,), origin=Origin(provider, "gemini") if provider else None)
    encoded = encode_request(Request(Conversation.of([message]), model="m"), "gemini")
    return encoded.body["contents"][0]["parts"][0], encoded.report.counts.get("fields_dropped", 0)


@pytest.mark.parametrize(("maker", "is_sent"), [("gemini", True), ("", False), ("vertex", False)])
def test_fields_inside_of_an_object_are_looked_at_as_well(maker, is_sent):
    inside = {"displayName": "a", "smell": 1}
    part, lost = gemini_part(maker, inlineData=inside, videoMetadata={"smell": 1})
    kept = inside if is_sent else {"displayName": "a"}
    assert part["inlineData"] == {"mimeType": "image/png", "data": "eA==", **kept}
    assert part["videoMetadata"] == {"smell": 1}
    assert lost == (0 if is_sent else 1)


def test_a_part_that_is_known_goes_even_where_nobody_knows_who_made_it():
    ran = Unknown(native=Native("gemini", {"codeExecutionResult": {"outcome": "OUTCOME_OK"}}))
    other = Unknown(native=Native("gemini", {"smell": {}}))
    history = Conversation.of([USER, Message("assistant", (ran, other)), USER])
    encoded = encode_request(Request(history, model="m"), "gemini")
    assert encoded.body["contents"][1]["parts"] == [ran.native.fields]
    assert encoded.report.counts["block_dropped"] == 1
