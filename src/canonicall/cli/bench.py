"""`canonicall bench`: what canonicall costs on this machine, for a transcript.

In: a transcript, or one that is made here. Out: microseconds for each step, and how many times that
is what no program can go below: reading the same bytes as JSON and writing them again.
"""

from itertools import cycle

import click
import msgspec
from msgspec import Struct

from canonicall.blocks import Message, Text, ToolCall, ToolResult
from canonicall.cli.arguments import INPUT, TargetName, from_option, json_option
from canonicall.cli.files import UnusableFile, reading, shown
from canonicall.cli.measuring import Work, side_by_side
from canonicall.cli.page import add_row, open_console, say, show_table, simple_table
from canonicall.codec import decode_request, encode_request, translate
from canonicall.conversation import Conversation
from canonicall.errors import CanonicallError
from canonicall.facts.registry import get_target
from canonicall.facts.target import FORMATS, Target
from canonicall.importing.documents import read_document
from canonicall.importing.pieces import pieces
from canonicall.request import Request, Tool
from canonicall.syntax.parsing import parse
from canonicall.syntax.registry import get_syntax
from canonicall.testing.conformance.printed import printed
from canonicall.transcript.render import Renderer
from canonicall.verify import verify
from canonicall.wire.formats import get_format

_JSON, _CALLS = "json", "calls_json"
_STEPS = {
    _JSON: "reading the request as JSON and writing it: the floor",
    "decode": "reading it into a conversation",
    "encode": "rendering it for the target",
    "verify": "judging what was rendered",
    "translate": "all the way, from bytes to bytes",
    "one_more_turn": "rendering it again with one message more",
    _CALLS: "reading its calls as plain JSON and writing them: the other floor",
    "parse": "reading these calls where a model prints them as text",
}
_FLOORS = {"parse": _CALLS, _CALLS: _CALLS}
_TURNS = 40
_SYNTAX = "hermes"


class Subject(Struct, frozen=True):
    """What is measured."""

    name: str
    format: str
    data: bytes
    request: Request


class Cost(Struct, frozen=True):
    """What one step costs."""

    name: str
    about: str
    microseconds: float
    ratio: float
    """How many times its floor."""
    runs: int


@click.command()
@click.argument("file", required=False, type=INPUT)
@click.option(
    "--as",
    "target",
    default="anthropic",
    show_default=True,
    type=TargetName(),
    metavar="PROVIDER[:MODEL]",
    help="Who it is rendered for.",
)
@from_option
@click.option(
    "--seconds",
    default=3.0,
    show_default=True,
    type=click.FloatRange(0, 600),
    metavar="N",
    help="How long to measure, in all.",
)
@json_option
def bench(file: str | None, target: str, format: str, seconds: float, as_json: bool) -> None:
    """Measure what canonicall costs on this machine.

    FILE is a transcript of any kind, of which the first is taken; - is standard input. Without
    FILE a request of forty turns with calls is measured. Each step is told in microseconds, and as
    a ratio to plain JSON: reading and writing the same bytes, measured in the same run.

    \b
    Examples:
      canonicall bench
      canonicall bench request.json --as gemini --seconds 10
    """
    subject = _made() if file is None else _read(file, format)
    goal = get_target(target)
    measured = side_by_side(_works(subject, goal), seconds)
    costs = [
        Cost(
            name,
            _STEPS[name],
            one.seconds * 1e6,
            one.seconds / measured[_FLOORS.get(name, _JSON)].seconds,
            one.runs,
        )
        for name, one in measured.items()
    ]
    if as_json:
        told = {
            "transcript": subject.name,
            "format": subject.format,
            "target": target,
            "bytes": len(subject.data),
            "entries": len(subject.request.conversation),
            "steps": costs,
        }
        click.echo(msgspec.json.format(msgspec.json.encode(told), indent=2))
    else:
        _show(subject, target, costs)


def _works(subject: Subject, target: Target) -> dict[str, Work]:
    data, format, request = subject.data, subject.format, subject.request
    body = encode_request(request, target).body
    calls = [one.call for one in request.conversation.ledger.values() if one.call.args]
    text = printed(get_syntax(_SYNTAX), calls) or ""
    as_json = msgspec.json.encode([{"name": call.name, "arguments": call.args} for call in calls])
    return {
        _JSON: lambda: msgspec.json.encode(msgspec.json.decode(data)),
        "decode": lambda: decode_request(data, format),
        "encode": lambda: encode_request(request, target),
        "verify": lambda: verify(body, target),
        "translate": lambda: translate(data, format, target).data,
        "one_more_turn": _one_more_turn(request, target),
        _CALLS: lambda: msgspec.json.encode(msgspec.json.decode(as_json)),
        "parse": lambda: parse(text, syntax=_SYNTAX, tools=request.tools),
    }


def _one_more_turn(request: Request, target: Target) -> Work:
    """Two conversations that differ in their last message, in turn: only that one is new."""
    renderer = Renderer(target)
    longer: list[Request] = []
    for words in ("And now?", "And then?"):
        conversation = request.conversation.fork()
        conversation.user(words)
        longer.append(msgspec.structs.replace(request, conversation=conversation))
    turns = cycle(longer)
    return lambda: encode_request(next(turns), target, renderer=renderer)


def _read(file: str, format: str) -> Subject:
    with reading(file) as lines:
        piece = next(pieces(lines, format))
    try:
        document = read_document(piece.data, format)
    except CanonicallError as error:
        raise UnusableFile(shown(file), error) from None
    if document.body is not None and document.format in FORMATS:
        data = msgspec.json.encode(document.body)
        return Subject(shown(file), document.format, data, document.request)
    return _as_request(shown(file), document.request)


def _as_request(name: str, request: Request) -> Subject:
    """What is no request body is measured as the one that it becomes."""
    made = encode_request(request, get_format("openai-chat").target)
    return Subject(name, "openai-chat", made.data, request)


def _made() -> Subject:
    """Forty turns as a coding agent has them, two calls each."""
    conversation = Conversation()
    conversation.system("You are a careful assistant. " * 20)
    for turn in range(_TURNS):
        conversation.user(f"Look at part {turn}, and mend it.")
        ids = [f"call_{turn:04}_{at}" for at in range(2)]
        args = {"path": f"src/part_{turn}.py", "start": turn, "note": "why " * 20}
        calls = [ToolCall(id=id, name="read_file", args=args) for id in ids]
        conversation.append(Message("assistant", (Text(text="I look."), *calls)))
        found = (Text(text="a line of code\n" * 60),)
        conversation.append(
            Message("tool", tuple(ToolResult(call_id=id, content=found) for id in ids))
        )
        conversation.assistant("It is mended. " * 5)
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    tools = (Tool("read_file", "Reads a file.", schema),)
    return _as_request("a made-up transcript", Request(conversation, tools, model="gpt-5.2"))


def _show(subject: Subject, target: str, costs: list[Cost]) -> None:
    console = open_console()
    entries = len(subject.request.conversation)
    size = f"{entries:,} entries, {len(subject.data):,} bytes of {subject.format}"
    say(console, f"{subject.name}: {size}, for {target}", style="bold", indent="")
    console.print()
    table = simple_table("step", "microseconds", "ratio", "what it is")
    for column in table.columns[1:3]:
        column.justify = "right"
    for one in costs:
        add_row(table, one.name, f"{one.microseconds:,.1f}", f"{one.ratio:,.2f}", one.about)
    show_table(console, table)
    console.print()
    say(console, "Ratios are to the floor above them. They say more than times: load slows both.")
