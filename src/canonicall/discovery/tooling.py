"""`ToolingInfo`: how an endpoint calls tools, in the words of seed strategy 10, with the proof."""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from canonicall.calls import to_generic
from canonicall.client.secrets import Secret, hide
from canonicall.discovery.answer import Told
from canonicall.discovery.exchanges import Learned
from canonicall.discovery.id_rules import Seen
from canonicall.discovery.statement import QUESTIONS, Comparison, Statement
from canonicall.discovery.text_calls import PrintedCalls, names_tools
from canonicall.facts.target import TextForm
from canonicall.wire.formats import get_format

_STYLES = {
    "openai-chat": "openai",
    "openai-responses": "openai",
    "cohere": "openai",
    "ollama": "openai",
    "anthropic": "anthropic",
}
"""How tools are declared; the other formats have a form of their own."""
_DEEPEST = 8
"""No format has its calls deeper inside a reply; arguments may be as deep as somebody likes."""
_QUIRKS: dict[tuple[str, Any], str] = {
    ("structured_calls", False): "Calls are printed in the text.",
    ("argument_streaming", "whole"): "A stream brings each call whole, not piece by piece.",
    ("usage_in_streams", False): "A stream does not tell the tokens, even where it is asked to.",
    ("ids_reused", True): "Another reply has the same ids again.",
    ("foreign_ids", False): "Ids of other forms are refused in a history.",
    ("plain_ids", False): "Ids that the endpoint did not make are refused in a history.",
    ("reasoning_setting", False): "Reasoning cannot be asked for.",
    ("choice_required", "ignored"): "tool_choice required is taken, and not obeyed.",
    ("choice_required", "refused"): "tool_choice required is refused.",
    ("choice_named", "ignored"): "A tool that tool_choice names is not always called.",
    ("choice_named", "refused"): "tool_choice cannot name a tool.",
    ("choice_none", "ignored"): "tool_choice none is taken, and not obeyed.",
    ("choice_none", "refused"): "tool_choice none is refused.",
    ("parallel_switch", False): "The switch for parallel calls is refused.",
    ("schema_keywords", False): "Schemas with more than the plain keywords are refused.",
    ("strict_tools", False): "Strict tools are refused.",
    ("tools_with_history", True): "A history with calls is refused where no tools are declared.",
    ("developer_role", False): "There is no developer role.",
    ("system_later", False): "Instructions have to stand first.",
    ("user_after_results", False): "A user message must not follow results.",
    ("users_in_a_row", False): "Two messages of the user must not follow each other.",
    ("assistant_first", False): "The first message has to be the user's.",
    ("text_beside_calls", False): "A message has text or calls, not both.",
    ("empty_results", False): "An empty result is refused.",
    ("reasoning_replay", False): "Reasoning is refused in a history.",
}
"""What is worth knowing, in one sentence for each answer."""


class ToolingInfo(Struct, frozen=True, kw_only=True):
    """What was found out about one endpoint and one model."""

    url: str
    """The base address, as a client is given it."""
    model: str
    format: str
    """How calls are written: json, xml or custom; empty where no call came."""
    wire_format: str
    formats: dict[str, str]
    """All wire formats that answer, with the base address of each."""
    auth: str
    """How the key is shown: "bearer", or the name of a header."""
    example: str
    """One call, as it came."""
    parser: str
    """What reads the calls: the wire format, or the name of a text syntax."""
    text_form: TextForm | None = None
    """The form that was learned, where no registered syntax reads the calls."""
    quirks: tuple[str, ...]
    schema_style: str
    """How tools are declared: openai, anthropic or custom."""
    statements: tuple[Statement, ...]
    learned: tuple[Learned, ...] = ()
    """What refusals taught about fields that no probe asks for."""
    models: tuple[str, ...] = ()
    ids: Seen | None = None
    """What the ids of calls have in common; None where no call came."""
    requests: int = 0
    """How many requests it took, those that cost nothing among them."""
    documented: tuple[Comparison, ...] = ()

    def answer(self, question: str) -> Any:
        """The answer to one of `QUESTIONS`; None where it is not known."""
        return next((one.answer for one in self.statements if one.question == question), None)

    @property
    def unknown(self) -> tuple[str, ...]:
        """The questions without an answer."""
        return tuple(one for one in QUESTIONS if self.answer(one) is None)


def tooling_of(
    statements: dict[str, Statement],
    format: str,
    told: Told | None,
    printed: PrintedCalls | None,
    secrets: tuple[Secret, ...],
) -> dict[str, Any]:
    """The fields of `ToolingInfo` that sum up the statements; `secrets` are in none of them."""
    fields = {
        "schema_style": _STYLES.get(format, "custom"),
        "quirks": tuple(_quirks(statements)),
        "statements": tuple(statements.values()),
    }
    if told is not None and told.reply.calls:
        example = hide(_example(told, format), secrets)
        return {**fields, "format": "json", "parser": format, "example": example}
    text = hide(told.reply.message.text, secrets) if told is not None else ""
    if printed is not None:
        learned = {"parser": printed.syntax, "text_form": printed.form, "example": text}
        return {**fields, "format": printed.declared.notation, **learned}
    # A form that was not learned is shown, so that a person can look at it.
    example = text if told is not None and names_tools(told.reply.message) else ""
    return {**fields, "format": "", "parser": format, "example": example}


def _example(told: Told, format: str) -> str:
    """The first call, as its format writes it; in canonical form where it cannot stand alone."""
    call = told.reply.calls[0]
    alone = msgspec.structs.replace(
        told.reply, message=msgspec.structs.replace(told.reply.message, blocks=(call,))
    )
    body = get_format(format).encode_response(alone)
    found = _call_in(body, call.name) or to_generic(call)
    return msgspec.json.encode(found).decode()


def _call_in(value: Any, name: str, depth: int = 0) -> dict[str, Any] | None:
    """The call of this name: an element of a list in every format, the innermost one."""
    if depth > _DEEPEST:
        return None
    if isinstance(value, dict):
        inner = (_call_in(one, name, depth + 1) for one in value.values())
        return next((one for one in inner if one is not None), None)
    for one in value if isinstance(value, list) else ():
        found = _call_in(one, name, depth + 1) or (one if _names(one, name) else None)
        if found is not None:
            return found
    return None


def _names(value: Any, name: str) -> bool:
    """Whether an object names the tool, itself or in an object right inside of it."""
    inner = value.values() if isinstance(value, dict) else ()
    holders = (value, *inner)
    return any(isinstance(one, dict) and one.get("name") == name for one in holders)


def _quirks(statements: dict[str, Statement]) -> Iterator[str]:
    for one in statements.values():
        known = _QUIRKS.get((one.question, one.answer)) if _is_plain(one.answer) else None
        if known:
            yield known


def _is_plain(answer: Any) -> bool:
    return isinstance(answer, (bool, str))
