"""`canonicall doctor`: what is installed, what is missing, which keys there are.

Names of environment variables only: no value is read into the output, whatever it is.
"""

import os
import platform
import re
from collections.abc import Iterator
from importlib import metadata

import click
import msgspec
from msgspec import Struct

from canonicall.cli.arguments import json_option
from canonicall.cli.page import item, open_console, say, show_table, simple_table
from canonicall.cli.version import versions
from canonicall.facts.registry import get_profile, provider_names
from canonicall.syntax.registry import GROUP

_REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9._-]+)(?P<range>[^;]*)")
_EXTRA = re.compile(r"extra == ['\"](?P<extra>[\w-]+)['\"]")
_OWN = "canonicall"
_COLLECTIONS = ("all", "dev", "judges", "testing")
"""Extras that gather other extras, or bring what only tests need."""


class Package(Struct, frozen=True):
    """One package that canonicall can use."""

    name: str
    wanted: str
    installed: str | None
    extra: str
    """The extra that brings it; empty where canonicall cannot do without it."""

    @property
    def install(self) -> str:
        what = f"{_OWN}[{self.extra}]" if self.extra else _OWN
        return f"pip install '{what}'"


class Key(Struct, frozen=True):
    """A provider whose key is looked for in the environment."""

    provider: str
    variables: tuple[str, ...]
    present: tuple[str, ...]
    help: str = ""
    """What kind of key it is, where that is not plain."""


class Diagnosis(Struct, frozen=True):
    """Everything the verb looks at."""

    versions: dict[str, str]
    packages: tuple[Package, ...]
    keys: tuple[Key, ...]
    added_syntaxes: tuple[str, ...]


@click.command()
@json_option
def doctor(as_json: bool) -> None:
    """Look at the installation: packages, keys, versions.

    Of keys in the environment only the names of the variables are shown, never a value. Nothing is
    sent anywhere. Only `serve` reads a configuration file, the one it is given.

    \b
    Example:
      canonicall doctor
    """
    found = diagnose()
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(found), indent=2))
    else:
        _show(found)


def diagnose() -> Diagnosis:
    """Look."""
    system = {"system": f"{platform.system()} {platform.machine()}"}
    return Diagnosis(
        versions={**versions(), **system},
        packages=tuple(_packages()),
        keys=tuple(_keys()),
        added_syntaxes=tuple(sorted(one.name for one in metadata.entry_points(group=GROUP))),
    )


def _packages() -> Iterator[Package]:
    """What the installed canonicall says it can use, each with the smallest extra that has it."""
    told: set[str] = set()
    for requirement in metadata.requires(_OWN) or ():
        wanted = _REQUIREMENT.match(requirement)
        extra = _EXTRA.search(requirement)
        found_in = extra["extra"] if extra else ""
        if wanted is None or wanted["name"] == _OWN or found_in in _COLLECTIONS:
            continue
        name = wanted["name"]
        if name in told:
            # An extra that needs another one has its packages as well.
            continue
        told.add(name)
        yield Package(name, wanted["range"].strip(), _installed(name), found_in)


def _installed(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _keys() -> Iterator[Key]:
    for name in provider_names():
        profile = get_profile(name)
        if profile.key_env:
            present = tuple(one for one in profile.key_env if os.environ.get(one))
            yield Key(name, profile.key_env, present, profile.key_help)


def _show(found: Diagnosis) -> None:
    console = open_console()
    say(console, "Versions", style="bold cyan", indent="")
    for name, version in found.versions.items():
        item(console, f"{name:<10}", version, indent=2)
    console.print()
    say(console, "Packages", style="bold cyan", indent="")
    table = simple_table("package", "wanted", "installed", "for")
    for package in found.packages:
        installed = package.installed or "missing"
        table.add_row(package.name, package.wanted, installed, package.extra or "everything")
    show_table(console, table)
    for command in dict.fromkeys(one.install for one in found.packages if not one.installed):
        say(console, f"To install what is missing: {command}", style="yellow")
    console.print()
    say(console, "Keys in the environment (names only)", style="bold cyan", indent="")
    set_up = [key for key in found.keys if key.present]
    for key in set_up:
        item(console, f"{key.provider:<12}", ", ".join(key.present), indent=2)
    others = ", ".join(key.provider for key in found.keys if not key.present)
    if others:
        say(console, f"None for: {others}.")
    for key in found.keys:
        if key.help:
            say(console, f"{key.provider}: {key.help}")
    if found.added_syntaxes:
        console.print()
        say(console, f"Syntaxes of other packages: {', '.join(found.added_syntaxes)}", indent="")
    console.print()
    say(
        console,
        "Only `canonicall serve` reads a configuration file, the one it is given.",
        indent="",
    )
