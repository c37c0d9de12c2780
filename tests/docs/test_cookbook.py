"""What the cookbook shows of a terminal is what a terminal shows."""

import re
import shlex
from pathlib import Path

from click.testing import CliRunner

from canonicall.cli.verbs import cli
from importing.session_files import AGENTS

PAGE = (Path(__file__).parents[2] / "docs" / "cookbook.md").read_text(encoding="utf-8")
(SHOWN,) = re.findall(r"^```console\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_session_of_a_coding_agent_is_found_and_repaired(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "projects").mkdir()
    session = AGENTS["claude-code"].session(interrupted=True)
    (tmp_path / "projects" / "session.jsonl").write_bytes(session)
    for screen in SHOWN.removeprefix("$ ").split("\n$ "):
        command, _, shown = screen.partition("\n")
        name, *arguments = shlex.split(command)
        done = CliRunner().invoke(cli, arguments, env={"COLUMNS": "100"})
        assert (name, done.exit_code) == ("canonicall", 0)
        assert done.output.rstrip() == shown.rstrip()
