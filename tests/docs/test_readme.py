"""What the start page shows of a terminal is what a terminal shows."""

import json
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from canonicall.cli.verbs import cli

PAGE = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
(SHOWN,) = re.findall(r"^```console\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
SCREENS = [screen.partition("\n") for screen in SHOWN.removeprefix("$ ").split("\n$ ")]
FIRST_EXAMPLE = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[0]


@pytest.mark.parametrize(("command", "shown"), [(head, rest) for head, _, rest in SCREENS])
def test_a_command_prints_what_is_shown(command, shown, tmp_path, monkeypatch):
    """The file is the body of the example above it."""
    example = {}
    exec(FIRST_EXAMPLE, example)  # noqa: S102  # running it is the point
    (tmp_path / "request.json").write_text(json.dumps(example["body"]))
    monkeypatch.chdir(tmp_path)
    name, *arguments = shlex.split(command)
    done = CliRunner().invoke(cli, arguments, env={"COLUMNS": "100"})
    assert name == "canonicall"
    assert done.output.rstrip() == shown.rstrip()
