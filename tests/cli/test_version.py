"""`canonicall version` and `canonicall --version`."""

import json
import platform
from importlib import metadata

import pytest
from click.testing import CliRunner

from canonicall.cli.verbs import cli


@pytest.mark.parametrize("arguments", [["version"], ["--version"]])
def test_names_both_versions_in_one_line(arguments):
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 0
    ours, pythons = metadata.version("canonicall"), platform.python_version()
    assert done.output == f"canonicall {ours} (Python {pythons})\n"


def test_json_names_the_same_versions():
    done = CliRunner().invoke(cli, ["version", "--json"])
    assert done.exit_code == 0
    assert json.loads(done.output) == {
        "canonicall": metadata.version("canonicall"),
        "python": platform.python_version(),
    }
