"""Ways to run the command line as a process of its own."""

import os
import subprocess
import sys
from collections.abc import Callable

import pytest

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


@pytest.fixture
def canonicall() -> Run:
    """Runs `python -m canonicall.cli.entry` with arguments; `env` adds to the environment."""

    def run(*arguments: str, env: dict[str, str] | None = None, **options):
        return _run(
            ["-m", "canonicall.cli.entry", *arguments], _environment(**(env or {})), **options
        )

    return run


@pytest.fixture
def python() -> Run:
    """Runs a program text with arguments."""

    def run(program: str, *arguments: str, **options):
        return _run(["-c", program, *arguments], _environment(), **options)

    return run
