"""The verbs of the command line: each is imported when it is called, and ends with a code.

In: arguments. Out: an exit code. A verb's module is imported when the verb is called, so that
help stays quick however many verbs there are. Only this file decides on exit codes: a verb returns
one of `EXIT_CODES`, or nothing, which is 0.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

import click

from canonicall.cli.overview import FAILED, INTERRUPTED, VERBS, overview
from canonicall.cli.visible import in_one_line
from canonicall.errors import CanonicallError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_LONGEST = 600
"""Characters of an error that are shown."""


class Verbs(click.Group):
    """A group whose commands are imported when they are called."""

    def __init__(self, verbs: Mapping[str, tuple[str, str]], **attributes: Any) -> None:
        super().__init__(**attributes)
        self._verbs = verbs

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(self._verbs)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in self._verbs:
            return None
        module, _, attribute = self._verbs[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def get_help(self, ctx: click.Context) -> str:
        """The text that is printed without click, where nothing but help is wanted."""
        del ctx
        return overview()

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list["CompletionItem"]:
        """The verbs that can be meant, from the table alone; then the options of the group."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415  # only a shell asks

        verbs = [
            CompletionItem(name, help=about)
            for name, (_, about) in self._verbs.items()
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
            code = _failed(error, _in_words(error))
        sys.exit(code if isinstance(code, int) else 0)


def complain(text: str) -> None:
    """Tell an error in one line, whatever is quoted in it."""
    line = in_one_line(text)
    if len(line) > _LONGEST:
        # The path into something deep is longer than anybody reads.
        line = f"{line[: _LONGEST // 2]} ... {line[-_LONGEST // 2 :]}"
    click.echo(f"canonicall: error: {line}", err=True)


def _failed(error: Exception, told: str = "") -> int:
    complain(told or str(error))
    return FAILED


def _in_words(error: OSError) -> str:
    """What the system says, without its number."""
    said = error.strerror or str(error)
    return f"{error.filename}: {said}." if error.filename else f"{said}."


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
