"""`canonicall providers`: the capability matrix, or one provider's rules with their sources."""

from collections.abc import Callable, Sequence

import click
import msgspec

from canonicall.cli.arguments import ProviderName, json_option
from canonicall.cli.page import item, open_console, say, show_table, simple_table
from canonicall.cli.providers_rules import show_profile
from canonicall.facts.capabilities import Capabilities, get_capabilities
from canonicall.facts.registry import get_profile, provider_names
from canonicall.facts.target import FORMATS

ABILITIES: dict[str, Callable[[Capabilities], bool]] = {
    "parallel": lambda one: one.supports_parallel,
    "streaming": lambda one: one.stream_support,
    "strict": lambda one: one.strict,
    "schema": lambda one: one.requires_schema,
    "required": lambda one: "required" in one.tool_choice,
    "none": lambda one: "none" in one.tool_choice,
    "named": lambda one: "named" in one.tool_choice,
    "subset": lambda one: "subset" in one.tool_choice,
    "reasoning": lambda one: one.reasoning_replay in ("required", "recommended", "accepted"),
}
"""What `--has` can ask for."""
_LEGEND = {
    "tools": "the most that one request may declare",
    "choice": "what tool_choice can say, besides auto",
    "reasoning": "what becomes of reasoning that is sent back",
}


@click.command()
@click.argument("name", required=False, type=ProviderName())
@click.option(
    "--format",
    "format",
    type=click.Choice(FORMATS),
    metavar="FORMAT",
    help=f"Only those that speak it: {', '.join(FORMATS)}.",
)
@click.option(
    "--has",
    "abilities",
    multiple=True,
    type=click.Choice(tuple(ABILITIES)),
    metavar="ABILITY",
    help=f"Only those that are known to have it; may be repeated: {', '.join(ABILITIES)}.",
)
@json_option
def providers(
    name: str | None, format: str | None, abilities: Sequence[str], as_json: bool
) -> None:
    """Show what providers can do, and their rules.

    Without NAME the matrix of all providers, with NAME every rule of that one with its source, the
    month it was read and how far to trust it. What no source tells stays empty.

    \b
    Examples:
      canonicall providers --has parallel --has strict
      canonicall providers --format anthropic
      canonicall providers kimi
    """
    if name is not None and (format or abilities):
        raise click.UsageError("--format and --has choose from the matrix; leave NAME out.")
    if name is not None:
        profile = get_profile(name)
        if as_json:
            click.echo(msgspec.json.format(msgspec.json.encode(profile), indent=2))
        else:
            show_profile(open_console(), profile)
        return
    chosen = [one for one in map(get_capabilities, provider_names()) if _fits(one, format)]
    chosen = [one for one in chosen if all(ABILITIES[wanted](one) for wanted in abilities)]
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(chosen), indent=2))
    else:
        _show_matrix(chosen)


def _fits(one: Capabilities, format: str | None) -> bool:
    return format is None or format in get_profile(one.provider).formats


def _show_matrix(chosen: Sequence[Capabilities]) -> None:
    console = open_console(widest=120)
    if not chosen:
        say(console, "No provider is known to have all of this.", indent="")
        return
    table = simple_table("provider", "format", "parallel", "strict", "tools", "choice", "reasoning")
    for one_column in table.columns:
        # Words are looked for, and copied; only the list of choices may be folded.
        one_column.no_wrap = one_column.header != "choice"
    for one in chosen:
        table.add_row(
            one.provider,
            one.wire_format,
            _mark(one, "supports_parallel", known=one.supports_parallel),
            _mark(one, "strict", known=one.strict),
            "" if one.max_tools is None else f"{one.max_tools:,}",
            " ".join(choice for choice in one.tool_choice if choice != "auto"),
            one.reasoning_replay,
        )
    show_table(console, table, is_wide=True)
    console.print()
    for column, meaning in _LEGEND.items():
        item(console, f"{column:<9}", meaning, indent=2)
    say(console, "Empty: no source tells. `canonicall providers NAME` has the sources.")


def _mark(one: Capabilities, field: str, *, known: bool) -> str:
    """Yes, no, or nothing where no source tells."""
    if field not in one.provenance:
        return ""
    return "yes" if known else "no"
