"""`canonicall discover`: how an endpoint calls tools, found out by asking it.

Progress goes to standard error, what was found to standard output.
"""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import msgspec
from msgspec import Struct

from canonicall.cli.arguments import TargetName, json_option
from canonicall.cli.discover_page import show_tooling
from canonicall.cli.endpoint_options import (
    format_option,
    key_env_option,
    key_in,
    tell,
    tell_nobody,
)
from canonicall.cli.files import STANDARD, writing
from canonicall.client.config import ClientConfig, ProviderConfig
from canonicall.client.model import HttpModel
from canonicall.discovery.addresses import checked, provider_name
from canonicall.discovery.discover import discover as discover_endpoint
from canonicall.discovery.documentation import analyse_documentation, with_documentation
from canonicall.discovery.profile_text import profile_text
from canonicall.discovery.tooling import ToolingInfo
from canonicall.facts.registry import register_provider
from canonicall.testing.conformance import broken_checks


class _Wanted(Struct, frozen=True, kw_only=True):
    """What was asked for on the command line."""

    url: str
    model: str
    key: str
    key_env: str
    format: str
    name: str
    docs: Path | None
    docs_with: str | None

    @property
    def provider(self) -> str:
        return self.name or provider_name(checked(self.url))


@click.command()
@click.argument("url")
@click.option("--model", default="", metavar="MODEL", help="Else the first one that it lists.")
@key_env_option
@format_option("Where it speaks several")
@click.option("--name", default="", help="What the provider is called; else after its host.")
@click.option(
    "--docs",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Documentation, as text: a model reads it, and it is compared with the probes.",
)
@click.option(
    "--docs-with",
    type=TargetName(),
    metavar="PROVIDER:MODEL",
    help="Who reads the documentation; else the model that was probed.",
)
@click.option("-o", "--output", metavar="FILE", help="Write the profile there.")
@json_option
def discover(
    url: str, key_env: str, format: str | None, output: str | None, as_json: bool, **given: Any
) -> None:
    """Find out how an endpoint calls tools, and write its profile.

    URL is a host, the base address that clients are given, or the address of a request. It is
    asked some thirty times, of which about eight bring a short reply and cost tokens. What cannot
    be found out stays unknown.

    \b
    Examples:
      canonicall discover http://localhost:8000/v1
      canonicall discover https://api.example.com --key-env A_KEY -o a.toml
    """
    if as_json and output == STANDARD:
        raise click.UsageError(
            "--json has the profile in it already; leave -o out, or name a file."
        )
    wanted = _Wanted(
        url=url, key=key_in(key_env, url), key_env=key_env, format=format or "", **given
    )
    progress = tell_nobody if as_json else tell
    info = asyncio.run(_found(wanted, progress))
    text = profile_text(info, date=_today(), name=wanted.provider, key_env=key_env)
    if output is not None:
        with writing(output) as file:
            file.write(text.encode())
    if as_json:
        made = msgspec.to_builtins(info) | {"provider": wanted.provider, "profile": text}
        click.echo(msgspec.json.format(msgspec.json.encode(made), indent=2))
    else:
        show_tooling(info, wanted.provider, output)


async def _found(wanted: _Wanted, progress: Callable[[str], None]) -> ToolingInfo:
    info = await discover_endpoint(
        wanted.url,
        model=wanted.model,
        key=wanted.key,
        format=wanted.format,
        progress=progress,
        prove=broken_checks,
    )
    if wanted.docs is None:
        return info
    progress("Reading the documentation")
    target = wanted.docs_with or f"{wanted.provider}:{info.model}"
    config = ClientConfig.from_environment()
    if wanted.docs_with is None:
        # From here on the endpoint is a provider like any other.
        register_provider(profile_text(info, date=_today(), name=wanted.provider), replace=True)
        own = ProviderConfig(key=wanted.key)
        config = ClientConfig.from_environment({wanted.provider: own})
    text = wanted.docs.read_text(encoding="utf-8", errors="replace")
    async with HttpModel(config) as model:
        documented = await analyse_documentation(text, model, target)
    for why in documented.rejected:
        progress(f"Not counted: {why}")
    return with_documentation(info, documented)


def _today() -> str:
    return datetime.now(UTC).date().isoformat()
