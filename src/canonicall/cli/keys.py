"""`canonicall keys new`: a virtual key for the clients of a gateway.

The key is shown once and kept nowhere; what goes into the file is its hash.
"""

import re
import secrets
from datetime import UTC, datetime, timedelta

import click
import msgspec

from canonicall.cli.arguments import json_option
from canonicall.cli.page import open_console, say
from canonicall.gateway.governance.keys import new_key

_DAYS = re.compile(r"(\d{1,5})d")


def _moment(ctx: click.Context, option: click.Parameter, given: str | None) -> str:
    """A day or moment; `90d` is counted from now."""
    del ctx, option
    if not given:
        return ""
    days = _DAYS.fullmatch(given)
    try:
        if days is not None:
            return (datetime.now(UTC) + timedelta(days=int(days[1]))).date().isoformat()
        datetime.fromisoformat(given)
    except (ValueError, OverflowError):
        raise click.BadParameter("Write 2027-01-31, 2027-01-31T12:00Z, or 90d.") from None
    return given


@click.command()
@click.argument("action", type=click.Choice(("new",)))
@click.option("--name", default="key", show_default=True, help="What people call it.")
@click.option("--models", metavar="NAMES", help="The models it may ask for, joined by commas.")
@click.option("--expires", callback=_moment, metavar="WHEN", help="A day, a moment, or 90d.")
@click.option("--admin", is_flag=True, help="Let it use the admin endpoints.")
@json_option
def keys(
    action: str, name: str, models: str | None, expires: str, admin: bool, as_json: bool
) -> None:
    """Make virtual keys for the gateway.

    Clients show them in place of a provider's key. A new key is printed once, with the section for
    the gateway's file: that holds only its hash.

    \b
    Examples:
      canonicall keys new --name desk
      canonicall keys new --name ci --models fast,best --expires 90d
      canonicall keys new --name operator --admin
    """
    del action
    key, hash = new_key(secrets.token_bytes(32))
    section: dict[str, object] = {"hash": hash}
    if models:
        section["models"] = [one.strip() for one in models.split(",") if one.strip()]
    if expires:
        section["expires"] = expires
    if admin:
        section["admin"] = True
    if as_json:
        made = {"key": key, "keys": {name: section}}
        click.echo(msgspec.json.format(msgspec.json.encode(made), indent=2))
        return
    console = open_console()
    say(console, "The key. It is shown this once, and kept nowhere:", indent="")
    click.echo(f"  {key}\n")
    say(console, "For the gateway's file (YAML):", indent="")
    click.echo("keys:")
    click.echo(f"  {_quoted(name)}:")
    for field, value in section.items():
        click.echo(f"    {field}: {_quoted(value)}")


def _quoted(value: object) -> str:
    """A value as YAML; JSON is YAML, and every text is safe in it."""
    return msgspec.json.encode(value).decode()
