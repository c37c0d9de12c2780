"""Every simulated provider is found out: what is said of it agrees with its profile, and the profile
that is written makes requests that the same simulator takes."""

import re
from functools import cache

import pytest

from batches import each
from canonicall.blocks import Message, Text, Thinking, ToolCall, ToolResult
from canonicall.codec import encode_request
from canonicall.conversation import Conversation
from canonicall.discovery.profile_text import profile_text
from canonicall.facts.endpoint import endpoint_of
from canonicall.facts.profile import load_profile
from canonicall.facts.registry import get_target, register_provider, unregister_provider
from canonicall.request import Params, Request, Tool, ToolChoice
from canonicall.testing.exchange import SimRequest
from discovery.endpoints import KEY, WHEN, found, simulated

from client_support import PLACES

SAID = {
    "developer_role": ("developer", True),
    "system_later": ("system_later", True),
    "user_after_results": ("user_after_results", True),
    "text_beside_calls": ("text_beside_calls", True),
    "empty_results": ("empty_results", True),
    "tools_with_history": ("tools_with_history", True),
    "users_in_a_row": ("merge_roles", False),
    "assistant_first": ("starts_with_user", False),
}
"""Questions, the field of the target that answers each, and what it is where the answer is yes."""


@cache
def discovered(place):
    """What is found out about one format of one provider."""
    provider, format = place.split("/")
    simulator = simulated(provider)
    info, wire = found(simulator, format=format)
    return info, wire, simulator


def served(place):
    info, *_ = discovered(place)
    return get_target(f"{place}:{info.model}").as_served


@each("place", PLACES)
def test_the_answers_are_those_of_the_profile(place):
    info, wire, _ = discovered(place)
    target = served(place)
    assert info.wire_format == place.split("/")[1]
    answered = {one: info.answer(one) for one in SAID if info.answer(one) is not None}
    expected = {one: getattr(target, SAID[one][0]) is SAID[one][1] for one in answered}
    assert answered == expected
    assert info.answer("structured_calls") is True
    assert info.answer("parallel_calls") is True
    assert wire.replies <= 9


@each("place", PLACES)
def test_the_choices_are_those_of_the_profile(place):
    info, *_ = discovered(place)
    target = served(place)
    taken = {"required": "choice_required", "none": "choice_none"}
    for mode, question in taken.items():
        if info.answer(question) is not None:
            assert (info.answer(question) == "obeyed") is (mode in target.choice_modes)
    if info.answer("choice_named") is not None:
        assert (info.answer("choice_named") == "obeyed") is (target.choice_names != "no")


FOREIGN_ID = "functions.other:" + 48 * "0"
ANY_TEXT = ("ollama/ollama",)
"""ollama/ollama, api/types.go: an id is any text. The rule is what is sent, and narrower."""
PLAIN_ID = "call_" + 24 * "A"


def takes(rule, id):
    """Whether an endpoint with this rule takes an id."""
    is_short = len(id) <= (rule.max_length or len(id))
    fits = re.fullmatch(rule.pattern, id) is not None and is_short
    return fits or not rule.refused


@each("place", PLACES)
def test_the_ids_are_those_of_the_profile(place):
    info, *_ = discovered(place)
    rule = served(place).ids
    assert info.answer("foreign_ids") is (takes(rule, FOREIGN_ID) or place in ANY_TEXT)
    assert info.answer("plain_ids") in (None, takes(rule, PLAIN_ID))
    first = info.ids.prefix + (info.ids.longest - len(info.ids.prefix)) * "0"
    assert info.ids.style in ("echoed", "numbered") or takes(rule, first)
    if place.endswith("/openai-chat"):
        assert (info.ids.style == "numbered") is (rule.style == "numbered")


CHATS = [one for one in PLACES if one.endswith("/openai-chat")]


@each("place", CHATS)
def test_the_field_of_reasoning_is_that_of_the_profile(place):
    info, *_ = discovered(place)
    target = served(place)
    if target.reasoning != "none":
        assert info.answer("reasoning_field") == target.reasoning_field


WEATHER = Tool("get_weather", "The weather.", {"type": "object", "properties": {}})
CALL = ToolCall(id="toolu_01AbCdEfGhIjKlMnOpQrStUv", name="get_weather", args={"city": "Paris"})
OTHER = ToolCall(id="functions.get_weather:1", name="get_weather", args={})


def words(role, text):
    return Message(role, (Text(text=text),))


def result(call, *texts):
    content = tuple(Text(text=one) for one in texts)
    return Message("tool", (ToolResult(call_id=call.id, content=content, name=call.name),))


CONVERSATIONS = {
    "a question": [words("user", "Hello?")],
    "instructions of a developer": [words("developer", "Be brief."), words("user", "Hello?")],
    "a history of others": [
        words("system", "Be brief."),
        words("user", "How is the weather?"),
        Message("assistant", (Thinking(text="Hm."), Text(text="I look."), CALL, OTHER)),
        result(CALL, "Sunny."),
        result(OTHER, ""),
    ],
    "words behind results": [
        words("user", "How is the weather?"),
        words("user", "In Paris."),
        Message("assistant", (CALL,)),
        result(CALL, "Sunny."),
        words("system", "Use few words."),
        words("user", "And?"),
    ],
    "an assistant that begins": [words("assistant", "Hello."), words("user", "Hello?")],
    "a call that is open": [words("user", "Weather?"), Message("assistant", (CALL,))],
}
REQUESTS = {
    "with tools": {"tools": (WEATHER,)},
    "without tools": {},
    "forced": {"tools": (WEATHER,), "tool_choice": ToolChoice("required", parallel=False)},
    "forbidden": {"tools": (WEATHER,), "tool_choice": ToolChoice("none")},
    "named": {"tools": (WEATHER,), "tool_choice": ToolChoice("required", ("get_weather",))},
}


@pytest.fixture
def written(request):
    """The written profile of a place, registered."""
    info, _, simulator = discovered(request.param)
    profile = register_provider(profile_text(info, date=WHEN, name="found-out"))
    yield profile, info, simulator
    unregister_provider("found-out")


def _unless_unasked(place):
    """Nothing asks an endpoint yet which empty content it takes beside calls."""
    why = "a profile that was found out sends null, which this host refuses"
    is_unasked = "llama-cpp-python" in str(place)
    return pytest.param(place, marks=pytest.mark.xfail(reason=why)) if is_unasked else place


@pytest.mark.parametrize("written", [_unless_unasked(one) for one in PLACES], indirect=True)
def test_what_the_written_profile_renders_is_taken(written):
    profile, info, simulator = written
    endpoint = endpoint_of(profile.endpoints, profile.format)
    path = f"{profile.base_url}{endpoint.path}".replace("{model}", info.model)
    headers = {"authorization": f"Bearer {KEY}", "x-api-key": KEY, **endpoint.headers}
    refused = []
    for told, messages in CONVERSATIONS.items():
        for way, options in REQUESTS.items():
            request = Request(Conversation.of(messages), params=Params(max_tokens=99), **options)
            body = encode_request(request, f"found-out:{info.model}").body
            answer = simulator.answer(SimRequest.of("POST", path, body, headers))
            if answer.status != 200:
                refused.append((told, way, answer.data))
    assert refused == []


@each("place", PLACES)
def test_every_rule_says_where_it_was_found(place):
    info, *_ = discovered(place)
    profile = load_profile(profile_text(info, date=WHEN), "test")
    proofs = [*profile.rules.values(), *profile.capabilities.values(), *profile.quirks]
    probed = [one for one in proofs if one.source.startswith("probed endpoint.test on 2026-11-16")]
    assert len(probed) >= 5
    assert profile.name == "endpoint.test"


@pytest.mark.parametrize("place", ["anthropic/anthropic", "vertex/anthropic", "bedrock/bedrock"])
@pytest.mark.parametrize(
    "model", ["claude-haiku-4-5", "claude-opus-4-5", "claude-sonnet-4-6", "claude-opus-4-7"]
)
def test_the_way_of_thinking_is_learnt_from_refusals(place, model):
    """What the endpoint refuses of it is in the profile, so that it is not asked for again."""
    provider, format = place.split("/")
    named = f"us.anthropic.{model}-v1:0" if provider == "bedrock" else model
    info, _ = found(simulated(provider), format=format, model=named)
    assert info.answer("reasoning_setting") is True
    target = get_target(f"{place}:{named}")
    rules = load_profile(profile_text(info, date=WHEN), "test").rules
    if "thinking" in rules:
        assert set(target.thinking) <= set(rules["thinking"].value)
        assert ("adaptive" in target.thinking) is ("adaptive" in rules["thinking"].value)
    if "efforts" in rules:
        assert rules["efforts"].value == target.efforts
    assert ("thinking" in rules) is (target.thinking == ("adaptive", "disabled"))
