"""The options that `run` and `chat` share: whom to ask, with which tools, in which session."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar
from urllib.parse import urlsplit

import click
from msgspec import Struct

from canonicall.cli.arguments import TargetName, profile_option
from canonicall.cli.endpoint_options import key_env_option, key_in
from canonicall.cli.model_choice import SIMULATED, Address, target_name

Answer: TypeAlias = Literal["allow", "deny", "ask"]
_Command = TypeVar("_Command", bound=Callable[..., Any])


class Wanted(Struct, frozen=True, kw_only=True):
    """What was asked for on the command line."""

    model: str | None = None
    base_url: str = ""
    key_env: str = ""
    system: str = ""
    tools: str = "builtin"
    yes: bool = False
    deny: bool = False
    limit_turns: int | None = None
    session: str | None = None
    resume: bool = False
    store: str | None = None
    save_refused: Path | None = None
    script: Path | None = None
    pause: float = 0.0

    def __post_init__(self) -> None:
        if self.yes and self.deny:
            raise click.UsageError("--yes and --deny contradict each other.")
        if self.session and self.resume:
            raise click.UsageError("--session names a session, --resume takes the last one.")
        if (self.base_url or self.key_env) and not self.model:
            named = "--base-url" if self.base_url else "--key-env"
            raise click.UsageError(f"{named} needs --model: whom to ask there.")
        key_in(self.key_env)

    @property
    def address(self) -> Address | None:
        """Where the model is asked, if not at its provider's own address or with another key."""
        if self.model is None or not (self.base_url or self.key_env):
            return None
        return Address(self.model, self.base_url, self.key_env)

    def answer(self, *, is_interactive: bool) -> Answer:
        """What is said to calls that need approval; nobody there to ask means no."""
        if self.yes:
            return "allow"
        return "ask" if is_interactive and not self.deny else "deny"


class ModelName(TargetName):
    """A target, or `sim` for the simulated model."""

    def known(self, name: str) -> str:
        return super().known(target_name(name))

    def offered(self) -> list[str]:
        return [*super().offered(), SIMULATED]


def _web_address(ctx: click.Context, param: click.Parameter, given: str) -> str:
    """An address with its scheme and a host."""
    parts = urlsplit(given)
    if given and not (parts.scheme in ("http", "https") and parts.hostname):
        what = "write the whole address, for example http://127.0.0.1:8080/v1."
        raise click.BadParameter(what, ctx, param)
    return given


store_option = click.option(
    "--store",
    metavar="FILE|URL",
    help="Where sessions are kept: a file, or postgresql://user@host/database; :memory: keeps none."
    " Else in the folder for user data.",
)
_OPTIONS = (
    click.option(
        "--model",
        type=ModelName(),
        metavar="PROVIDER:MODEL|sim",
        help="Whom to ask. Without it, or with `sim`: a simulated model, offline.",
    ),
    click.option(
        "--base-url",
        default="",
        callback=_web_address,
        metavar="URL",
        help="Where the model is served, if not by its provider, such as http://127.0.0.1:8080/v1."
        " A server on this machine needs no key.",
    ),
    key_env_option,
    profile_option,
    click.option("--system", default="", metavar="TEXT", help="Instructions of a new session."),
    click.option(
        "--tools",
        default="builtin",
        show_default=True,
        metavar="builtin|none|FILE.py",
        help="Which tools are offered; a file offers those it defines with @tool.",
    ),
    click.option("--yes", is_flag=True, help="Allow every call that needs approval."),
    click.option("--deny", is_flag=True, help="Deny every call that needs approval."),
    click.option(
        "--limit-turns",
        type=click.IntRange(1),
        metavar="N",
        help="How often the model is asked for one answer, at most (25).",
    ),
    click.option("--session", metavar="ID", help="Begin or continue the session of this name."),
    click.option("--resume", is_flag=True, help="Continue the session that changed last."),
    store_option,
    click.option(
        "--save-refused",
        type=click.Path(file_okay=False, path_type=Path),
        metavar="FOLDER",
        help="Write each request that the provider refuses to a file here, without keys, for"
        " `canonicall explain` and `canonicall check`.",
    ),
    click.option(
        "--script",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        hidden=True,
        help="What is answered: JSON or JSON lines of replies.",
    ),
    click.option("--pause", type=click.FloatRange(0), default=0.0, hidden=True),
)


def session_options(command: _Command) -> _Command:
    """Give a verb these options; it gets them as keywords, for `Wanted`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
