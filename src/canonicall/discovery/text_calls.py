"""Calls that an endpoint prints as text: the syntax they are in, known or learned.

A registered syntax counts if it reads the calls that were asked for. Else the endpoint is asked for
three calls whose names and arguments are known, and a form is inferred from what it prints. A form
has to read all examples, and to pass the checks that are handed in: what it prints is read again,
in any pieces, and no text is lost. Out: `PrintedCalls`, or the reason why nothing was learned.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from msgspec import Struct

from canonicall.blocks import Message, ToolCall
from canonicall.discovery.draft import SOME, TOOLS, Draft, said
from canonicall.facts.target import Target, TextForm
from canonicall.request import Params, Tool
from canonicall.syntax.declaration import Syntax
from canonicall.syntax.inference import Example, infer_form
from canonicall.syntax.parsing import parse
from canonicall.syntax.registry import get_syntax
from canonicall.syntax.text_form import syntax_of_form

Prove: TypeAlias = Callable[[Syntax], Iterable[str]]
"""Checks a syntax; gives what is wrong with it."""

LEARNED = "learned"
"""The name of a form that was inferred. It belongs to one profile, so it need not be unique."""
_CITY = {"city": "Paris"}


def _asked(name: str, **arguments: Any) -> tuple[Tool, dict[str, Any]]:
    kinds = {str: "string", int: "integer", bool: "boolean"}
    members = {key: {"type": kinds[type(value)]} for key, value in arguments.items()}
    schema = {"type": "object", "properties": members, "required": [*arguments]}
    return Tool(name, f"Runs {name}.", schema), arguments


EXAMPLES = (
    _asked("weather_forecast", city="Oslo", days=3),
    _asked("exchange_rate", currency="Franc", amount=250),
    _asked("book_table", guest='Ann & "Bo" <Lee>', outdoors=True),
)
"""Calls to be printed: text and numbers, and text with characters that may have to be escaped."""


class PrintedCalls(Struct, frozen=True):
    """How calls are printed as text."""

    syntax: str
    form: TextForm | None = None
    """Where the syntax was learned."""

    @property
    def declared(self) -> Syntax:
        return get_syntax(self.syntax) if self.form is None else syntax_of_form(self.form)

    def calls(self, message: Message, tools: Sequence[Tool] = TOOLS) -> tuple[ToolCall, ...]:
        """The calls in the text of a message."""
        return parse(message.text, syntax=self.declared, tools=tools).calls


def in_known_syntax(message: Message) -> PrintedCalls | None:
    """The registered syntax in which a reply prints the calls that it was asked for."""
    parsed = parse(message.text, tools=TOOLS)
    is_whole = all(call.args and call.args.keys() == _CITY.keys() for call in parsed.calls)
    return PrintedCalls(parsed.syntax) if parsed.calls and is_whole else None


def names_tools(message: Message) -> bool:
    """Whether a text names a tool that was asked for: it may be a call in an unknown form."""
    return any(tool.name in message.text for tool in TOOLS)


def example_draft(target: Target, tool: Tool, arguments: dict[str, Any]) -> Draft:
    """A request for one call with known arguments."""
    wanted = ", ".join(f"{key} = {_written(value)}" for key, value in arguments.items())
    asked = f"Call the tool {tool.name} once, with {wanted}. Write nothing else."
    tools = tuple(one for one, _ in EXAMPLES)
    params = Params(max_tokens=SOME)
    return Draft(target=target, messages=(said("user", asked),), tools=tools, params=params)


def learned_form(
    texts: Sequence[str], both: str, prove: Prove | None
) -> tuple[PrintedCalls | None, str]:
    """The form of the examples, or why there is none.

    `texts` are the replies to the requests for `EXAMPLES`, `both` the reply with several calls.
    """
    examples = [
        Example(text, ((tool.name, arguments),))
        for text, (tool, arguments) in zip(texts, EXAMPLES, strict=False)
    ]
    order = sorted((both.find(tool.name), tool.name) for tool in TOOLS if tool.name in both)
    several = Example(both, tuple((name, dict(_CITY)) for _, name in order))
    found = infer_form([*examples, several], LEARNED)
    if found.form is None:
        # The text that has to be escaped is more than some models get right.
        found = infer_form([*examples[:2], several], LEARNED)
    if found.form is None:
        return None, found.reason
    printed = PrintedCalls(LEARNED, found.form)
    wrong = [*prove(printed.declared)] if prove is not None else []
    return (
        (None, f"The form that was inferred is not valid: {wrong[0]}") if wrong else (printed, "")
    )


def _written(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
