"""Arguments that several verbs take: names are checked before anything is done, and complete."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from canonicall.cli.files import STANDARD
from canonicall.client.profile_files import read_profile
from canonicall.errors import CanonicallError, UnknownName
from canonicall.facts.registry import (
    get_profile,
    get_target,
    provider_names,
    register_provider,
)
from canonicall.facts.target import FORMATS
from canonicall.importing.documents import AUTO, format_names

EVERY_PROVIDER = "all"

if TYPE_CHECKING:
    TextParameter = click.ParamType[str]
else:
    # Older releases of click have no type arguments here.
    TextParameter = click.ParamType


class KnownName(TextParameter, ABC):
    """A name that has to be known: one that is not is refused with the reason, and shells help."""

    @abstractmethod
    def known(self, name: str) -> str:
        """The name as the verb goes on with it; raises where nobody has that name."""

    @abstractmethod
    def offered(self) -> list[str]:
        """The names that a shell may complete."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            return self.known(value)
        except CanonicallError as error:
            text = str(error)
            # As click's own messages begin.
            self.fail(text[:1].upper() + text[1:], param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        del ctx, param
        return [CompletionItem(name) for name in self.offered() if name.startswith(incomplete)]


class TargetName(KnownName):
    """The name of a target; or "all", where a verb allows it."""

    name = "provider"

    def __init__(self, *, or_all: bool = False, lists_formats: bool = False) -> None:
        """`lists_formats`: help, errors and shells name the formats beside the providers."""
        self._more = [EVERY_PROVIDER] if or_all else []
        self._formats = FORMATS if lists_formats else ()

    def known(self, name: str) -> str:
        if name in self._more:
            return name
        try:
            get_target(name)
        except UnknownName as error:
            if ":" in error.meant or not self._formats:
                raise
            raise CanonicallError(f"{error} Formats: {', '.join(self._formats)}.") from None
        return name

    def offered(self) -> list[str]:
        return [*sorted({*provider_names(), *self._formats}), *self._more]

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """Click says which option is missing; this says what to write."""
        del ctx
        everybody = f", or {EVERY_PROVIDER!r} for every provider" if self._more else ""
        return (
            f"Name a provider, for example {param.opts[0]} anthropic{everybody}."
            " `canonicall providers` lists them."
        )


class ProviderName(TargetName):
    """A provider without a model, by its name or an alias."""

    def known(self, name: str) -> str:
        return get_profile(name).name


INPUT = click.Path(exists=True, dir_okay=False, readable=True, allow_dash=True)
"""A file to read, or "-"."""
OUTPUT = click.Path(dir_okay=False, writable=True, allow_dash=True)
"""A file to write, or "-"."""
FORMAT = click.Choice((AUTO, *format_names()))


def register_profile(path: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
    """Make the profile in a file known; the name of its provider."""
    try:
        return register_provider(read_profile(path), replace=True).name
    except CanonicallError as error:
        told = str(error) if path in str(error) else f"{path}: {error}"
        raise click.BadParameter(told, ctx, param) from None


def _register(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> None:
    """Make profiles known before any other option names a provider."""
    for path in given:
        register_profile(path, param, ctx)


def _tool_patterns(
    ctx: click.Context, param: click.Parameter, given: tuple[str, ...]
) -> tuple[str, ...]:
    patterns = tuple(name.strip() for one in given for name in one.split(",") if name.strip())
    if given and not patterns:
        raise click.BadParameter("Name a tool: --call-tools get_weather.", ctx, param)
    return patterns


call_tools_option = click.option(
    "--call-tools",
    multiple=True,
    callback=_tool_patterns,
    metavar="NAME,...",
    help="The tools that the simulated model may call, where the user's message is about them;"
    " '*' is all. Without it: none.",
)
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
output_option = click.option(
    "-o",
    "--output",
    type=OUTPUT,
    default=STANDARD,
    metavar="OUT",
    help="Write to this file instead of standard output.",
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
