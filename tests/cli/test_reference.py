"""The page docs/command-line.md is what the verbs say of themselves."""

from pathlib import Path

from click.testing import CliRunner

from batches import each
from canonicall.cli.overview import EXIT_CODES, VERBS
from canonicall.cli.reference import reference
from canonicall.cli.verbs import cli

PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"


def test_the_page_is_up_to_date():
    """To renew it: python -m canonicall.cli.reference > docs/command-line.md"""
    assert PAGE.read_text(encoding="utf-8") == reference()


def test_the_page_has_every_verb_and_every_exit_code():
    page = reference()
    assert all(f"\n## {name}\n" in page for name in VERBS)
    assert all(f"\n| {code} | {meaning} |" in page for code, meaning in EXIT_CODES.items())


@each("name", VERBS)
def test_the_help_of_a_verb_has_an_example(name):
    shown = CliRunner().invoke(cli, [name, "--help"]).stdout
    assert f"\n    canonicall {name}" in shown
    assert "--json" in shown
    assert max(map(len, shown.splitlines())) <= 80
