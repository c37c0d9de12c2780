"""What verbs that ask an endpoint have in common: its format, its key, and telling what they do.

A key is named by the variable that holds it, never given itself: command lines are seen by others.
"""

import os
from collections.abc import Callable
from urllib.parse import urlsplit

import click

from canonicall.cli.visible import in_one_line
from canonicall.client.endpoints import is_loopback
from canonicall.facts.target import FORMATS

key_env_option = click.option(
    "--key-env", default="", metavar="NAME", help="The environment variable that holds the key."
)


def format_option(help: str) -> Callable[..., Callable[..., object]]:
    """An option for the wire format of an endpoint; what it is for is said before the names."""
    return click.option(
        "--format",
        "format",
        type=click.Choice(FORMATS),
        default=None,
        metavar="FORMAT",
        help=f"{help}: {', '.join(FORMATS)}.",
    )


def key_in(variable: str, url: str = "") -> str:
    """The key that a variable holds; nothing where none was named.

    A host on this machine needs no key, so the variable need not be set for it.
    """
    key = os.environ.get(variable, "") if variable else ""
    if variable and not key.strip() and not is_loopback(_host(url)):
        what = f"the variable {variable} is not set. Set it to the key of the endpoint."
        raise click.BadParameter(what, param_hint="--key-env")
    return key


def _host(url: str) -> str:
    """The host of an address; nothing where it is none, which is reported when it is asked."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def tell(what: str) -> None:
    """Say what is being done, to a person who waits."""
    click.echo(f"  {in_one_line(what)}", err=True)


def tell_nobody(what: str) -> None:
    """The same for a program, which does not care."""
    del what
