"""Coding agents as they come from their makers: how each is started before a gateway, with all
traffic to anybody else switched off, and which of its tools does what.

`CANONICALL_AGENTS` names the folder that `make agents` has installed them into.
"""

import json
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from agents.task import TaskModel
from canonicall.testing import call, says
from canonicall.testing.script import Model
from components import component

FILE = "words.txt"
WORDS = "seven quiet herons"
PROMPT = f"Write three words to {FILE}, read them back, and count them."
COUNT = f"wc -w {FILE}"
COUNTED = f"3 {FILE}"


class Place(Struct, frozen=True):
    """Where an agent runs: nothing of the machine's own settings is in reach."""

    url: str
    home: Path
    work: Path

    def write(self, path: str, text: str) -> None:
        """A file in the home of the agent."""
        file = self.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    @property
    def file(self) -> str:
        return str(self.work / FILE)


class CodingAgent(Struct, frozen=True):
    """One agent, and the simulated model of another family that does its thinking."""

    name: str
    program: str
    back: str
    arguments: tuple[str, ...]
    environment: Callable[[Place], dict[str, str]]
    """Its variables; files with settings are written on the way."""
    model: Callable[[Place], Model]
    """What does the task, by the names of the agent's own tools."""
    hops: int = 3
    """How often the model is asked at least."""
    answer: tuple[str, ...] = (WORDS, COUNTED)
    """What is said at the end."""

    def program_path(self) -> str:
        """Its program."""
        return str(component("agents", self.program))


def _claude_code(place: Place) -> dict[str, str]:
    return {
        "ANTHROPIC_BASE_URL": place.url,
        "ANTHROPIC_API_KEY": "any",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_TELEMETRY": "1",
    }


CODEX_SETTINGS = """
model_provider = "canonicall"
check_for_update_on_startup = false

[features]
apps = false
plugins = false

[analytics]
enabled = false

[model_providers.canonicall]
name = "canonicall"
base_url = "{url}/v1"
env_key = "CANONICALL_KEY"
wire_api = "responses"
"""


def _codex(place: Place) -> dict[str, str]:
    place.write(".codex/config.toml", CODEX_SETTINGS.replace("{url}", place.url))
    return {"CANONICALL_KEY": "any"}


def _gemini_cli(place: Place) -> dict[str, str]:
    settings = {
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "privacy": {"usageStatisticsEnabled": False},
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "telemetry": {"enabled": False},
    }
    place.write(".gemini/settings.json", json.dumps(settings))
    return {"GOOGLE_GEMINI_BASE_URL": place.url, "GEMINI_API_KEY": "any"}


def _opencode(place: Place) -> dict[str, str]:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{place.url}/v1", "apiKey": "any"},
        "models": {"any": {}},
    }
    settings = {
        "autoupdate": False,
        "share": "disabled",
        "provider": {"canonicall": provider},
        "permission": {"*": "allow"},
    }
    place.write(".config/opencode/opencode.json", json.dumps(settings))
    return {
        # It installs a package for plugins on every start; it is told to look for it here.
        "npm_config_registry": place.url,
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
    }


def _aider(place: Place) -> dict[str, str]:
    # It fetches prices, unless it has some of today.
    place.write(".aider/caches/model_prices_and_context_window.json", json.dumps({"any": {}}))
    return {
        "OPENAI_API_BASE": f"{place.url}/v1",
        "OPENAI_API_KEY": "any",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }


def _shell(command: str) -> str:
    """A program for Codex that runs a command."""
    return f"text(await tools.exec_command({json.dumps({'cmd': command})}));\n"


_CODEX_ARGUMENTS = ("exec", "--json", "--skip-git-repo-check", "--sandbox", "danger-full-access")
_PATCH = f"*** Begin Patch\n*** Add File: {FILE}\n+{WORDS}\n*** End Patch\n"

CODING_AGENTS = (
    CodingAgent(
        name="Claude Code",
        program="node_modules/.bin/claude",
        back="openai/openai-responses:gpt-5.5",
        arguments=("-p", PROMPT, "--output-format", "json", "--allowedTools", "Write,Read,Bash"),
        environment=_claude_code,
        model=lambda place: TaskModel(
            [call("Write", file_path=place.file, content=f"{WORDS}\n")],
            [
                call("Read", file_path=place.file),
                call("Bash", command=COUNT, description="Count the words"),
            ],
        ),
    ),
    CodingAgent(
        name="Codex",
        program="node_modules/.bin/codex",
        back="anthropic:claude-opus-4-8",
        arguments=(*_CODEX_ARGUMENTS, "--model", "gpt-5.5", PROMPT),
        environment=_codex,
        model=lambda _: TaskModel(
            [call("apply_patch", input=_PATCH)],
            [call("exec_command", cmd=f"cat {FILE}"), call("exec_command", cmd=COUNT)],
        ),
    ),
    CodingAgent(
        name="Codex in code mode",
        program="node_modules/.bin/codex",
        back="kimi:kimi-k2",
        arguments=(*_CODEX_ARGUMENTS, "--model", "gpt-6-sol", PROMPT),
        environment=_codex,
        model=lambda _: TaskModel(
            [call("exec", input=f"await tools.apply_patch({json.dumps(_PATCH)});")],
            [call("exec", input=_shell(f"cat {FILE}") + _shell(COUNT))],
        ),
    ),
    CodingAgent(
        name="Gemini CLI",
        program="node_modules/.bin/gemini",
        back="mistral:mistral-large-latest",
        arguments=(
            *("--prompt", PROMPT, "--yolo", "--skip-trust", "--output-format", "json"),
            *("--model", "gemini-2.5-pro"),
        ),
        environment=_gemini_cli,
        model=lambda place: TaskModel(
            [call("write_file", file_path=place.file, content=f"{WORDS}\n")],
            [
                call("read_file", file_path=place.file),
                call("run_shell_command", command=COUNT, description="Count the words"),
            ],
        ),
    ),
    CodingAgent(
        name="opencode",
        program="node_modules/.bin/opencode",
        back="gemini:gemini-2.5-pro",
        arguments=("run", "--format", "json", "--model", "canonicall/any", PROMPT),
        environment=_opencode,
        model=lambda place: TaskModel(
            [call("write", filePath=place.file, content=f"{WORDS}\n")],
            [
                call("read", filePath=place.file),
                call("bash", command=COUNT, description="Count the words"),
            ],
        ),
    ),
    # It has no tools: it reads what to change from the words of the reply.
    CodingAgent(
        name="aider",
        program="aider/bin/aider",
        back="cohere:command-a-03-2025",
        arguments=(
            *("--message", PROMPT, "--model", "openai/gpt-4o", "--edit-format", "whole"),
            *("--yes-always", "--no-git", "--no-pretty", "--no-show-release-notes"),
            *("--analytics-disable", "--no-check-update", FILE),
        ),
        environment=_aider,
        model=lambda _: lambda _: says(f"{FILE}\n```\n{WORDS}\n```\n"),
        hops=1,
        answer=(WORDS,),
    ),
)
