"""Every provider speaks once, in turn; after each turn the conversation is fit for every other."""

import re

import pytest

from canonicall import Conversation, Media, Opaque, Origin, Text, Thinking, ToolCall, ToolResult
from canonicall.blocks import Message
from canonicall.codec import encode_request
from canonicall.facts.registry import get_target, provider_names
from canonicall.request import Request, Tool
from canonicall.verify import verify

PROVIDERS = sorted(provider_names())
RAW_IDS = {
    "anthropic": "toolu_01{}", "bedrock": "tooluse_{}", "mistral": "abcdefg{:02}",
    "kimi": "functions.search:{}", "kimi-hosted": "functions.search:{}", "gemini": "",
    "vertex": "", "xai": "call_0",
}  # fmt: skip
TOOLS = tuple(
    Tool(name, "A tool.", {"type": "object", "properties": {"q": {"type": "string"}}})
    for name in ("search", "view.image", "x" * 70)
)


def speak(conversation, provider, turn):
    """One turn of a provider: thinking, two parallel calls, a third without a result."""
    target = get_target(provider)
    raw = RAW_IDS.get(provider, "call_{}")
    seal = Opaque(target.domain, "signature", f"sig-{provider}")
    conversation.user(f"Question {turn}.")
    calls = [
        ToolCall(id=raw.format(3 * turn + n), name=name, args={"q": f"{provider} {n}"})
        for n, name in enumerate(("search", "view.image", "x" * 70))
    ]
    appended = conversation.assistant(
        [Thinking(f"Thought of {provider}.", opaque=(seal,)), Text("Let me see."), *calls],
        origin=Origin(provider, target.format, model="model"),
    )
    first, second, _ = appended.calls
    image = Media("image/png", data="aGk=")
    conversation.append(
        Message(
            "tool",
            (
                ToolResult(call_id=second.id, content=(Text("an image"), image)),
                ToolResult(call_id=first.id, content=(Text("not found"),), error=True),
            ),
        )
    )
    conversation.assistant([Text(f"Answer {turn}.")], origin=Origin(provider, target.format))


@pytest.fixture(scope="module")
def stages():
    conversation = Conversation()
    made = []
    for turn, provider in enumerate(PROVIDERS):
        speak(conversation, provider, turn)
        made.append(conversation.fork())
    return made


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.deep)])
@pytest.mark.parametrize("target", PROVIDERS)
def test_after_every_turn_of_every_provider(stages, target, every):
    """Every fourth turn in each run, others for every target; and all of them."""
    goal = get_target(target)
    turns = list(zip(PROVIDERS, stages, strict=True))
    for provider, stage in turns[PROVIDERS.index(target) % every :: every]:
        conversation = stage.fork()
        conversation.user("Go on.")
        encoded = encode_request(Request(conversation, tools=TOOLS, model="model"), goal)
        found = [str(one) for one in verify(encoded.body, goal)]
        assert found == [], f"after {provider}"
        ids = [id for id in encoded.transcript.ids.values() if id]
        assert len(ids) == len(set(ids))
        assert all(re.fullmatch(goal.ids.pattern, id) for id in ids)


@pytest.mark.parametrize("target", PROVIDERS)
def test_a_foreign_signature_is_never_sent(stages, target):
    goal = get_target(target)
    body = str(encode_request(Request(stages[-1], tools=TOOLS, model="model"), goal).body)
    for provider in PROVIDERS:
        if get_target(provider).domain != goal.domain:
            assert f"sig-{provider}" not in body
