"""`canonicall explain`: a provider's error in, what it means and what to do out."""

import shlex
import sys
from pathlib import Path

import click
import msgspec

from canonicall.cli.arguments import INPUT, TargetName, json_option
from canonicall.cli.files import STANDARD, UnusableFile, read_bytes, shown
from canonicall.cli.overview import FAILED, OK
from canonicall.cli.page import item, open_console, say, show_violations, suggest_fix
from canonicall.client.refusals import KIND, RefusedRequest
from canonicall.errors import CanonicallError, UnknownName
from canonicall.facts.bodies import target_for
from canonicall.facts.registry import get_target
from canonicall.facts.target import Target
from canonicall.findings import Finding
from canonicall.importing.documents import BODY, Recognised, kind_of, recognise
from canonicall.verify import Explained, Explanation, verify
from canonicall.verify import explain as explain_error
from canonicall.wire.formats import get_format

_UNKNOWN = (
    "Give the whole reply, not only its first line: the reason often stands further inside."
    " Known are errors about messages, calls and results, tools, schemas, thinking and media, and"
    " those about limits, keys and servers."
)


@click.command()
@click.argument("text", required=False)
@click.option(
    "--request",
    "request_file",
    type=INPUT,
    metavar="FILE",
    help="The request body that was refused: where it breaks is shown.",
)
@click.option(
    "--provider",
    type=TargetName(),
    metavar="PROVIDER[:MODEL]",
    help="Who refused it: its own words come first, its rules count.",
)
@json_option
def explain(text: str | None, request_file: str | None, provider: str | None, as_json: bool) -> int:
    """Say what a provider's error means, and what to do.

    TEXT is the error as it was printed or logged, JSON or not; - or nothing reads it from standard
    input. It may also be a file that `run --save-refused` wrote: the error, the request and who
    refused it are in it.

    \b
    Examples:
      canonicall explain "tool_use ids were found without tool_result blocks"
      canonicall explain --request request.json --provider anthropic < error.json
      canonicall explain refused/openai-4c1d0f6a9be27788.json

    Ends with 1 if nothing is known about the error.
    """
    error = _error_text(text, request_file)
    found = _request(request_file) if request_file else None
    saved = None if found else _saved(error)
    if saved is not None and saved.refused is not None:
        found, request_file = saved, text or STANDARD
        error = msgspec.json.encode(saved.refused.answer).decode()
        provider = provider or _known_target(saved.refused)
    target = _target(found, provider, request_file or "")
    body = found.body if found else None
    told = explain_error(error, request=body, target=target)
    broken = (*found.findings, *verify(found.body, target)) if found and target else ()
    if as_json:
        record = {"known": bool(told), "meanings": told.entries, "violations": broken}
        click.echo(msgspec.json.format(msgspec.json.encode(record), indent=2))
    else:
        _show(told, broken, has_request=found is not None)
        if found and not broken and provider is None:
            say(open_console(), "With --provider the rules of who refused it count.", indent="")
        if request_file and broken:
            console = open_console()
            console.print()
            suggest_fix(console, request_file, provider or "PROVIDER")
    return OK if told else FAILED


def _error_text(text: str | None, request_file: str | None) -> str:
    if text is None and sys.stdin.isatty():
        raise click.UsageError("Give the text of the error, or pipe it in.")
    if text is None or text == STANDARD:
        if request_file == STANDARD:
            raise click.UsageError("The error and the request cannot both be standard input.")
        text = read_bytes(STANDARD).decode("utf-8", "replace")
    elif _is_file(text):
        data = read_bytes(text)
        if _saved(data.decode("utf-8", "replace")) is not None:
            return data.decode()
        told = f"{text!r} is a file. To explain what is in it: canonicall explain < "
        raise click.UsageError(told + shlex.quote(text))
    if not text.strip():
        raise click.UsageError("The text of the error is empty.")
    return text


def _saved(text: str) -> Recognised | None:
    """The request in a text that was written when a provider refused it; None for any other."""
    if KIND not in text:
        return None
    try:
        found = recognise(text.encode("utf-8", "replace"))
    except CanonicallError:
        return None
    return found if found.refused is not None else None


def _known_target(refused: RefusedRequest) -> str | None:
    """Who refused it; None where nothing is known of it here, and only its format counts."""
    try:
        get_target(refused.target)
    except UnknownName:
        return None
    return refused.target


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        # Too long for a name, or with a null in it.
        return False


def _request(file: str) -> Recognised:
    data = read_bytes(file)
    if kind_of(data) is not BODY:
        what = "this is a stored conversation. Give the request body that was refused."
        raise UnusableFile(shown(file), what)
    try:
        return recognise(data)
    except CanonicallError as error:
        raise UnusableFile(shown(file), error) from None


def _target(found: Recognised | None, provider: str | None, file: str) -> Target | None:
    """Whose rules count: those of the provider, or the base rules of the request's format."""
    if provider is None:
        return get_format(found.format).target if found else None
    target = target_for(found.body if found else None, provider)
    if found is not None and target.format not in found.possible:
        what = f"this is a request of {found.format}, and {provider} is sent {target.format}."
        raise UnusableFile(shown(file), f"{what} Give the request that was refused.")
    return target


def _show(told: Explanation, broken: tuple[Finding, ...], *, has_request: bool) -> None:
    console = open_console()
    if not told:
        say(console, "Nothing is known about this error.", style="bold", indent="")
        say(console, _UNKNOWN, indent="")
        if not has_request:
            what = (
                "With --request FILE the request itself is checked, with --provider by whose rules."
            )
            say(console, what, indent="")
    elif len(told.entries) > 1:
        say(console, f"It can mean {len(told.entries)} things, the likeliest first:", indent="")
    for place, entry in enumerate(told.entries):
        if place or len(told.entries) > 1:
            console.print()
        _show_entry(entry)
    fitting = [one for one in broken if any(one in entry.violations for entry in told.entries)]
    others = [one for one in broken if one not in fitting]
    if fitting:
        console.print()
        say(console, "In the request, this fits the error:", style="bold", indent="")
        show_violations(console, fitting)
    if others:
        console.print()
        title = "The request has other faults too:" if fitting else "The request has these faults:"
        say(console, title, style="bold", indent="")
        show_violations(console, others)
    if told and not has_request and not all(entry.outside for entry in told.entries):
        console.print()
        say(console, "With --request FILE you see where the request breaks.", indent="")
    if has_request and not broken:
        console.print()
        say(console, "In the request itself nothing was found that breaks a rule.", indent="")


def _show_entry(entry: Explained) -> None:
    console = open_console()
    say(console, entry.code, style="bold", indent="")
    item(console, "quote", f'"{entry.quote}"', indent=2)
    item(console, "why", entry.meaning, indent=2)
    item(console, "repair", entry.repair, indent=2)
    item(console, "where", ", ".join(entry.places), indent=2)
    item(console, "source", entry.source, indent=2)
