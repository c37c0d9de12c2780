"""A small deterministic model. It calls only the tools that it was asked to call.

By default it calls none, whatever the request says: a client that runs every call would run a
command made of the prompt. Its reply then lists the tools that were offered. With `call_tools` it
calls the named ones that the user's message is about, once for each user message, several at a time
where that is allowed, and then answers with their results: as text, or as the JSON that the request
asks for. The same request always gets the same reply.
"""

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Any

import msgspec

from canonicall.blocks import Message, Text, Thinking, ToolCall, ToolResult
from canonicall.ledger import Interaction
from canonicall.reply import Reply
from canonicall.request import Request, Tool
from canonicall.testing.sample_values import sample_arguments, sample_value
from canonicall.testing.script import says

MOST_CALLS = 4
ALL_TOOLS = "*"
"""The pattern that every tool name matches."""
_SHOWN = 300
_SUMMED = 4000
"""How long a summary is at most."""
_LISTED = 20
"""How many tool names a reply lists."""
_WORD = re.compile(r"[^\W_]{3,}")
_COMMON = {
    *("and", "are", "call", "can", "for", "from", "get", "give", "has", "how", "not", "please"),
    *("show", "tell", "that", "the", "this", "tool", "use", "what", "when", "where", "which"),
    *("who", "with", "you", "your"),
}
"""Words that say nothing about what is wanted."""


class SmallModel:
    """The model a simulator has where no script is given."""

    def __init__(self, *, thinks: bool | None = None, call_tools: str | Iterable[str] = ()) -> None:
        """
        `thinks`: whether replies begin with a thought; None: where the request asks for it.
        `call_tools`: the tools that may be called, as names or patterns ("*" is all of them); in
        one text they are separated by commas.
        """
        self._thinks = thinks
        listed = call_tools.split(",") if isinstance(call_tools, str) else call_tools
        self._patterns = tuple(name.strip() for name in listed)

    def __call__(self, request: Request) -> Reply:
        said, since = _last_question(request.conversation.messages)
        results = [result for message in since for result in message.results]
        closed = _closed(request, since)
        calls = [] if results or closed else self._calls(request, said)
        words = "" if calls else _answer(said, results, closed, request)
        if words and request.params.output is not None:
            words = _as_json(words, said, request.params.output.schema)
        blocks: list[Thinking | Text | ToolCall] = [*calls] if calls else [Text(text=words)]
        if self._is_thinking(request):
            about = ", ".join(call.name for call in calls) or "the answer"
            blocks.insert(0, Thinking(text=f"The user asks: {said[:_SHOWN]} I go on with {about}."))
        return says(*blocks)

    def summary(self, request: Request) -> str:
        """What was said so far, in one text."""
        said = [f"{one.role}: {_said(one)}" for one in request.conversation.messages if _said(one)]
        return f"Summary of the conversation. {' '.join(said)}"[:_SUMMED]

    def _is_thinking(self, request: Request) -> bool:
        asked = request.params.reasoning
        if self._thinks is not None:
            return self._thinks
        return asked is not None and asked.enabled is not False and asked.effort != "none"

    def _calls(self, request: Request, said: str) -> list[ToolCall]:
        tools = [tool for tool in _offered(request) if self._may_call(tool)]
        choice = request.tool_choice
        mode = choice.mode if choice is not None else None
        if not tools or mode == "none":
            return []
        wanted = [tool for tool in tools if _is_about(tool, said)]
        if not wanted and mode == "required":
            wanted = tools[:1]
        one_only = choice is not None and choice.parallel is False
        return [_call(tool, said) for tool in wanted[: 1 if one_only else MOST_CALLS]]

    def _may_call(self, tool: Tool) -> bool:
        return any(fnmatchcase(tool.name, pattern) for pattern in self._patterns)


def _said(message: Message) -> str:
    results = [f"{result.text[:_SHOWN]}" for result in message.results]
    return " ".join([message.text[:_SHOWN], *results]).strip()


def _last_question(messages: Iterable[Message]) -> tuple[str, list[Message]]:
    """The last words of the user, and the messages behind them."""
    said = ""
    since: list[Message] = []
    for message in messages:
        if message.role == "user" and message.text.strip():
            said, since = message.text, []
        since.append(message)
    return said, since


def _offered(request: Request) -> list[Tool]:
    """The tools that may be called; those that a provider runs itself are none of ours."""
    named = request.tool_choice.names if request.tool_choice is not None else ()
    return [
        tool
        for tool in request.tools
        if tool.kind != "server" and (not named or tool.name in named)
    ]


def _is_about(tool: Tool, said: str) -> bool:
    """Whether the user's words share one with the name of the tool or with what it does."""
    return bool(_words(f"{_spaced(tool.name)} {tool.description}") & _words(said))


def _words(text: str) -> set[str]:
    return {word.rstrip("s") for word in _WORD.findall(text.lower())} - _COMMON


def _spaced(name: str) -> str:
    """`getWeather_now` as words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|[_\-.:]", " ", name)


def _call(tool: Tool, said: str) -> ToolCall:
    if tool.kind == "custom":
        return ToolCall(name=tool.name, raw=said[:_SHOWN], kind="custom")
    return ToolCall(name=tool.name, args=sample_arguments(tool.parameters, said))


def _closed(request: Request, since: Iterable[Message]) -> list[Interaction]:
    """The calls that ended without a result: denied, cancelled and so on."""
    ledger = request.conversation.ledger
    made = (ledger.get(call.id) for message in since for call in message.calls)
    return [one for one in made if one is not None and one.closed]


def _answer(
    said: str, results: list[ToolResult], closed: list[Interaction], request: Request
) -> str:
    if results or closed:
        said_before = request.conversation.messages
        names = {call.id: call.name for message in said_before for call in message.calls}
        told = [_told(result, names.get(result.call_id, "a tool")) for result in results]
        told += [f"{one.name} ended as {one.outcome}" for one in closed]
        return f"Here is what I found: {'; '.join(told)}"
    if not said:
        return "I have not been asked anything yet."
    return f"You said: {said[:_SHOWN]} {_tools_listed(request)}"


def _tools_listed(request: Request) -> str:
    names = [tool.name for tool in request.tools]
    if not names:
        return "I have no tools here."
    rest = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"Tools offered: {', '.join(names[:_LISTED])}{rest}. None was called."


def _as_json(words: str, said: str, schema: dict[str, Any] | None) -> str:
    """The answer as JSON text; by a schema it is made of what the user mentioned."""
    value = {"answer": words} if schema is None else sample_value(schema, said)
    return msgspec.json.encode(value).decode()


def _told(result: ToolResult, name: str) -> str:
    how = "failed with" if result.error else "says"
    return f"{name} {how} {result.text[:_SHOWN] or 'nothing'}"
