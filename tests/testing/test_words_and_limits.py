"""What single hosts take, refuse and say, beyond what their format has."""

import pytest
from msgspec.structs import replace

from batches import each
from canonicall.facts.registry import get_profile, get_target, provider_names
from canonicall.testing.habits import models_of
from canonicall.testing.issued_ids import call_id
from canonicall.testing.model_limits import is_broken, text_of
from canonicall.testing.refusals import own_text
from canonicall.testing.simulator import Simulator
from canonicall.verify import verify
from canonicall.verify.lexical import id_fault
from canonicall.verify.violation import refuse
from testing.asking import CHAT, FUNCTIONS, MESSAGES, RESPONSES, ask

CALL = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
USER = {"role": "user", "content": "Hi"}
SETTINGS = {
    "tool_choice": [{"tool_choice": {"type": "function", "function": {"name": "get_weather"}}}],
    "max_tokens": [{"max_tokens": 5}],
    "reasoning.effort": [{"reasoning": {"effort": "low"}}],
    "messages": [{"messages": [{"role": "system", "content": "Be brief."}, USER]}],
    "temperature": [{"temperature": 100}],
    "tools": [{}, {"tools": [{"functionDeclarations": [{"name": "a"}]}, {"googleSearch": {}}]}],
}


def wider(profile):
    """What a profile says that its service takes, by the target it says it of."""
    own = [(f"{profile.name}/{profile.format}:x", field) for field in profile.served]
    return own + [
        (f"{profile.name}/{entry.format}:{entry.match[0].replace('*', 'x')}", field)
        for entry in profile.models
        for field in entry.served
    ]


@each("provider", provider_names())
def test_what_is_taken_is_wider_than_what_is_sent(provider):
    """A rule that changes nothing says nothing: it is wider than what is sent, or takes back for
    some models what holds for the others. The signing domain is never touched."""
    profile = get_profile(provider)
    for name, field in wider(profile):
        target = get_target(name)
        served = target.as_served
        general = getattr(get_target(f"{provider}/{target.format}").as_served, field)
        is_taken_back = field in profile.served and getattr(served, field) != general
        assert is_taken_back or getattr(served, field) != getattr(target, field), name
        assert (served.domain, served.format) == (target.domain, target.format)
        assert served.as_served is served


def test_other_targets_are_as_their_profiles_say():
    target = replace(get_target("kimi-hosted:kimi-k2-thinking"), served=())
    assert target.as_served is target


def test_the_renderer_is_stricter_than_the_service():
    body = {"model": "glm-4.6", "messages": [USER], "tools": FUNCTIONS, "tool_choice": "required"}
    assert verify(body, get_target("zai:glm-4.6"))
    assert not verify(body, "zai")
    assert ask(Simulator("zai"), CHAT, body)[0] == 200


def broken_body(limit, model, format):
    """A request of the format that goes beyond a limit."""
    schema = {"type": "object"}
    tools = [{"type": "function", "name": "look", "parameters": schema}]
    claude = [{"name": "look", "input_schema": schema}]
    bare = {
        "openai-chat": {"model": model, "messages": [USER], "tools": FUNCTIONS},
        "openai-responses": {"model": model, "input": "Hi", "tools": tools},
        "anthropic": {"model": model, "max_tokens": 3000, "messages": [USER], "tools": claude},
        "gemini": {"contents": [{"parts": [{"text": "Hi"}]}]},
        "ollama": {"model": model, "messages": [USER], "tools": FUNCTIONS},
    }[format]
    if limit.field == "reasoning.effort":
        bare.pop("tools")
    settings = SETTINGS.get(limit.field, [{}])
    return next(bare | one for one in settings if is_broken(limit, bare | one))


LIMITS = [
    (provider, limit)
    for provider in provider_names()
    for limit in get_profile(provider).simulator.limits
]


@pytest.mark.parametrize(
    ("provider", "limit"), LIMITS, ids=[f"{name} {one.models} {one.field}" for name, one in LIMITS]
)
def test_a_model_says_what_it_cannot_do(provider, limit):
    model = limit.models[0].replace("*", "x")
    simulator = Simulator(provider)
    is_of_responses = limit.field.startswith("reasoning.")
    format = "openai-responses" if is_of_responses else simulator.profile.format
    paths = {"openai-chat": CHAT, "openai-responses": RESPONSES, "anthropic": MESSAGES}
    paths["ollama"] = "/api/chat"
    path = paths.get(format, f"/v1beta/models/{model}:generateContent")
    body = broken_body(limit, model, format)
    status, answer = ask(simulator, path, body)
    assert status == limit.status
    told = answer.get("detail") or answer["error"]
    words = text_of(limit, body, model)
    assert "{" not in words
    assert words in (told, told["message"] if isinstance(told, dict) else "")
    assert simulator.seen[-1].violations[0].where == f"$.{limit.field}"


def test_other_models_of_the_provider_can():
    body = {"model": "gpt-5.2", "input": "Hi", "reasoning": {"effort": "low"}}
    assert ask(Simulator("openai"), RESPONSES, body)[0] == 200


@pytest.mark.parametrize(
    ("provider", "model", "messages", "words"),
    [
        (
            "kimi",
            "kimi-k2-0905-preview",
            [USER, {"role": "tool", "tool_call_id": "gone", "content": "?"}],
            "tool_call_id gone is not found",
        ),
        (
            "kimi",
            "kimi-k2-thinking",
            [
                USER,
                {"role": "assistant", "content": "", "tool_calls": [CALL]},
                {"role": "tool", "tool_call_id": "call_1", "content": "?"},
            ],
            "reasoning_content is missing in assistant tool call message at index 1",
        ),
        (
            "deepseek",
            "deepseek-chat",
            [USER, {"role": "assistant", "content": "", "tool_calls": [CALL]}, USER],
            "(insufficient tool messages following tool_calls message)",
        ),
        (
            "qwen",
            "qwen3-max",
            [USER, {"role": "tool", "tool_call_id": "gone", "content": "?"}],
            "<400> InternalError.Algo.InvalidParameter: messages with role",
        ),
    ],
)
def test_hosts_refuse_in_their_own_words(provider, model, messages, words):
    status, body = ask(
        Simulator(provider), CHAT, {"model": model, "messages": messages, "tools": FUNCTIONS}
    )
    assert status == 400
    assert words in body["error"]["message"]


def test_a_host_without_words_of_its_own_has_those_of_the_format():
    violation = refuse("missing_result", "$.messages[1]", "as OpenAI says it", source="here")
    assert own_text(get_target("openai"), violation, {}) == ""
    assert "insufficient" in own_text(get_target("deepseek"), violation, {})


@each("provider", provider_names())
def test_the_ids_a_provider_gives_are_accepted_by_it(provider):
    """Also the longest: a name of 40 letters in the tenth call."""
    for model in models_of(provider):
        target = get_target(f"{provider}:{model}").as_served
        made = {call_id(target, name, number) for name in ("look", "find") for number in range(10)}
        assert len(made) == 20
        assert not any(id_fault(id, target.ids) for id in made)


@pytest.mark.parametrize(
    ("provider", "model", "messages"),
    [
        ("openai", "o1-mini", 5),
        ("openai", "o1-mini", [None, {"role": "system", "content": "Be brief."}, USER]),
        ("openai", "gpt-4.1", [USER, {"role": "assistant", "tool_calls": [None]}]),
        ("minimax", "MiniMax-M2", [USER, {"role": "assistant", "tool_calls": [None, {"id": 5}]}]),
        ("deepseek", "deepseek-chat", [None, {"role": 5}]),
    ],
)
def test_a_broken_body_gets_an_answer_in_words(provider, model, messages):
    """Whoever says what is wrong in the words of a host looks into a body that may be anything."""
    status, answer = ask(Simulator(provider), CHAT, {"model": model, "messages": messages})
    assert status in (400, 422), answer
