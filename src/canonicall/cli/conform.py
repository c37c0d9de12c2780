"""`canonicall conform`: what holds for a profile, a syntax or an endpoint, check by check.

Profiles and syntaxes are checked without a network. An endpoint is asked some ten times. Progress
goes to standard error, what was found to standard output.
"""

from pathlib import Path
from typing import Any

import click
import msgspec
from rich.text import Text

from canonicall.cli.arguments import KnownName, ProviderName, json_option, register_profile
from canonicall.cli.endpoint_options import (
    format_option,
    key_env_option,
    key_in,
    tell,
    tell_nobody,
)
from canonicall.cli.overview import FOUND, OK
from canonicall.cli.page import add_row, counted, open_console, say, show_table, simple_table
from canonicall.syntax.registry import get_syntax, syntax_names
from canonicall.testing.conformance import (
    Conformance,
    check_endpoint,
    check_provider,
    check_syntax,
)

_STYLES = {"held": "green", "broken": "bold red", "open": "yellow"}


class ProfileName(ProviderName):
    """A provider by its name, or a file with its profile, which is known from then on."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value.endswith(".toml") or Path(value).is_file():
            return register_profile(value, param, ctx)
        return super().convert(value, param, ctx)


class NamedSyntax(KnownName):
    """A way in which models print calls."""

    name = "syntax"

    def known(self, name: str) -> str:
        return get_syntax(name).name

    def offered(self) -> list[str]:
        return list(syntax_names())


@click.command()
@click.option(
    "--provider",
    type=ProfileName(),
    metavar="NAME|FILE",
    help="A provider, or the TOML file of its profile. With --url: whose rules count there.",
)
@click.option("--syntax", type=NamedSyntax(), metavar="NAME", help="A syntax of calls in text.")
@click.option("--url", metavar="URL", help="An endpoint, by the address that clients are given.")
@format_option("What the endpoint speaks, else as --provider")
@click.option(
    "--model", default="", metavar="MODEL", help="Else the first that the endpoint lists."
)
@key_env_option
@json_option
def conform(
    provider: str | None,
    syntax: str | None,
    url: str | None,
    format: str | None,
    model: str,
    key_env: str,
    as_json: bool,
) -> int:
    """Prove that a profile, a syntax or an endpoint is sound.

    A profile is sound if whatever is rendered by its rules passes them; a syntax, if what it
    prints is read again and no word is lost; an endpoint, if it answers as its format says. Each
    check is held, broken or open, with evidence.

    \b
    Examples:
      canonicall conform --provider mine.toml
      canonicall conform --syntax hermes
      canonicall conform --url http://localhost:8000/v1 --format openai-chat

    Ends with 3 if a check is broken.
    """
    if url is None and (format or model or key_env):
        raise click.UsageError("--format, --model and --key-env are about an endpoint: give --url.")
    if syntax is not None and (provider or url):
        raise click.UsageError("--syntax stands alone; run the verb once for each subject.")
    if url is not None:
        if not (format or provider):
            raise click.UsageError("Say what the endpoint speaks: --format FORMAT, or --provider.")
        report = check_endpoint(
            url,
            format=format or "",
            provider=provider or "",
            model=model,
            key=key_in(key_env, url),
            progress=tell_nobody if as_json else tell,
        )
    elif provider is not None:
        report = check_provider(provider)
    elif syntax is not None:
        report = check_syntax(syntax)
    else:
        raise click.UsageError("Name a subject: --provider, --syntax or --url.")
    if as_json:
        made = msgspec.to_builtins(report) | {"ok": report.ok}
        click.echo(msgspec.json.format(msgspec.json.encode(made), indent=2))
    else:
        _show(report)
    return OK if report.ok else FOUND


def _show(report: Conformance) -> None:
    console = open_console(widest=120)
    say(console, f"{report.kind} {report.subject}", style="bold", indent="")
    console.print()
    table = simple_table("check", "state", "cases", "what it says")
    table.columns[0].no_wrap = True
    table.columns[2].justify = "right"
    for one in report.checks:
        state = Text(one.state, style=_STYLES[one.state])
        add_row(table, one.name, state, f"{one.cases:,}", one.about)
    show_table(console, table)
    for one in (*report.broken, *report.open):
        console.print()
        say(console, f"{one.name}: {one.state}", style=_STYLES[one.state])
        for evidence in one.evidence:
            say(console, evidence, indent="    ")
    console.print()
    if report.ok:
        left = f", {len(report.open)} open" if report.open else ""
        say(console, f"Nothing is broken{left}.", style="green")
    else:
        say(console, f"{counted(len(report.broken), 'check')} broken.", style="bold red")
