"""The parts of probes: each changes a draft in one point, which an endpoint takes or refuses.

Parts that can stand together are sent in one request. Where that is refused, `codes` tell whose
fault it was: what `explain` calls the refusal. A code that several parts could have is no clue,
and none of them has it: then they are sent in halves.
"""

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from canonicall.blocks import Block, Message, Text, Thinking, ToolResult
from canonicall.discovery.draft import CLOCK, SOME, WEATHER, Draft, said
from canonicall.facts.target import IdRule, Target
from canonicall.request import Params, Reasoning, Tool, ToolChoice

_HELLO = (said("user", "Say hello, please."),)
_FOREIGN = IdRule(prefix="functions.other:" + 24 * "0", pattern=r"(?s:.+)", max_length=64)
"""Made ids have dots and colons, as Kimi's, and all of the 64 characters that some allow."""
_PLAIN = IdRule(prefix="call_", pattern="(?!)", max_length=40)
"""Made ids are those of OpenAI; no id that came fits."""
# What schemas of real tools have, and what strict readers refuse.
_RICH = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "minLength": 1, "pattern": "^[A-Z]", "examples": ["Paris"]},
        "unit": {"oneOf": [{"const": "celsius"}, {"const": "fahrenheit"}], "default": "celsius"},
        "near": {"$ref": "#/$defs/place"},
        "days": {"type": ["integer", "null"], "exclusiveMinimum": 0},
    },
    "required": ["city"],
    "additionalProperties": False,
    "$defs": {"place": {"type": "object", "properties": {"name": {"type": "string"}}}},
}
_STRICT = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
_LATER_CODES = ("misplaced_instructions", "bad_role_order")
_ID_CODES = ("bad_call_id", "call_id_too_long", "duplicate_call_id")
_CHOICE_CODES = ("choice_unsupported", "choice_without_tools")
_SCHEMA_CODES = ("bad_tool_schema", "invalid_schema", "schema_too_complex")


def _always(target: Target) -> bool:
    del target
    return True


class Part(Struct, frozen=True):
    """One point in which a request differs, and the question it answers."""

    question: str
    change: Callable[[Draft], Draft]
    codes: tuple[str, ...] = ()
    """What a refusal of this point is called."""
    formats: tuple[str, ...] = ()
    """The formats that can say it; () for all."""
    said_by: Callable[[Target], bool] = _always
    """Whether the base rules of a format have a word for it."""
    shown_as: str = ""
    """What the body has to hold for it to be said."""

    def is_said(self, base: Draft) -> bool:
        """Whether a request says it; where the format has no word for it, nothing is asked."""
        target = base.target
        if (self.formats and target.format not in self.formats) or not self.said_by(target):
            return False
        body = self.change(base).body
        return body != base.body and self.shown_as in str(body)


class Probe(Struct, frozen=True):
    """A request with several parts that can stand together."""

    name: str
    parts: tuple[Part, ...]
    on_history: bool = False
    """Sent one turn later, with calls and results in it."""


def _with_choice(draft: Draft, choice: ToolChoice) -> Draft:
    return replace(draft, choice=choice, params=replace(draft.params, max_tokens=SOME))


def _required(draft: Draft) -> Draft:
    """Forced to call where nothing needs it."""
    return _with_choice(replace(draft, messages=_HELLO), ToolChoice("required"))


def _named(draft: Draft) -> Draft:
    """Forced to call the tool that the question is not about."""
    asked = said("user", "What is the weather in Paris?")
    choice = ToolChoice("required", (CLOCK.name,))
    return _with_choice(replace(draft, messages=(asked,)), choice)


def _none(draft: Draft) -> Draft:
    return _with_choice(draft, ToolChoice("none"))


def _one_at_a_time(draft: Draft) -> Draft:
    choice = draft.choice or ToolChoice()
    return replace(draft, choice=replace(choice, parallel=False))


def _rich_schemas(draft: Draft) -> Draft:
    rich = Tool(WEATHER.name, WEATHER.description, _RICH)
    return replace(draft, tools=(rich, *draft.tools[1:]))


def _strict(draft: Draft) -> Draft:
    strict = Tool(CLOCK.name, CLOCK.description, _STRICT, strict=True)
    return replace(draft, tools=(*draft.tools[:1], strict))


def _foreign_ids(draft: Draft) -> Draft:
    return replace(draft, target=replace(draft.target, ids=_FOREIGN))


def _plain_ids(draft: Draft) -> Draft:
    return replace(draft, target=replace(draft.target, ids=_PLAIN))


def _without_tools(draft: Draft) -> Draft:
    return replace(draft, tools=())


def _developer(draft: Draft) -> Draft:
    first = said("developer", draft.messages[0].text)
    return replace(draft, messages=(first, *draft.messages[1:]))


def _system_later(draft: Draft) -> Draft:
    """Behind the results: some hosts take instructions behind a user message and nowhere else."""
    return replace(draft, messages=(*draft.messages, said("system", "Use metric units.")))


def _users_in_a_row(draft: Draft) -> Draft:
    at = _behind_question(draft)
    another = said("user", "Please.")
    return replace(draft, messages=(*draft.messages[:at], another, *draft.messages[at:]))


def _assistant_first(draft: Draft) -> Draft:
    hello = said("assistant", "Hello. What can I do?")
    return replace(draft, messages=(draft.messages[0], hello, *draft.messages[1:]))


def _user_after_results(draft: Draft) -> Draft:
    return replace(draft, messages=(*draft.messages, said("user", "In one word, please.")))


def _text_beside_calls(draft: Draft) -> Draft:
    return _in_calls(draft, lambda one: (Text(text="I look it up."), *one.blocks))


def _empty_result(draft: Draft) -> Draft:
    emptied = tuple(
        replace(one, blocks=tuple(map(_emptied, one.blocks))) if one.results else one
        for one in draft.messages
    )
    return replace(draft, messages=emptied)


def _thinking_asked(draft: Draft) -> Draft:
    params = Params(max_tokens=2 * SOME, stream=True, reasoning=Reasoning(True, "low", SOME))
    return replace(draft, params=params)


def _in_calls(draft: Draft, blocks: Callable[[Message], tuple[Block, ...]]) -> Draft:
    changed = tuple(
        replace(one, blocks=blocks(one), origin=None) if one.calls else one
        for one in draft.messages
    )
    return replace(draft, messages=changed)


def _emptied(block: Block) -> Block:
    is_result = isinstance(block, ToolResult)
    return replace(block, content=(Text(text=""),)) if is_result else block


def _behind_question(draft: Draft) -> int:
    return next(at for at, one in enumerate(draft.messages) if one.role == "user") + 1


def _has_mode(mode: str) -> Callable[[Target], bool]:
    return lambda target: mode in target.choice_modes


def _has_names(target: Target) -> bool:
    return target.choice_names != "no"


_CHAT = ("openai-chat",)

REASONING = Part(
    "reasoning_setting",
    _thinking_asked,
    ("thinking_unsupported", "reasoning_unsupported", "effort_unsupported", "thinking_budget"),
)
PLAIN_IDS = Part("plain_ids", _plain_ids, _ID_CODES)

PLAN = (
    Probe(
        "forced",
        (
            Part("choice_required", _required, _CHOICE_CODES, said_by=_has_mode("required")),
            Part("parallel_switch", _one_at_a_time, said_by=lambda one: one.parallel_switch),
            Part("schema_keywords", _rich_schemas, _SCHEMA_CODES),
        ),
    ),
    Probe("named", (Part("choice_named", _named, _CHOICE_CODES, said_by=_has_names),)),
    Probe(
        "forbidden",
        (
            Part("choice_none", _none, _CHOICE_CODES, said_by=_has_mode("none")),
            Part("strict_tools", _strict, ("strict_schema",), shown_as="strict"),
        ),
    ),
    Probe(
        "history",
        (
            Part("foreign_ids", _foreign_ids, _ID_CODES),
            Part("developer_role", _developer, ("unknown_role",), _CHAT),
            Part("system_later", _system_later, _LATER_CODES, _CHAT),
            Part("user_after_results", _user_after_results, ("user_after_tool",), _CHAT),
            Part("users_in_a_row", _users_in_a_row, ("roles_do_not_alternate",), _CHAT),
            Part("assistant_first", _assistant_first, ("must_start_with_user",), _CHAT),
            Part("text_beside_calls", _text_beside_calls, ("text_beside_calls",), _CHAT),
            Part("empty_results", _empty_result, ("empty_result", "empty_message", "blank_text")),
            Part("tools_with_history", _without_tools, ("tools_missing",)),
        ),
        on_history=True,
    ),
)
"""What is asked once it is known how calls come. Each probe is one request where all is taken."""


def replay_of(field: str) -> Part:
    """The part that sends a thought back in the field where thoughts came."""

    def change(draft: Draft) -> Draft:
        target = replace(draft.target, reasoning="open", reasoning_field=field)
        thought = Thinking(text="Tools will tell.")
        changed = replace(draft, target=target)
        return _in_calls(changed, lambda one: (thought, *one.blocks))

    return Part("reasoning_replay", change, ("reasoning_refused",), _CHAT)
