"""Arguments that several verbs take: names are checked before anything is done, and complete."""

from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from canonicall.errors import CanonicallError
from canonicall.importing.documents import AUTO, format_names
from canonicall.providers.registry import get_profile, get_target, provider_names
from canonicall.syntax.registry import get_syntax, syntax_names

EVERY_PROVIDER = "all"

if TYPE_CHECKING:
    _Text = click.ParamType[str]
else:
    # Older releases of click have no type arguments here.
    _Text = click.ParamType


class TargetName(_Text):
    """A provider, with or without a model: PROVIDER[:MODEL]; or "all", where a verb allows it."""

    name = "provider"

    def __init__(self, *, or_all: bool = False) -> None:
        self._or_all = or_all

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not (self._or_all and value == EVERY_PROVIDER):
            try:
                get_target(value)
            except CanonicallError as error:
                self.fail(_sentence(error), param, ctx)
        return str(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        del ctx, param
        names = [*provider_names(), *([EVERY_PROVIDER] if self._or_all else [])]
        return _matching(names, incomplete)


class ProviderName(TargetName):
    """A provider without a model, by its name or an alias."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            return get_profile(value).name
        except CanonicallError as error:
            self.fail(_sentence(error), param, ctx)


class SyntaxName(_Text):
    """A way in which models print calls, or "auto"."""

    name = "syntax"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value != AUTO:
            try:
                get_syntax(value)
            except CanonicallError as error:
                self.fail(_sentence(error), param, ctx)
        return str(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        del ctx, param
        return _matching([AUTO, *syntax_names()], incomplete)


INPUT = click.Path(exists=True, dir_okay=False, readable=True, allow_dash=True)
"""A file to read, or "-"."""
FORMAT = click.Choice((AUTO, *format_names()))

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


def _matching(names: list[str], incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def _sentence(error: Exception) -> str:
    text = str(error)
    return text[:1].upper() + text[1:]
