"""The page docs/command-line.md, made of the help texts: `python -m canonicall.cli.reference`.

The page says what the verbs say of themselves; a test holds that it is up to date.
"""

import click

from canonicall.cli.overview import EXIT_CODES, VERBS
from canonicall.cli.verbs import cli

_WIDTH = 80
_INTRODUCTION = """\
# The command line

In a checkout, `pip install '.[cli]'` brings the command `canonicall`; what `make` sets up has it as
`.venv/bin/canonicall`. Every verb prints tables and colour for people, plain text into a pipe, and
JSON with `--json`. `-` stands for standard input. Only `run`, `chat`, `serve` and `discover` send
anything, to the providers you name and have a key for; no other verb needs one. Files are written
whole or not at all.

This page is made by `python -m canonicall.cli.reference > docs/command-line.md`.
"""
_ENDINGS = """\
## Exit codes

| code | meaning |
|---|---|
"""
_JSON = """\
## JSON

`check` prints one JSON object for each document and line, `fix` the same on standard error,
because the repaired body has standard output; `convert` and `import` print theirs there, too, one
for everything, and `import` of a folder one for each session; `run` and `chat` print one event a
line, as [agents.md](agents.md#events) has them, and `serve` and `sim` print theirs; the other verbs
print one object or list. In a file with one document a line, `line` counts from 1; it is null where
the whole file is one document.
Findings and violations have the fields of [findings.md](findings.md) and
[violations.md](violations.md).
"""
_COMPLETION = """\
## Completion

Verbs, options and the names of providers, formats and syntaxes complete. Add one line to the file
that your shell reads when it starts:

| shell | file | line |
|---|---|---|
| bash | `~/.bashrc` | `eval "$(_CANONICALL_COMPLETE=bash_source canonicall)"` |
| zsh | `~/.zshrc` | `eval "$(_CANONICALL_COMPLETE=zsh_source canonicall)"` |
| fish | `~/.config/fish/config.fish` | `_CANONICALL_COMPLETE=fish_source canonicall \\| source` |
"""


def reference() -> str:
    """The whole page."""
    rows = "".join(f"| {code} | {meaning} |\n" for code, meaning in EXIT_CODES.items())
    parts = [_INTRODUCTION, _fenced(_help(cli, "canonicall")), _ENDINGS + rows, _JSON, _COMPLETION]
    for name in VERBS:
        command = cli.get_command(click.Context(cli), name)
        if command is not None:
            parts += [f"## {name}\n", *_parts(command, f"canonicall {name}")]
    return "\n".join(parts)


def _parts(command: click.Command, path: str) -> list[str]:
    """The help of a verb, and of the verbs in it."""
    parts = [_fenced(_help(command, path))]
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            parts += _parts(inner, f"{path} {name}")
    return parts


def _help(command: click.Command, path: str) -> str:
    context = click.Context(
        command,
        info_name=path,
        terminal_width=_WIDTH,
        max_content_width=_WIDTH,
        help_option_names=["-h", "--help"],
    )
    return "\n".join(line.rstrip() for line in command.get_help(context).splitlines())


def _fenced(text: str) -> str:
    return f"```text\n{text}\n```\n"


if __name__ == "__main__":
    click.echo(reference(), nl=False)
