"""What a shell is offered when the user presses the tab key."""

import pytest
from click.shell_completion import ShellComplete

from canonicall import provider_names, syntax_names
from canonicall.cli.overview import VERBS
from canonicall.cli.verbs import cli


def offered(*words):
    """The completions of the last of these words."""
    *before, last = words
    found = ShellComplete(cli, {}, "canonicall", "_CANONICALL_COMPLETE")
    return [one.value for one in found.get_completions(before, last)]


def test_verbs_complete():
    assert offered("") == [*VERBS]
    assert offered("ex") == ["explain"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("check", "x", "--as", "mistral"), ["mistral", "mistralrs"]),
        (("check", "x", "--as", "al"), ["all"]),
        (("fix", "x", "--as", "al"), []),
        (("check", "x", "--from", "openai"), ["openai-chat", "openai-responses"]),
        (("providers", "kimi"), ["kimi", "kimi-hosted"]),
        (("providers", "--has", "s"), ["streaming", "strict", "schema", "subset"]),
        (("fix", "--in"), ["--in-place"]),
    ],
)
def test_names_and_options_complete(words, expected):
    assert offered(*words) == expected


def test_every_provider_and_every_syntax_is_offered():
    assert set(offered("explain", "--provider", "")) == set(provider_names())
    assert set(offered("parse", "--syntax", "")) == {"auto", *syntax_names()}


def test_bash_is_answered(canonicall):
    """As the line of the page sets it up: bash asks through the environment."""
    words = {"COMP_WORDS": "canonicall check x --as mini", "COMP_CWORD": "4"}
    done = canonicall(env={"_CANONICALL_COMPLETE": "bash_complete", **words})
    assert (done.stdout, done.stderr) == ("plain,minimax\n", "")
    script = canonicall(env={"_CANONICALL_COMPLETE": "bash_source"}).stdout
    assert "_CANONICALL_COMPLETE=bash_complete" in script
