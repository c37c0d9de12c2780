"""Arguments that several verbs take: names are checked before anything is done, and complete."""

from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from canonicall.client.profile_files import read_profile
from canonicall.errors import CanonicallError
from canonicall.importing.documents import AUTO, format_names
from canonicall.providers.registry import (
    get_profile,
    get_target,
    provider_names,
    register_provider,
)

EVERY_PROVIDER = "all"

if TYPE_CHECKING:
    TextParameter = click.ParamType[str]
else:
    # Older releases of click have no type arguments here.
    TextParameter = click.ParamType


class TargetName(TextParameter):
    """A provider, with or without a model: PROVIDER[:MODEL]; or "all", where a verb allows it."""

    name = "provider"

    def __init__(self, *, or_all: bool = False) -> None:
        self._or_all = or_all

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not (self._or_all and value == EVERY_PROVIDER):
            try:
                get_target(value)
            except CanonicallError as error:
                self.fail(sentence(error), param, ctx)
        return str(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        del ctx, param
        names = [*provider_names(), *([EVERY_PROVIDER] if self._or_all else [])]
        return matching(names, incomplete)


class ProviderName(TargetName):
    """A provider without a model, by its name or an alias."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            return get_profile(value).name
        except CanonicallError as error:
            self.fail(sentence(error), param, ctx)


INPUT = click.Path(exists=True, dir_okay=False, readable=True, allow_dash=True)
"""A file to read, or "-"."""
FORMAT = click.Choice((AUTO, *format_names()))


def _register(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> None:
    """Make profiles known before any other option names a provider."""
    for path in given:
        try:
            register_provider(read_profile(path), replace=True)
        except CanonicallError as error:
            told = str(error) if path in str(error) else f"{path}: {error}"
            raise click.BadParameter(told, ctx, param) from None


profile_option = click.option(
    "--profile",
    multiple=True,
    is_eager=True,
    expose_value=False,
    callback=_register,
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="A provider more, from a profile that `discover -o` has written.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
from_option = click.option(
    "--from",
    "format",
    type=FORMAT,
    default=AUTO,
    show_default=True,
    metavar="FORMAT",
    help=f"The format of the input: {', '.join((AUTO, *format_names()))}.",
)


def matching(names: list[str], incomplete: str) -> list[CompletionItem]:
    """The names that a shell may offer."""
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def sentence(error: Exception) -> str:
    """What an error says, as click's own messages begin: with a capital letter."""
    text = str(error)
    return text[:1].upper() + text[1:]
