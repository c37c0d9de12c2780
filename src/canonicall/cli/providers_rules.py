"""One provider on a page: who it is, then every rule with the source it was read in."""

from collections.abc import Mapping
from typing import Any

import msgspec
from rich.console import Console

from canonicall.cli.page import item, say
from canonicall.facts.profile import Profile, Provenance, Rule

_TRUST = {
    "A": "documented",
    "B": "recorded",
    "C": "reported",
    "U": "uncertain",
}


def show_profile(console: Console, profile: Profile) -> None:
    """Everything that is known about a provider."""
    say(console, f"{profile.name}: {profile.title}", style="bold", indent="")
    item(console, "formats", ", ".join(profile.formats), indent=2)
    item(console, "address", profile.base_url, indent=2)
    item(console, "keys", ", ".join(profile.key_env), indent=2)
    item(console, "aliases", ", ".join(profile.aliases), indent=2)
    _show_rules(console, "What it can do", profile.capabilities)
    _show_rules(console, f"Rules beyond those of {profile.format}", profile.rules)
    for models in profile.models:
        also = "" if models.format == profile.format else f", spoken to in {models.format}"
        _show_rules(console, f"Rules for {', '.join(models.match)}{also}", models.rules)
    if profile.quirks:
        _head(console, "Good to know")
    for quirk in profile.quirks:
        say(console, quirk.text, indent="  - ")
        _show_source(console, quirk)


def _show_rules(console: Console, title: str, rules: Mapping[str, Rule]) -> None:
    if rules:
        _head(console, title)
    for field, rule in rules.items():
        say(console, f"{field}: {_in_words(rule.value)}")
        _show_source(console, rule)


def _head(console: Console, title: str) -> None:
    console.print()
    say(console, title, style="bold cyan", indent="")


def _show_source(console: Console, fact: Provenance) -> None:
    told = f"{fact.source} ({fact.date}, {fact.confidence}: {_TRUST[fact.confidence]})"
    say(console, told, style="dim", indent="      ")


def _in_words(value: Any) -> str:
    """A rule's value for people."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value or '""'
    if isinstance(value, list | tuple):
        return ", ".join(map(_in_words, value)) or "none"
    if isinstance(value, dict):
        return "; ".join(f"{name} {_in_words(entry)}" for name, entry in value.items())
    return "not set" if value is None else msgspec.json.encode(value).decode()
