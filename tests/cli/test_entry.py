"""The console script as a process: what it needs, what it loads, how it ends."""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from canonicall.cli.verbs import cli

# Makes a module impossible to import, as if it had never been installed.
BLOCKED = """
import sys

missing = sys.argv.pop(1)

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name == missing or name.startswith(missing + "."):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocker())
from canonicall.cli.entry import main
main()
"""

LOADED = """
import sys
from canonicall.cli.entry import main
sys.argv[0] = "canonicall"
try:
    main()
finally:
    print("LOADED", *sorted(sys.modules))
"""

# A verb of our own making, to bring about what no real verb does on purpose.
STAND_IN = """
import os, signal, sys, time, types
import click
from canonicall.cli.verbs import Verbs

def interrupted():
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(30)

def buffered():
    sys.stdout.write("not flushed by the verb")

sys.modules["stand_in"] = types.ModuleType("stand_in")
sys.modules["stand_in"].verb = click.command()(globals()[sys.argv[1]])
Verbs({"act": ("stand_in:verb", "Act.")}).main(["act"], prog_name="canonicall")
"""


@pytest.fixture
def unread():
    """The writing end of a pipe whose reader is gone."""
    reader, writer = os.pipe()
    os.close(reader)
    yield writer
    os.close(writer)


def test_module_runs_as_a_program(canonicall):
    """`python -m canonicall.cli.entry` is the same command as `canonicall`."""
    done = canonicall("version", "--json")
    assert done.returncode == 0
    assert set(json.loads(done.stdout)) == {"canonicall", "python"}
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("missing", "arguments"),
    [("click", ["version"]), ("click", ["demo"]), ("rich", ["demo"])],
)
def test_missing_extra_is_told_in_one_line(python, missing, arguments):
    done = python(BLOCKED, missing, *arguments)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "pip install 'canonicall[cli]'" in done.stderr


@pytest.mark.parametrize("missing", ["click", "rich"])
def test_help_needs_no_extra(python, missing):
    done = python(BLOCKED, missing, "--help")
    assert done.returncode == 0
    assert "demo" in done.stdout


def test_a_missing_module_of_our_own_is_not_taken_for_the_extra(python):
    """A broken installation must not be blamed on the extra."""
    done = python(BLOCKED, "canonicall.cli.demo_naive", "demo")
    assert "ModuleNotFoundError: No module named 'canonicall.cli.demo_naive'" in done.stderr
    assert "pip install" not in done.stderr


def test_help_imports_no_verb_and_nothing_of_others(python):
    done = python(LOADED, "--help")
    shown, _, loaded = done.stdout.partition("LOADED ")
    assert "demo" in shown
    modules = set(loaded.split())
    assert "canonicall.cli.overview" in modules
    assert not modules & {"click", "rich", "msgspec", "canonicall.cli.verbs", "canonicall.cli.demo"}


def test_help_is_the_same_with_and_without_click(canonicall):
    """`--help` alone is printed without click; behind an option it comes from click."""
    assert canonicall("--help").stdout == CliRunner().invoke(cli, ["--help"]).output


def test_ctrl_c_ends_with_130_and_no_traceback(python):
    """A real SIGINT in the middle of a verb."""
    done = python(STAND_IN, "interrupted")
    assert done.returncode == 130
    assert done.stderr.strip() == ""


@pytest.mark.parametrize("arguments", [["demo"], ["demo", "--json"], ["version"], ["--help"]])
def test_broken_pipe_ends_quietly(canonicall, unread, arguments):
    """The reader is gone before the first byte: no traceback, no complaint at shutdown."""
    done = canonicall(*arguments, stdout=unread)
    assert done.returncode == 1
    assert done.stderr == ""


def test_broken_pipe_is_quiet_for_buffered_output_too(python, unread):
    """The pipe breaks only when the buffer is written, after the verb has returned."""
    done = python(STAND_IN, "buffered", stdout=unread)
    assert done.returncode == 1
    assert done.stderr == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_full_disk_is_told_in_one_line(canonicall):
    with Path("/dev/full").open("w") as full:
        done = canonicall("version", stdout=full)
    assert done.returncode == 1
    assert done.stderr == "canonicall: error: No space left on device.\n"
