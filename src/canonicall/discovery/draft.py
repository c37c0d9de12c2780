"""A request that probes: canonical values, for a target that forbids nothing.

The renderer repairs whatever a target would refuse. A probe wants to see it refused, so its target
takes everything, and each part of a probe changes the draft in one point.
"""

from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from canonicall.blocks import Message, Native, Text, ToolCall, ToolResult
from canonicall.codec.encode import encode_request
from canonicall.conversation import Conversation
from canonicall.errors import CanonicallError
from canonicall.facts.endpoint import format_endpoint
from canonicall.facts.schema_rules import SchemaRule
from canonicall.facts.target import FieldRule, IdRule, Target
from canonicall.request import Params, Request, Tool, ToolChoice
from canonicall.wire.formats import get_format

_CITY = {
    "type": "object",
    "properties": {"city": {"type": "string", "description": "The name of the city."}},
    "required": ["city"],
}
WEATHER = Tool("weather_report", "The weather in a city.", _CITY)
CLOCK = Tool("local_time", "The time in a city.", _CITY)
TOOLS = (WEATHER, CLOCK)
ASKED = (
    "Use both tools at once, in one step: weather_report and local_time, each for the city Paris."
)
FEW, SOME = 64, 1024
"""Tokens of a reply that only has to come, and of one that has to have calls in it."""
ANY_ID = IdRule(prefix="", pattern=r"(?s:.+)", max_length=1000)
"""Ids stay as they came."""
_LIMIT_FIELD = "max_tokens"
"""The older name, which most hosts know; those that do not say what they want instead."""
_MODEL_FIELDS = ("model", "modelId")


class Draft(Struct, frozen=True, kw_only=True):
    """What is to be sent."""

    target: Target
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = TOOLS
    choice: ToolChoice | None = None
    params: Params = Params(max_tokens=FEW)
    counted: bool = True
    """A stream is asked to tell its usage, as every client does it where it is taken."""

    @property
    def stream(self) -> bool:
        return self.params.stream is True or self.target.stream_only

    @property
    def body(self) -> dict[str, Any]:
        """The body of the request."""
        conversation = Conversation.of(self.messages)
        request = Request(conversation, self.tools, self.choice, self.params)
        if self.stream and self.counted and self.target.format == "openai-chat":
            usage = {"stream_options": {"include_usage": True}}
            request = replace(request, native=Native(self.target.format, usage))
        body = encode_request(request, self.target).body
        if format_endpoint(self.target.format).names_model:
            body = {name: value for name, value in body.items() if name not in _MODEL_FIELDS}
        return body

    @property
    def data(self) -> bytes:
        return msgspec.json.encode(self.body)


def permissive(format: str, model: str) -> Target:
    """The base rules of a format without what could be refused."""
    base = get_format(format).target
    return replace(
        base,
        provider="",
        model=model,
        ids=base.ids if base.ids.style == "echoed" else ANY_ID,
        fields=FieldRule(),
        schemas=SchemaRule(),
        token_limit_field=_LIMIT_FIELD,
        developer=True,
        system_later=base.system == "inline",
        starts_with_user=False,
        user_after_results=True,
        empty_results=True,
        text_beside_calls=True,
        tools_with_history=False,
        refused_params=(),
        refusals=(),
    )


def said(role: Any, text: str) -> Message:
    """A message of words."""
    return Message(role, (Text(text=text),))


def question(target: Target) -> Draft:
    """The first request: two tools, and a question that needs both.

    It has no instructions: a host that cannot do without says so.
    """
    asked = (said("user", ASKED),)
    return Draft(target=target, messages=asked, params=Params(max_tokens=SOME))


def history(target: Target, reply: Message | None) -> Draft:
    """The conversation one turn later: the calls that came, each with its result.

    Where no calls came that can be stored, one is made up: a history from another provider is just
    that.
    """
    made = reply if reply is not None and reply.calls and _is_storable(reply) else None
    call = ToolCall(id="call_probe0000000000000000001", name=WEATHER.name, args={"city": "Paris"})
    calls = made or Message("assistant", (call,), finish="tool_calls")
    results = tuple(
        ToolResult(call_id=one.id, name=one.name, content=(Text(text="Sunny, 12:00."),))
        for one in calls.calls
    )
    told = said("system", "Answer in few words.")
    messages = (told, *question(target).messages, calls, Message("tool", results))
    return Draft(target=target, messages=messages)


def _is_storable(message: Message) -> bool:
    """Whether a reply can be part of a conversation: its arguments may be of any depth."""
    try:
        Conversation().append(message)
    except CanonicallError:
        return False
    return True
