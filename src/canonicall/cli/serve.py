"""`canonicall serve`: the gateway, until Ctrl-C.

Settings come from a file; without one, from the keys in the environment; without any, a simulated
model answers. Options stand above all of them.
"""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import click
import msgspec
from msgspec.structs import replace

from canonicall.cli.arguments import call_tools_option, json_option
from canonicall.cli.overview import FAILED
from canonicall.cli.page import open_console
from canonicall.cli.serving_page import show_plan, show_started
from canonicall.cli.serving_plan import plan_of
from canonicall.cli.verbs import complain
from canonicall.cli.visible import visible
from canonicall.errors import CanonicallError
from canonicall.facts.registry import get_target
from canonicall.gateway.app import Gateway
from canonicall.gateway.config import (
    SIMULATED,
    Loaded,
    SettingsSource,
    UnusableSettings,
    default_settings,
    environment_settings,
    exposure,
    load_file,
)
from canonicall.testing.simulator import Simulator
from canonicall.testing.transport import SimulatorTransport

if TYPE_CHECKING:
    from canonicall.gateway.server.worker import Factory

_WIDEST = 120
_OPTIONS = "the options"


class ServerMissing(CanonicallError, ImportError):
    """What serves HTTP is not installed."""


@click.command()
@click.option(
    "-c",
    "--config",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="The settings, TOML or YAML. Without it: the keys in the environment, or a simulation.",
)
@click.option("--host", help="Where to listen, in place of what the settings say.")
@click.option("--port", type=click.IntRange(0, 65535), help="The port; 0 takes any that is free.")
@click.option("--workers", type=click.IntRange(1, 256), help="How many processes share the port.")
@click.option("--dry-run", is_flag=True, help="Check the settings, and show what would be served.")
@click.option("--watch", is_flag=True, help="Read the file again whenever it changes.")
@click.option("--example", is_flag=True, help="Print a file of settings to begin with.")
@call_tools_option
@json_option
def serve(
    config: str | None,
    dry_run: bool,
    watch: bool,
    example: bool,
    call_tools: tuple[str, ...],
    as_json: bool,
    **server: Any,
) -> int | None:
    """Serve any provider to the clients of any other.

    OpenAI's, Anthropic's and Google's SDKs and the agents built on them only change their base
    URL. SIGHUP has the file read again, without losing a request; SIGTERM lets those under way
    finish. The simulated model calls no tool unless --call-tools names it.

    \b
    Examples:
      canonicall serve
      canonicall serve --example > gateway.yaml
      canonicall serve -c gateway.yaml --dry-run
      canonicall serve -c gateway.yaml --port 9000 --watch
    """
    if example:
        click.echo(
            files("canonicall.gateway.config").joinpath("example.yaml").read_text(), nl=False
        )
        return None
    if watch and config is None:
        raise click.UsageError("--watch needs a file: canonicall serve -c FILE --watch.")
    given = {name: value for name, value in server.items() if value is not None}
    try:
        run = _Run(config, given, call_tools=call_tools, as_json=as_json)
        if not dry_run:
            return run.serve(watch=watch)
        run.show()
    except UnusableSettings as error:
        # Each in a line of its own: whoever repairs a file wants to see them all.
        for problem in error.problems:
            complain(f"{error.file}: {problem}")
        return FAILED
    return None


class _Run:
    """One call of the verb: the settings it found, and how it tells what happens."""

    def __init__(
        self,
        config: str | None,
        given: Mapping[str, Any],
        *,
        call_tools: tuple[str, ...],
        as_json: bool,
    ) -> None:
        self._config = config
        self._given = given
        self._call_tools = call_tools
        self._as_json = as_json
        self._loaded, self._is_simulated = self._load()
        if call_tools and not self._is_simulated:
            raise click.UsageError(
                "--call-tools is for the simulated model, and a provider is configured."
                " Leave the option out."
            )

    def show(self) -> None:
        """Tell what would be served."""
        plan = self._plan()
        if self._as_json:
            click.echo(msgspec.json.format(msgspec.json.encode(plan), indent=2))
        else:
            show_plan(open_console(widest=_WIDEST), plan)

    def serve(self, *, watch: bool) -> int:
        """Serve until told to end."""
        try:
            serving = import_module("canonicall.gateway.server.processes")
        except ModuleNotFoundError as error:
            what = f"serving needs the package {error.name}: pip install 'canonicall[server]'"
            raise ServerMissing(what) from None
        source = SettingsSource(lambda: self._load()[0].settings, file=self._config)
        code: int = serving.serve(
            source, self._factory(), self._tell, on_ready=self._started, watches=watch
        )
        return code

    def _load(self) -> tuple[Loaded, bool]:
        """The settings, and whether only a simulated model can answer."""
        is_simulated = False
        if self._config is not None:
            loaded = load_file(self._config, os.environ)
        else:
            found = environment_settings(os.environ)
            is_simulated = found is None
            loaded = Loaded(found or default_settings(os.environ))
        settings = loaded.settings
        settings = replace(settings, server=replace(settings.server, **self._given))
        exposed = exposure(settings)
        if exposed is not None:
            raise UnusableSettings(self._config or _OPTIONS, [exposed])
        return replace(loaded, settings=settings), is_simulated

    def _factory(self) -> "Factory":
        if not self._is_simulated:
            return partial(Gateway, environ=for_providers(os.environ), is_observed=True)
        transport = SimulatorTransport(_simulator(self._call_tools))
        return partial(Gateway, transport=transport, is_observed=True)

    def _plan(self, url: str = "") -> Any:
        loaded = self._loaded
        return plan_of(
            loaded.settings, url=url, is_simulated=self._is_simulated, warnings=loaded.warnings
        )

    def _started(self, url: str) -> None:
        plan = self._plan(url)
        if self._as_json:
            click.echo(msgspec.json.encode({"event": "started", **msgspec.to_builtins(plan)}))
        else:
            show_started(open_console(widest=_WIDEST), plan)

    def _tell(self, event: str, text: str) -> None:
        # Where nobody reads any more, clients are served all the same.
        with suppress(OSError):
            if self._as_json:
                click.echo(msgspec.json.encode({"event": event, "text": text}))
            else:
                click.echo(f"canonicall: {visible(text)}", err=True)


def _simulator(call_tools: tuple[str, ...]) -> Callable[[str], Simulator]:
    simulator = Simulator(get_target(SIMULATED).provider, call_tools=call_tools)

    def at(url: str) -> Simulator:
        del url
        # It keeps what it was asked, for tests; a server would never be done with that.
        simulator.seen.clear()
        return simulator

    return at


def for_providers(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment without the addresses in it.

    They are there for clients, and lead to a gateway where there is one: it would ask itself.
    """
    return {name: value for name, value in environ.items() if not name.endswith("_BASE_URL")}
