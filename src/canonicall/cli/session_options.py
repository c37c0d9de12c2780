"""The options that `run` and `chat` share: whom to ask, with which tools, in which session."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

import click
from msgspec import Struct

from canonicall.cli.arguments import TargetName, profile_option

Answer: TypeAlias = Literal["allow", "deny", "ask"]
_Command = TypeVar("_Command", bound=Callable[..., Any])


class Wanted(Struct, frozen=True, kw_only=True):
    """What was asked for on the command line."""

    model: str | None = None
    system: str = ""
    tools: str = "builtin"
    yes: bool = False
    deny: bool = False
    limit_turns: int | None = None
    session: str | None = None
    resume: bool = False
    store: str | None = None
    script: Path | None = None
    pause: float = 0.0

    def __post_init__(self) -> None:
        if self.yes and self.deny:
            raise click.UsageError("--yes and --deny contradict each other.")
        if self.session and self.resume:
            raise click.UsageError("--session names a session, --resume takes the last one.")

    def answer(self, *, is_interactive: bool) -> Answer:
        """What is said to calls that need approval; nobody there to ask means no."""
        if self.yes:
            return "allow"
        return "ask" if is_interactive and not self.deny else "deny"


store_option = click.option(
    "--store",
    metavar="FILE|URL",
    help="Where sessions are kept: a file, or postgresql://user@host/database; :memory: keeps none."
    " Else in the folder for user data.",
)
_OPTIONS = (
    click.option(
        "--model",
        type=TargetName(),
        metavar="PROVIDER[:MODEL]",
        help="Whom to ask. Without it, or without a key: a simulated model, offline.",
    ),
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
