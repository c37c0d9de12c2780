"""`canonicall parse`: the reply of a model in, its calls, text and thoughts out.

A JSON object with the fields of a provider's reply is read as that format; all other data is the
text of a model. The content decides; a syntax that is named makes it text.
"""

import sys
from typing import Any

import click
import msgspec

from canonicall.blocks import ToolCall
from canonicall.cli.arguments import INPUT, KnownName, json_option
from canonicall.cli.files import STANDARD, UnusableFile, read_bytes, shown
from canonicall.cli.overview import FOUND, OK
from canonicall.cli.page import (
    add_row,
    counted,
    item,
    open_console,
    say,
    show_findings,
    show_table,
    simple_table,
)
from canonicall.codec import decode_request, decode_response
from canonicall.detection import reply_format, request_format
from canonicall.errors import CanonicallError
from canonicall.facts.target import FORMATS
from canonicall.importing.documents import AUTO
from canonicall.lookalikes import is_stream, likeness
from canonicall.request import Tool
from canonicall.syntax.parsing import Parsed
from canonicall.syntax.parsing import parse as parse_text
from canonicall.syntax.recovery import recover_calls
from canonicall.syntax.registry import get_syntax, syntax_names


class SyntaxName(KnownName):
    """A way in which models print calls, or "auto"."""

    name = "syntax"

    def known(self, name: str) -> str:
        if name != AUTO:
            get_syntax(name)
        return name

    def offered(self) -> list[str]:
        return [AUTO, *syntax_names()]


@click.command()
@click.argument("file", required=False, type=INPUT)
@click.option(
    "--syntax",
    type=SyntaxName(),
    default=AUTO,
    show_default=True,
    metavar="NAME",
    help="How the model prints its calls.",
)
@click.option(
    "--tools",
    "tools_file",
    type=INPUT,
    metavar="FILE",
    help="JSON with the tools that were offered: a list, or a request body.",
)
@click.option("--list", "list_syntaxes", is_flag=True, help="List the syntaxes and stop.")
@json_option
def parse(
    file: str | None, syntax: str, tools_file: str | None, list_syntaxes: bool, as_json: bool
) -> int:
    """Read the calls of a reply: printed as text, or as a provider's JSON.

    FILE holds one reply, the text of a model or the whole JSON body of any provider; - or nothing
    reads it from standard input. Some printed forms, bare JSON for example, are calls only where a
    tool of that name was offered: give --tools. Calls that a provider left in the text of its JSON
    are found with --tools as well. With --syntax the content is text, whatever it looks like.

    \b
    Examples:
      canonicall parse reply.txt
      canonicall parse reply.json
      canonicall parse - --syntax hermes --tools tools.json --json < reply.txt
      canonicall parse --list

    Ends with 3 if a call of the syntax named, or the arguments of a call, cannot be read.
    """
    if list_syntaxes:
        _list(as_json=as_json)
        return OK
    if file is None and sys.stdin.isatty():
        raise click.UsageError("Give a FILE with the text of a reply, or pipe it in.")
    source = file or STANDARD
    if source == tools_file == STANDARD:
        raise click.UsageError("The text and the tools cannot both be standard input.")
    tools = _tools(tools_file) if tools_file else None
    data = read_bytes(source)
    parsed = _body_parsed(data, source, tools) if syntax == AUTO else None
    if parsed is None:
        parsed = parse_text(data.decode("utf-8", "replace"), syntax=syntax, tools=tools)
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(_record(parsed)), indent=2))
    else:
        _show(parsed, syntax)
    return FOUND if _is_damaged(parsed) else OK


def _body_parsed(
    data: bytes, source: str, tools: list[Tool | dict[str, Any]] | None
) -> Parsed | None:
    """The reply in a provider's body, None for the text of a model."""
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        if is_stream(data):
            what = "this is the text of a stream, not a whole reply. Give it to StreamDecoder."
            raise UnusableFile(shown(source), what) from None
        return None
    format = reply_format(value)
    if format is None:
        if seen := _other_body(value):
            what = f"this is {seen}, not a reply. Give the body of a reply or the text of a model."
            raise UnusableFile(shown(source), what)
        return None
    try:
        reply = decode_response(value, format)
    except CanonicallError as error:
        raise UnusableFile(shown(source), error) from None
    return Parsed(recover_calls(reply, tools) if tools else reply, format)


def _other_body(value: Any) -> str:
    """What a provider's body is that holds no reply; empty for JSON that a model may print."""
    if not isinstance(value, dict):
        return ""
    histories = (value.get(name) for name in ("messages", "contents", "input"))
    format = request_format(value)
    if format and any(isinstance(one, list) for one in histories):
        return f"a request ({format})"
    seen = likeness(value)
    return seen.what if seen.is_envelope else ""


def _is_damaged(parsed: Parsed) -> bool:
    unreadable = any(finding.code == "call_unreadable" for finding in parsed.findings)
    return unreadable or any(map(_damage, parsed.calls))


def _damage(call: ToolCall) -> str:
    """Why a call must not be run as it was read; empty where nothing is wrong."""
    if call.truncated:
        return "the text ends inside of the call. Its arguments may be incomplete: do not run it."
    if call.args is None and call.kind == "function":
        return "its arguments cannot be read. Do not run it; have the model call again."
    return ""


def _tools(file: str) -> list[Tool | dict[str, Any]]:
    """The tools in a file, in the form of any format."""
    try:
        value = msgspec.json.decode(read_bytes(file))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UnusableFile(shown(file), f"this is not JSON: {error}.") from None
    format = request_format(value)
    try:
        if format is not None:
            return list(decode_request(value, format).tools)
    except CanonicallError as error:
        raise UnusableFile(shown(file), error) from None
    listed = value.get("tools") if isinstance(value, dict) else value
    if not isinstance(listed, list) or not all(isinstance(tool, dict) for tool in listed):
        what = "no tools are in it. Give a list of tools, or a request body with tools."
        raise UnusableFile(shown(file), what)
    return listed


def _record(parsed: Parsed) -> dict[str, Any]:
    calls = [
        {
            "id": call.id or None,
            "name": call.name,
            "arguments": call.args,
            "raw": call.raw or None,
            "truncated": call.truncated,
        }
        for call in parsed.calls
    ]
    is_body = parsed.syntax in FORMATS
    return {
        "format": parsed.syntax if is_body else None,
        "syntax": None if is_body else parsed.syntax or None,
        "calls": calls,
        "text": parsed.text,
        "thinking": parsed.thinking,
        "findings": parsed.findings,
    }


def _show(parsed: Parsed, asked: str) -> None:
    console = open_console(widest=120)
    found = counted(len(parsed.calls), "call") if parsed.calls else "No calls"
    known = f", {parsed.syntax}" if parsed.syntax else ""
    is_printed = parsed.syntax not in FORMATS
    told = " (recognised by its markers)" if known and asked == AUTO and is_printed else ""
    say(console, f"{found}{known}{told}", style="bold", indent="")
    if parsed.calls:
        console.print()
        table = simple_table("tool", "id", "arguments")
        for call in parsed.calls:
            args = call.raw if call.args is None else msgspec.json.encode(call.args).decode()
            add_row(table, call.name or "(none)", call.id or "(none)", args or "")
        show_table(console, table)
    for call in parsed.calls:
        if why := _damage(call):
            console.print()
            say(console, f"{call.name or 'A call without a name'}: {why}", style="bold red")
    if parsed.thinking.strip() or parsed.text.strip():
        console.print()
        item(console, "thought", parsed.thinking.strip(), indent=2)
        item(console, "text", parsed.text.strip(), indent=2)
    if parsed.findings:
        console.print()
        show_findings(console, parsed.findings)


def _list(*, as_json: bool) -> None:
    known = [get_syntax(name) for name in syntax_names()]
    if as_json:
        rows = [
            {"name": one.name, "notation": one.notation, "marked": one.is_marked}
            | {"models": one.models}
            for one in known
        ]
        click.echo(msgspec.json.format(msgspec.json.encode(rows), indent=2))
        return
    console = open_console(widest=120)
    table = simple_table("syntax", "arguments", "needs tools", "models")
    for one in known:
        needs = "" if one.is_marked else "yes"
        table.add_row(one.name, one.notation, needs, ", ".join(one.models))
    show_table(console, table)
