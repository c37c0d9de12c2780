"""The verbs of the command line: where each one lives, and how a run ends.

In: arguments. Out: an exit code. A verb's module is imported when the verb is called, so that
help stays quick however many verbs there are. Only this file decides on exit codes: a verb returns
one of `EXIT_CODES`, or nothing, which is 0.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import click

from canonicall.errors import CanonicallError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

OK, FAILED, MISUSED, FOUND, INTERRUPTED = 0, 1, 2, 3, 130

EXIT_CODES = {
    OK: "It worked, and nothing is wrong.",
    FAILED: "An error, told in one line; or nobody reads the output any more.",
    MISUSED: "The arguments are wrong.",
    FOUND: "It worked, and something was found: a provider would refuse it, a call is unreadable.",
    INTERRUPTED: "Ended by Ctrl-C.",
}
"""How a run ends, for every verb."""


class Verb(NamedTuple):
    """A verb that has not been imported yet."""

    home: str
    """Where it lives, as "module:attribute"."""
    help: str
    """One line for the list of verbs."""


VERBS = {
    "demo": Verb("canonicall.cli.demo:demo", "Show what canonicall does: offline, in seconds."),
    "check": Verb(
        "canonicall.cli.check:check", "Find what a provider would refuse in a transcript."
    ),
    "fix": Verb("canonicall.cli.fix:fix", "Repair a transcript, so that a provider accepts it."),
    "convert": Verb(
        "canonicall.cli.convert:convert", "Convert transcripts to the format of another provider."
    ),
    "import": Verb(
        "canonicall.cli.import_sessions:import_sessions",
        "Read or list the sessions of coding agents.",
    ),
    "explain": Verb(
        "canonicall.cli.explain:explain", "Say what a provider's error means, and what to do."
    ),
    "parse": Verb("canonicall.cli.parse:parse", "Read the calls that a model printed as text."),
    "providers": Verb(
        "canonicall.cli.providers:providers", "Show what providers can do, and their rules."
    ),
    "doctor": Verb(
        "canonicall.cli.doctor:doctor", "Look at the installation: packages, keys, versions."
    ),
    "version": Verb("canonicall.cli.version:version", "Print the versions in use."),
}


class Verbs(click.Group):
    """A group whose commands are imported when they are called."""

    def __init__(self, verbs: Mapping[str, Verb], **attributes: Any) -> None:
        super().__init__(**attributes)
        self._verbs = verbs

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(self._verbs)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        verb = self._verbs.get(cmd_name)
        if verb is None:
            return None
        module, _, attribute = verb.home.partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of verbs in `--help`, from the table alone: no verb is imported for it."""
        del ctx
        with formatter.section("Verbs"):
            formatter.write_dl([(name, verb.help) for name, verb in self._verbs.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list["CompletionItem"]:
        """The verbs that can be meant, from the table alone; then the options of the group."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415  # only a shell asks

        verbs = [
            CompletionItem(name, help=verb.help)
            for name, verb in self._verbs.items()
            if name.startswith(incomplete)
        ]
        return [*verbs, *click.Command.shell_complete(self, ctx, incomplete)]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        known = self.list_commands(ctx)
        name = args[0]
        if name not in known and not name.startswith("-") and not ctx.resilient_parsing:
            near = get_close_matches(name.lower(), known, n=1, cutoff=0.5)
            hint = f"Did you mean {near[0]!r}?" if near else f"There are: {', '.join(known)}."
            ctx.fail(f"Unknown verb {name!r}. {hint}")
        return super().resolve_command(ctx, args)

    def main(self, args: Sequence[str] | None = None, *rest: Any, **extra: Any) -> NoReturn:
        """Run, tell what went wrong in one line, and exit."""
        try:
            code = super().main(args, *rest, **{**extra, "standalone_mode": False})
            # A reader that is gone shows when the buffer is written: here, not at shutdown.
            if sys.stdout is not None:
                sys.stdout.flush()
        except click.ClickException as error:
            error.show()
            code = error.exit_code
        except (click.Abort, KeyboardInterrupt):
            code = INTERRUPTED
        except CanonicallError as error:
            code = _failed(error)
        except BrokenPipeError:
            _mute_output()
            code = FAILED
        except OSError as error:
            _mute_output()
            code = _failed(error)
        sys.exit(code if isinstance(code, int) else 0)


def _failed(error: Exception) -> int:
    click.echo(f"canonicall: error: {error}", err=True)
    return FAILED


def _mute_output() -> None:
    """Send what is still in the buffer nowhere: at shutdown Python would complain about it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print_version(ctx: click.Context, option: click.Parameter, wanted: bool) -> None:
    del option
    if wanted and not ctx.resilient_parsing:
        click.echo(import_module("canonicall.cli.version").version_line())
        ctx.exit()


cli = Verbs(
    VERBS,
    name="canonicall",
    help="One conversation, any model: tool-calling conversations that stay valid.",
    subcommand_metavar="VERB [ARGS]...",
    context_settings={"help_option_names": ["-h", "--help"]},
    params=[
        click.Option(
            ["--version"],
            is_flag=True,
            expose_value=False,
            is_eager=True,
            callback=_print_version,
            help="Print the versions in use and exit.",
        )
    ],
)
