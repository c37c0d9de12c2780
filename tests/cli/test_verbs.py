"""The group of verbs: what it lists, what it suggests, how errors end."""

import sys
import types

import click
import pytest
from click.testing import CliRunner

from batches import each
from canonicall.cli.overview import VERBS
from canonicall.cli.verbs import Verbs, cli
from canonicall.errors import InvalidValue, UnreadableConversation


@pytest.fixture
def ended(monkeypatch):
    """Runs a verb that does nothing but `act`, and says how the run ended."""

    def run(act):
        module = types.ModuleType("stand_in")
        module.verb = click.command()(act)
        monkeypatch.setitem(sys.modules, "stand_in", module)
        return CliRunner().invoke(Verbs({"act": ("stand_in:verb", "Act.")}), ["act"])

    return run


def raising(error: BaseException):
    def act() -> None:
        raise error

    return act


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_lists_every_verb_with_its_line(option):
    done = CliRunner().invoke(cli, [option])
    assert done.exit_code == 0
    for name, (_, about) in VERBS.items():
        assert f"  {name} " in done.output
        assert about in done.output


@each("name", VERBS)
def test_a_verb_says_of_itself_what_the_list_says(name):
    """The table is read without importing the verb, so the two could drift apart."""
    done = CliRunner().invoke(cli, [name, "--help"])
    assert done.exit_code == 0
    assert VERBS[name][1] in done.output


@pytest.mark.parametrize(
    ("typed", "meant"), [("dmeo", "demo"), ("DEMO", "demo"), ("verison", "version")]
)
def test_unknown_verb_suggests_the_nearest(typed, meant):
    done = CliRunner().invoke(cli, [typed])
    assert done.exit_code == 2
    assert f"Unknown verb {typed!r}. Did you mean {meant!r}?" in done.stderr


def test_unknown_verb_far_from_all_lists_what_there_is():
    done = CliRunner().invoke(cli, ["xyzzy"])
    assert done.exit_code == 2
    assert f"There are: {', '.join(VERBS)}." in done.stderr


@pytest.mark.parametrize("arguments", [["--nonsense"], ["demo", "--nonsense"], ["version", "1"]])
def test_wrong_arguments_end_with_2(arguments):
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert "Error: " in done.stderr


@pytest.mark.parametrize(
    "error",
    [
        InvalidValue("expected text.", where="entries[0]"),
        UnreadableConversation("not an entry.", line=3),
    ],
)
def test_our_errors_are_told_in_one_line(ended, error):
    done = ended(raising(error))
    assert done.exit_code == 1
    assert done.stderr == f"canonicall: error: {error}\n"
    assert done.stdout == ""


def test_other_errors_are_not_hidden(ended):
    """A defect of ours must show its traceback."""
    done = ended(raising(ZeroDivisionError("a defect")))
    assert isinstance(done.exception, ZeroDivisionError)


def test_keyboard_interrupt_ends_with_130(ended):
    done = ended(raising(KeyboardInterrupt()))
    assert done.exit_code == 130
    assert done.output.strip() == ""


@pytest.mark.parametrize(("returned", "code"), [(None, 0), (0, 0), (3, 3)])
def test_a_verb_may_return_its_exit_code(ended, returned, code):
    assert ended(lambda: returned).exit_code == code
