"""`canonicall version`: which canonicall this is, and which Python runs it."""

import json
import platform
from importlib import metadata

import click


def versions() -> dict[str, str]:
    """What a bug report should name."""
    return {"canonicall": metadata.version("canonicall"), "python": platform.python_version()}


def version_line() -> str:
    """The versions in one line."""
    found = versions()
    return f"canonicall {found['canonicall']} (Python {found['python']})"


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def version(as_json: bool) -> None:
    """Print the versions in use.

    \b
    Example:
      canonicall version --json
    """
    click.echo(json.dumps(versions()) if as_json else version_line())
