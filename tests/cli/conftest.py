"""Ways to run the command line as a process of its own."""

import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from cli.talks import stored, write_script, write_tools
from cli.terminal import Terminal

Run = Callable[..., subprocess.CompletedProcess[str]]

# What a shell may set to change colour, width or buffering.
_SHELL_TASTE = (
    "FORCE_COLOR",
    "NO_COLOR",
    "COLUMNS",
    "LINES",
    "TTY_COMPATIBLE",
    "TTY_INTERACTIVE",
    "PYTHONUNBUFFERED",
)


def _environment(**extra: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in _SHELL_TASTE}
    return {**kept, "PYTHONIOENCODING": "utf-8", **extra}


def _run(arguments: list[str], env: dict[str, str], **options) -> subprocess.CompletedProcess[str]:
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run(
        [sys.executable, *arguments], env=env, text=True, timeout=60, check=False, **streams
    )


@pytest.fixture(scope="session")
def canonicall() -> Run:
    """Runs `python -m canonicall.cli.entry` with arguments; `env` adds to the environment."""

    def run(*arguments: str, env: dict[str, str] | None = None, **options):
        return _run(
            ["-m", "canonicall.cli.entry", *arguments], _environment(**(env or {})), **options
        )

    return run


@pytest.fixture(scope="session")
def python() -> Run:
    """Runs a program text with arguments."""

    def run(program: str, *arguments: str, **options):
        return _run(["-c", program, *arguments], _environment(), **options)

    return run


@pytest.fixture
def chat(tmp_path):
    """Begins a chat in a terminal, with a script and the tools of the tests."""
    opened = []

    def start(*replies, options=()):
        arguments = ["--script", write_script(tmp_path, *replies)] if replies else []
        arguments += ["--tools", write_tools(tmp_path), "--session", "s", *options]
        env = {"TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1", "XDG_DATA_HOME": str(tmp_path)}
        opened.append(Terminal("chat", *arguments, env=env))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


@pytest.fixture
def history(tmp_path):
    """A session that `run` or `chat` has stored."""
    return lambda id="s": stored(tmp_path / "canonicall" / "sessions.db", id)
