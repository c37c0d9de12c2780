"""Whole request bodies for the laws: every target there is, and where a body has what."""

from msgspec.structs import replace

from batches import each
from canonicall.codec import Encoded, encode_request
from canonicall.conversation import Conversation
from canonicall.facts.registry import get_profile, get_target, provider_names
from canonicall.facts.target import Target
from canonicall.request import Request, Tool
from canonicall.testing.strategies.of_blocks import TOOL_NAMES
from canonicall.transcript.render import Renderer
from canonicall.wire.formats import FORMATS, get_format

TARGETS: dict[str, Target] = {
    f"{name}/{format}": get_target(f"{name}/{format}")
    for name in sorted(provider_names())
    for format in get_profile(name).formats
}
"""Every provider in each of its formats."""

MODELS: dict[str, Target] = {
    f"{name}/{one.format}:{glob}": get_target(f"{name}/{one.format}:{glob.replace('*', 'x')}")
    for name in sorted(provider_names())
    for one in get_profile(name).models
    for glob in one.match
}
"""Every kind of model that a profile has rules for, by a name that its pattern fits."""

BASES = {format: get_format(format).target for format in FORMATS}
"""Every format as its own API takes it."""


def one_of_each(targets: dict[str, Target]) -> dict[str, Target]:
    """The first target of each set of rules: many hosts differ in nothing but their names."""
    found: dict[Target, str] = {}
    for name, target in targets.items():
        found.setdefault(replace(target, provider="", domain="", model=""), name)
    return {name: targets[name] for name in found.values()}


DISTINCT = one_of_each(TARGETS)
DISTINCT_MODELS = {
    name: target for name, target in one_of_each(TARGETS | MODELS).items() if name not in DISTINCT
}
every_model = each("target", DISTINCT_MODELS.values(), ids=DISTINCT_MODELS)
# A model that takes instructions among messages, and one that goes on with words of its own.
PARTICULAR = {
    name: get_target(name) for name in ("anthropic:claude-opus-5", "anthropic:claude-haiku-4-5")
}
every_kind = each("target", (DISTINCT | PARTICULAR).values(), ids=DISTINCT | PARTICULAR)
every_target = each("target", DISTINCT.values(), ids=DISTINCT)

TOOLS = tuple(Tool(name, "A tool.", {"type": "object", "properties": {}}) for name in TOOL_NAMES)


def asked(conversation: Conversation, tools: tuple[Tool, ...] = TOOLS) -> Request:
    """A request with nothing in it but a conversation and an offer."""
    return Request(conversation, tools=tools, model="some-model")


def encoded(
    conversation: Conversation,
    target: Target,
    tools: tuple[Tool, ...] = TOOLS,
    renderer: Renderer | None = None,
) -> Encoded:
    return encode_request(asked(conversation, tools), target, renderer=renderer)
