"""`canonicall tools`: lists of tools, apart from any conversation.

`convert` reads the list of one provider and prints it as another takes it. What had to change is
told on standard error, because the list has standard output; with --json both are in one object.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import click
import msgspec

from canonicall.cli.arguments import INPUT, TargetName, json_option
from canonicall.cli.files import UnusableFile, read_bytes, shown
from canonicall.cli.page import counted, open_console, say, show_findings
from canonicall.codec import Translated, translate_tools
from canonicall.errors import CanonicallError
from canonicall.facts.target import FORMATS
from canonicall.findings import Action, Finding
from canonicall.importing.documents import AUTO
from canonicall.importing.tool_lists import ToolList, read_tools


@click.group(subcommand_metavar="VERB [ARGS]...")
def tools() -> None:
    """Convert lists of tools between providers.

    \b
    Examples:
      canonicall tools convert tools.json --to gemini
      canonicall tools convert tools.json --to openai --strict --json
    """


@tools.command()
@click.argument("file", type=INPUT)
@click.option(
    "--to",
    "target",
    required=True,
    type=TargetName(lists_formats=True),
    metavar="PROVIDER[:MODEL]|FORMAT",
    help="Who is to be offered the tools.",
)
@click.option(
    "--from",
    "format",
    type=click.Choice((AUTO, *FORMATS)),
    default=AUTO,
    show_default=True,
    metavar="FORMAT",
    help=f"The format of the list: {', '.join((AUTO, *FORMATS))}.",
)
@click.option("--strict", is_flag=True, help="Make every function strict, where that is possible.")
@click.option("--no-loss", is_flag=True, help="Fail where a tool cannot be said without a loss.")
@json_option
def convert(
    file: str, target: str, format: str, strict: bool, no_loss: bool, as_json: bool
) -> None:
    """Print a list of tools as another provider takes it.

    FILE is a list of tools, or an object with one: a request body, {"tools": [...]}; - is standard
    input. What a schema says and the provider does not take is said otherwise or left out; what
    was done is told on standard error, with --json in the one object that is printed.

    \b
    Examples:
      canonicall tools convert tools.json --to gemini > for-gemini.json
      canonicall tools convert request.json --to anthropic --strict
      canonicall tools convert tools.json --to openai-responses --no-loss
    """
    try:
        listed = read_tools(read_bytes(file), format)
        done = translate_tools(
            listed.tools, listed.format, target, strict=strict or None, lossy=not no_loss
        )
    except CanonicallError as error:
        raise UnusableFile(shown(file), error) from None
    if no_loss:
        _refuse_losses(file, done.findings)
    if as_json:
        record = {
            "file": shown(file),
            "from": listed.format,
            "to": target,
            "tools": done.tools,
            "names": done.names,
            "findings": done.findings,
        }
        click.echo(_written(record))
        return
    click.echo(_written(done.tools))
    _tell(file, listed, target, done)


def _refuse_losses(file: str, findings: Iterable[Finding]) -> None:
    """A tool that would be missing is a loss as well; schemas were looked at before."""
    for finding in findings:
        if finding.action is Action.DROPPED:
            raise UnusableFile(shown(file), f"{finding.where}: {finding.why}")


def _tell(file: str, listed: ToolList, target: str, done: Translated) -> None:
    console = open_console(stderr=True)
    number = counted(len(listed.tools), "tool")
    say(console, f"{shown(file)}: {number}, {listed.format} to {target}", style="bold", indent="")
    show_findings(console, done.findings)
    if not done.findings:
        say(console, "Nothing was lost.", style="green")
    for on_the_wire, own in done.names.items():
        say(console, f"{own} is called {on_the_wire} there.")


def _written(value: dict[str, Any] | Sequence[Any]) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=2)
