"""Refusals: understood, rendered once more, learnt; and targets that take another's place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from batches import each
from canonicall.blocks import Media, Opaque, Origin, Text, Thinking, ToolCall
from canonicall.client.failure import with_more
from canonicall.client.learning import Learned, change_for
from canonicall.conversation import Conversation
from canonicall.facts.lessons import lessons
from canonicall.facts.schema_rules import SchemaRule
from canonicall.facts.target import IdRule, Target
from canonicall.request import OutputFormat, Params, Reasoning, Request, Tool, ToolChoice
from canonicall.runtime.events import StatusEvent
from canonicall.runtime.model import ModelError
from canonicall.runtime.session import Session
from canonicall.testing.exchange import SimResponse
from canonicall.testing.script import call, says, thought
from canonicall.tools.toolset import Toolset
from canonicall.verify.explainer import table

from client_support import (
    KEY,
    Direct,
    DirectResponse,
    asked,
    client,
    kinds,
    simulator,
    target,
    weather,
)

TOOL = Tool(
    "weather", "The weather.", {"type": "object", "properties": {"city": {"type": "string"}}}
)


def signed(goal, kind="signature", *, on_call=False):
    """A conversation with a step that somebody else signed in this target's name."""
    talk = Conversation()
    talk.user("How is the weather?")
    seal = (Opaque(domain=goal.domain, kind=kind, value="bm90IG91cnM="),)
    made = ToolCall(id="call_1", name="weather", args={}, opaque=seal if on_call else ())
    begun = [] if on_call else [Thinking(text="I will look.", opaque=seal)]
    origin = Origin(goal.provider, goal.format, model=goal.model)
    talk.assistant([*begun, made], origin=origin)
    talk.result("call_1", "sunny")
    return talk


@pytest.mark.parametrize(
    ("place", "kind", "on_call", "code"),
    [
        ("anthropic", "signature", False, "foreign_signature"),
        ("bedrock", "signature", False, "foreign_signature"),
        ("gemini", "signature", True, "foreign_signature"),
        ("openai/openai-responses", "encrypted", False, "encrypted_reasoning_refused"),
    ],
)
async def test_a_signature_that_is_refused_is_left_out_once_and_from_then_on(
    place, kind, on_call, code
):
    goal = target(place)
    request = Request(signed(goal, kind, on_call=on_call), (TOOL,))
    served = simulator(place, "Sunny.", "Still sunny.")
    async with client(served) as model:
        for text in ("Sunny.", "Still sunny."):
            _, reply = await asked(model, request, goal)
            assert reply.message.text == text
        assert model.learned(goal).reasoning == "none"
    assert [one.status for one in served.seen] == [400, 200, 200]
    assert kinds(model) == ["recovered", "repaired", "answered", "repaired", "answered"]
    assert model.told[0].code == code


_FIELDS = {"type": "object", "properties": {"city": {"type": "string"}}}
PLACE = Params(output=OutputFormat(_FIELDS, "place"))
STRICT = Params(output=OutputFormat(_FIELDS, "place", strict=True))
BLIND = [
    ("anthropic", "claude-opus-4-7", {"refused_params": ()}, {"params": Params(temperature=0.5)}),
    ("anthropic", "claude-opus-5-5", {"choice_modes": ("auto", "required", "none")}, {"tool_choice": ToolChoice("required")}),
    ("mistral", "open-mistral-7b", {"ids": IdRule(), "user_after_results": True}, {}),
    ("bedrock", "", {"tools_with_history": False}, {"tools": ()}),
    ("deepseek", "deepseek-chat", {"output_modes": ("schema", "object")}, {"params": PLACE}),
    ("openai", "gpt-5", {"output_word": ""}, {"params": Params(output=OutputFormat())}),
    ("openai", "gpt-4o", {"schemas": SchemaRule()}, {"params": STRICT}),
    ("gemini", "gemini-2.5-flash", {"refusals": (), "server_history": True}, {"params": PLACE}),
]  # fmt: skip


@pytest.mark.parametrize(("place", "model_name", "blind", "asks"), BLIND)
async def test_a_rule_that_the_profile_does_not_know_is_learnt(place, model_name, blind, asks):
    """The target is told of one rule too few; the refusal tells it, and once is enough."""
    goal = replace(target(place, model_name), **blind)
    talk = Conversation()
    talk.user("How is the weather?")
    talk.assistant(ToolCall(id="call_abcdefghijkl", name="weather", args={}))
    talk.result("call_abcdefghijkl", "sunny")
    request = Request(talk, **{"tools": (TOOL,), **asks})
    served = simulator(place, "Sunny.", "Still sunny.")
    async with client(served) as model:
        for _ in range(2):
            await asked(model, request, goal)
        assert model.learned(goal) != goal
    assert [one.status for one in served.seen] == [400, 200, 200]
    (told,) = (one for one in model.told if one.kind == "recovered")
    assert told.code != "unknown"


class Refusing(Direct):
    """Refuses bodies that hold certain bytes, in words that nobody has ever heard."""

    def __init__(self, word, words="Nope.", status=400):
        self.word, self.words, self.status = word, words, status
        self.seen = []

    async def post(self, url, headers, body, timeouts, *, proxy=""):
        self.seen.append(body)
        if self.word in body:
            error = {"error": {"message": self.words, "type": "invalid_request_error"}}
            return DirectResponse(SimResponse.json(self.status, error))
        return await super().post(url, headers, body, timeouts, proxy=proxy)


def plain(**params):
    talk = Conversation()
    talk.user("Hi.")
    return Request(talk, params=Params(**params))


@pytest.mark.parametrize("status", [400, 422])
async def test_a_refusal_that_nobody_understands_is_answered_in_the_narrowest_form(status):
    transport = Refusing(b'"temperature"', status=status)
    async with client(simulator("openai", "Hello.", "Hello."), transport=transport) as model:
        for _ in range(2):
            await asked(model, plain(temperature=0.5), target("openai"))
    assert [b'"temperature"' in body for body in transport.seen] == [True, False, False]
    assert kinds(model) == ["recovered", "repaired", "answered", "repaired", "answered"]
    assert model.told[0].code == "unknown"


async def test_what_did_not_help_is_not_learnt():
    transport = Refusing(b"Hi.")
    async with client(simulator("openai"), transport=transport) as model:
        with pytest.raises(
            ModelError, match=r"HTTP 400 \(invalid_request_error\): Nope\."
        ) as caught:
            await asked(model, plain(temperature=0.5), target("openai"))
        assert model.learned(target("openai")) == target("openai")
    assert (caught.value.kind, caught.value.status) == ("refused", 400)
    assert len(transport.seen) == 2


async def test_the_same_bytes_are_not_sent_again():
    """Where there is nothing to leave out, another rendering is none."""
    transport = Refusing(b"Hi.")
    async with client(simulator("openai"), transport=transport) as model:
        with pytest.raises(ModelError):
            await asked(model, plain(), target("openai"))
    assert len(transport.seen) == 1
    assert kinds(model) == []


async def test_a_conversation_that_is_too_long_is_told_with_what_to_do():
    words = "This model's maximum context length is 512 tokens."
    transport = Refusing(b"Hi.", words)
    async with client(simulator("openai"), transport=transport) as model:
        with pytest.raises(ModelError, match="Shorten the conversation"):
            await asked(model, plain(temperature=0.5), target("openai"))
    assert len(transport.seen) == 1


async def test_a_call_that_the_host_refused_is_asked_for_again():
    """Groq checks what its model writes: that is chance, not a fault of the request."""
    words = "Failed to call a function. Please adjust your prompt. tool_use_failed"
    transport = Refusing(b"Hi.", words)
    async with client(simulator("groq"), transport=transport) as model:
        with pytest.raises(ModelError):
            await asked(model, plain(temperature=0.5), target("groq"))
    assert kinds(model) == ["retrying", "retrying"]


@each(
    ("words", "fields"),
    [
        ("Unsupported parameter: 'stop' is not supported with this model.", {"refused_params": ("stop",)}),
        ("Unsupported value: 'temperature' does not support 0.5 with this model.", {"refused_params": ("temperature",)}),
        ("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", {"token_limit_field": "max_completion_tokens"}),
        ("Unsupported parameter: 'parallel_tool_calls' is not supported with this model.", {"parallel_switch": False}),
        ("Unsupported parameter: 'reasoning.effort' is not supported with this model.", {"refused_params": ("reasoning",)}),
        ("`top_k` is deprecated for this model.", {"refused_params": ("top_k",)}),
        ("Model grok-4 does not support parameter stop.", {"refused_params": ("stop",)}),
        ("Argument not supported on this model: stop", {"refused_params": ("stop",)}),
        ("`temperature` and `top_p` cannot both be specified for this model. Please use only one.", {"refused_params": ("top_p",)}),
        ("invalid temperature: only 1 is allowed for this model", {"refused_params": ("temperature",)}),
        ("Unsupported parameter: max_output_tokens", {"refused_params": ("max_tokens",)}),
        ("Store must be set to false", {"unstored": True, "reasoning_state": ("encrypted",)}),
        ("Stream must be set to true", {"stream_only": True}),
        ("Instructions are required", {"instructions_required": True}),
        ('"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive"', {"thinking": ("adaptive", "disabled")}),
        ("adaptive thinking is not supported on this model", {"thinking": ("enabled", "disabled")}),
        ("This model does not support effort level 'xhigh'. Supported levels: high, low.", {"efforts": ("low", "high")}),
        ("This model does not support the effort parameter.", {"efforts": ()}),
        ("Unsupported value: 'reasoning_effort' does not support 'none' with this model. Supported values are: 'minimal', 'low', 'medium', and 'high'.", {"thinking": ("effort",), "efforts": ("minimal", "low", "medium", "high")}),
        ("Unsupported value: 'minimal' is not supported with the 'gpt-5.1' model. Supported values are: 'none', 'low', 'medium', and 'high'.", {"thinking": ("effort",), "efforts": ("none", "low", "medium", "high")}),
        ("Unsupported value: 'tool_choice' does not support 'x' with this model. Supported values are: 'none' and 'auto'.", lessons().change("choice_unsupported", "openai-chat")),
    ],
)  # fmt: skip
def test_the_parameter_that_an_error_names(words, fields):
    known = {"refused_params": (), "token_limit_field": "", "thinking": (), "efforts": None}
    goal = replace(target("openai"), **known)
    change, _ = change_for({"error": {"message": words}}, words, {}, goal)
    assert change.fields == fields


def test_a_field_that_is_not_known_is_not_sent_any_more():
    words = "Unknown parameter: 'stream_options'."
    change, _ = change_for(words, words, {}, target("openai"))
    changed = change.of(target("openai"))
    assert "stream_options" not in changed.fields.request
    assert "request" in changed.fields.closed


async def test_hosts_without_usage_in_streams_are_asked_without_it():
    transport = Refusing(b"stream_options", "Unknown parameter: 'stream_options'.")
    async with client(simulator("openai", "Hello."), transport=transport) as model:
        _, reply = await asked(model, plain(), target("openai"))
    assert reply.message.text == "Hello."
    assert model.told[0].code == "unknown_field"


@each("entry", table(), ids=lambda entry: entry.code)
def test_every_error_on_record_gives_a_change_that_can_be_made(entry):
    """Whatever is known of an error: the fields are a target's, and their values fit."""
    for format in entry.formats or ("openai-chat",):
        goal = target(
            {"openai-chat": "openai", "openai-responses": "openai/openai-responses"}.get(
                format, format
            )
        )
        change, told = change_for(entry.example, entry.example, {}, goal)
        assert told
        if change is not None:
            assert change.fields
            assert isinstance(change.of(goal), Target)
            assert change.of(goal) != goal


def test_codes_of_the_table_are_codes_of_errors():
    known = {entry.code for entry in table()} | {code for entry in table() for code in entry.also}
    taught = {code for one in lessons().lesson for code in one.codes}
    assert taught | lessons().hopeless | lessons().chance <= known


@given(st.text(max_size=200))
def test_any_words_are_read_without_an_error(words):
    change, _ = change_for(words, words, {}, target("groq"))
    assert change is None or change.fields


def test_what_is_learnt_adds_up():
    goal = target("openai")
    learned = Learned()
    for words in ("`top_k` is deprecated for this model.", "`top_p` is deprecated for this model."):
        change, _ = change_for(words, words, {}, learned.fit(goal))
        learned.keep(goal, change)
    assert set(learned.fit(goal).refused_params) >= {"top_k", "top_p"}


async def test_another_provider_goes_on_in_the_midst_of_a_turn():
    """The first makes a signed call, then falls silent; the second gets the same conversation in
    its own form, and the third turn is the first one's again."""
    first = simulator(
        "anthropic",
        says(thought("I need to look."), call("weather", city="Paris")),
        "It is still sunny.",
        faults=[None, "overloaded", "overloaded", "overloaded"],
    )
    second = simulator("openai", "It is sunny.")
    fallback = target("openai")
    async with client(first, second, fallbacks=[fallback]) as model:
        session = Session(
            model,
            target("anthropic"),
            Toolset.of(weather),
            params=Params(max_tokens=4000, reasoning=Reasoning(enabled=True, budget=2000)),
        )
        events = [event async for event in session.send("How is the weather?")]
        assert events[-1].text == "It is sunny."
        told = [
            one.kind for one in events if isinstance(one, StatusEvent) and one.kind != "written"
        ]
        assert told == [
            "asking",
            "answered",
            "asking",
            "retrying",
            "retrying",
            "switched",
            "repaired",
            "answered",
        ]
        events = [event async for event in session.send("And now?")]
        assert events[-1].text == "It is still sunny."
    assert [one.status for one in first.seen] == [200, 529, 529, 529, 200]
    assert [one.status for one in second.seen] == [200]
    made = [one.origin.provider for one in session.conversation.messages if one.role == "assistant"]
    assert made == ["anthropic", "openai", "anthropic"]


@pytest.mark.parametrize("options", [{"keys": ["another"]}, {"models": ["another"]}])
async def test_what_a_provider_refuses_for_good_another_may_do(options):
    first, second = simulator("anthropic", **options), simulator("gemini", "Hello.")
    async with client(first, second, fallbacks=[target("gemini")]) as model:
        _, reply = await asked(model, plain(), target("anthropic"))
    assert reply.message.origin.provider == "gemini"
    assert kinds(model) == ["switched", "answered"]


async def test_a_provider_without_a_key_is_passed_over():
    second = simulator("openai", "Hello.")
    async with client(second, fallbacks=[target("mistral"), target("openai")]) as model:
        _, reply = await asked(model, plain(), target("groq"))
    assert reply.message.text == "Hello."
    assert [one.to.provider for one in model.told if one.kind == "switched"] == [
        "mistral",
        "openai",
    ]
    assert "GROQ_API_KEY" in model.told[0].why


async def test_where_all_fail_the_error_tells_of_each():
    first, second = simulator("anthropic", keys=["x"]), simulator("openai", keys=["x"])
    async with client(first, second, fallbacks=[target("openai")]) as model:
        with pytest.raises(ModelError) as caught:
            await asked(model, plain(), target("anthropic"))
    assert "anthropic:claude-haiku-4-5: HTTP 401" in caught.value.message
    assert "openai:gpt-5.2: HTTP 401" in caught.value.message
    assert (caught.value.status, caught.value.kind) == (401, "authentication")
    assert KEY not in caught.value.message


async def test_nobody_takes_over_where_words_were_passed_on():
    words = "This is a rather long answer, of which the first half arrives."
    first, second = simulator("openai", words, faults=["cut_stream"]), simulator("gemini", "Hello.")
    async with client(first, second, fallbacks=[target("gemini")]) as model:
        _, reply = await asked(model, plain(), target("openai"))
    assert reply.message.partial
    assert reply.message.origin.provider == "openai"
    assert not second.seen


async def test_media_that_a_model_does_not_take_is_left_out_and_told():
    talk = Conversation()
    talk.user([Text(text="What is this?"), Media(media_type="image/png", data="aGk=")])
    words = "Failed to deserialize the JSON body into the target type: messages[0]: unknown variant `image_url`, expected `text`"
    transport = Refusing(b"image_url", words)
    async with client(simulator("openai", "A picture."), transport=transport) as model:
        await asked(model, Request(talk), target("openai"))
    assert model.told[0].code == "bad_part"
    assert model.told[0].change["media"] == ()


@pytest.mark.parametrize(
    ("said", "more", "told"),
    [
        ("No such model", ("Check it.",), "No such model. Check it."),
        ("No such model.", ("Check it.",), "No such model. Check it."),
        ("Why?", ("", "Check it."), "Why? Check it."),
        (
            "It leads to https://a.example/v1",
            ("Set it.",),
            "It leads to https://a.example/v1 Set it.",
        ),
        ("No such model", ("",), "No such model"),
    ],
)
def test_our_words_follow_a_whole_sentence(said, more, told):
    assert with_more(said, *more) == told
