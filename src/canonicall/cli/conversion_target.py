"""What `canonicall convert` converts to: a provider, or a wire format without anybody's rules."""

from typing import Any

import click
from click.shell_completion import CompletionItem

from canonicall.cli.arguments import TargetName
from canonicall.wire.formats import FORMATS


class ConversionTarget(TargetName):
    """A provider, with or without a model, or the name of a wire format."""

    name = "target"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return str(value) if value in FORMATS else super().convert(value, param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        providers = [one.value for one in super().shell_complete(ctx, param, incomplete)]
        formats = [name for name in FORMATS if name.startswith(incomplete)]
        return [CompletionItem(name) for name in sorted({*providers, *formats})]
