"""Every back that a gateway can have, each with a model of it that thinks, and what the model says.

The model is no script: what it says follows from the request, so that one simulator can serve any
number of conversations.
"""

from canonicall.blocks import Message
from canonicall.facts.registry import get_profile, provider_names
from canonicall.gateway.config import Choice, ModelSettings
from canonicall.reply import Reply
from canonicall.request import Request
from canonicall.testing import Simulator, call, says, thought
from canonicall.testing.habits import models_of
from gateway_support import World

BACKS = [f"{name}/{format}" for name in provider_names() for format in get_profile(name).formats]
_THINKING = {
    "anthropic": "claude-opus-5-5",
    "azure/anthropic": "claude-opus-4-6",
    "cohere": "command-a-reasoning-08-2025",
    "deepseek": "deepseek-reasoner",
    "kimi": "kimi-k2-thinking",
    "mistral": "magistral-medium-latest",
    "ollama": "gpt-oss:20b",
    "vertex/anthropic": "claude-sonnet-4-5",
}

BOTH = "The weather and the time in Paris?"
MORE = "And the weather in Oslo?"
RESULTS = {"Paris": "sunny, 21 degrees", "Oslo": "snow"}


def alias(back: str) -> str:
    """The name that clients have for a back: neither a slash nor a colon is in it."""
    return f"by-{back.replace('/', '-')}"


def target_of(back: str) -> str:
    """A model of the back that thinks."""
    provider = back.partition("/")[0]
    return f"{back}:{_THINKING.get(back) or _THINKING.get(provider) or models_of(provider)[0]}"


def models() -> dict[str, ModelSettings]:
    """All backs by their aliases."""
    return {alias(one): ModelSettings(choices=(Choice(target=target_of(one)),)) for one in BACKS}


def thinking_model(request: Request) -> Reply:
    """Thinks, calls the tools that the last question is about, then tells what they said."""
    question, since = "", list[Message]()
    for message in request.conversation.messages:
        if message.role == "user" and message.text.strip():
            question, since = message.text, []
        since.append(message)
    results = [result for message in since for result in message.results]
    if results:
        told = "; ".join(result.text for result in results)
        return says(thought(f"The tools say {told}."), f"It is so: {told}.")
    if question == BOTH:
        calls = [call("get_weather", city="Paris"), call("local_time", city="Paris")]
        return says(thought("Two tools know that."), *calls)
    if question == MORE:
        return says(thought("One more tool."), "I look.", call("get_weather", city="Oslo"))
    return says(thought("No tool knows."), f"You said: {question}")


def thinking_world() -> World:
    """All providers, with that model."""
    return World(lambda provider: Simulator(provider, model=thinking_model))
