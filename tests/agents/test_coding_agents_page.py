"""docs/coding-agents.md gives the settings that the agents are run with."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from agents.coding_agents import CODING_AGENTS, Place

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "coding-agents.md").read_text()
URL = "http://127.0.0.1:8400"
READERS = {"json": json.loads, "toml": tomllib.loads}
SHOWN = re.compile(
    r"^In `~/(?P<path>[^`]+)`:\n\n```\w+\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)


def test_every_agent_is_in_the_table_with_the_model_behind_it():
    for agent in CODING_AGENTS:
        (row,) = [
            line
            for line in PAGE.splitlines()
            if line.startswith(f"| {agent.name.split(' in ')[0]} |")
        ]
        assert f"`{agent.back}`" in row


def test_the_versions_are_those_that_are_installed():
    pinned = json.loads((ROOT / "tests" / "agents" / "package.json").read_text())["dependencies"]
    for version in pinned.values():
        assert f"| {version} |" in PAGE


@pytest.mark.parametrize("agent", CODING_AGENTS, ids=lambda agent: agent.name)
def test_the_settings_on_the_page_are_those_of_the_tests(agent, tmp_path):
    variables = agent.environment(Place(URL, tmp_path, tmp_path))
    for name, value in variables.items():
        assert f"\nexport {name}={value}\n" in PAGE
    shown = {match["path"]: match["text"] for match in SHOWN.finditer(PAGE)}
    for path, text in shown.items():
        if (tmp_path / path).exists():
            read = READERS[path.rpartition(".")[2]]
            assert read(text) == read((tmp_path / path).read_text())
    settings = {str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*") if file.is_file()}
    assert {path for path in settings if "/caches/" not in path} <= set(shown)
