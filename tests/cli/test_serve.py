"""`canonicall serve`: what it takes for settings, what it shows, how it runs and ends."""

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from importlib.resources import files

import msgspec
import pytest
from click.testing import CliRunner

from canonicall.cli.serve import for_providers
from canonicall.cli.verbs import cli
from canonicall.facts.registry import get_profile, provider_names
from canonicall.gateway.config import Settings, read_settings

KEYS = {"OPENAI_API_KEY": "sk-very-secret-1", "ANTHROPIC_API_KEY": "sk-very-secret-2"}
ALL_KEYS = {key for name in provider_names() for key in get_profile(name).key_env}
EXAMPLE = files("canonicall.gateway.config").joinpath("example.yaml").read_text()


@pytest.fixture
def run(tmp_path):
    """Runs the verb in this process, with these keys in the environment and no others."""

    def serve(*arguments, env=None):
        environ = {**dict.fromkeys(ALL_KEYS), "XDG_STATE_HOME": str(tmp_path), **(env or {})}
        return CliRunner().invoke(cli, ["serve", *arguments], env=environ)

    return serve


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "gateway.yaml"
    path.write_text(EXAMPLE)
    return path


def test_the_example_is_sound_and_names_every_section(run):
    done = run("--example")
    assert (done.exit_code, done.output) == (0, EXAMPLE)
    assert read_settings(EXAMPLE.encode(), "example.yaml", KEYS).warnings == ()
    for name in Settings.__struct_fields__:
        assert f"\n{name}:" in EXAMPLE or f"\n# {name}:" in EXAMPLE


def test_a_dry_run_shows_what_would_be_served_and_no_secret(run, file):
    done = run("-c", str(file), "--dry-run", env=KEYS)
    assert done.exit_code == 0
    shown = " ".join(done.output.split())
    assert "served at http://127.0.0.1:8400, by 1 worker." in shown
    assert "export OPENAI_BASE_URL=http://127.0.0.1:8400/v1 # OpenAI SDKs" in shown
    assert "export ANTHROPIC_BASE_URL=http://127.0.0.1:8400 # Anthropic SDKs" in shown
    assert "export GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:8400 # Google" in shown
    assert "best anthropic:claude-opus-4-5, then openai:gpt-5" in shown
    assert "shared openai:gpt-5 (75%) or anthropic:claude-sonnet-4-5 (25%), then" in shown
    assert "anthropic anthropic anthropic https://api.anthropic.com 1" in shown
    assert "very-secret" not in done.output


def test_the_password_of_a_store_is_not_shown(run, file):
    url = "postgresql://user:very-secret@host/db?password=very-secret"
    file.write_text(f"models: {{a: 'openai:x'}}\nstore: {{path: '{url}'}}\n")
    plain, as_json = (
        run("-c", str(file), "--dry-run", *form, env=KEYS) for form in ([], ["--json"])
    )
    assert json.loads(as_json.output)["store"] == "postgresql://user@host/db"
    assert "very-secret" not in plain.output + as_json.output


def test_programs_get_the_same_as_json(run, file):
    file.write_text(EXAMPLE.replace("# keys:", "keys:").replace("#   desk:", "  desk:").replace("#     ", "    "))  # fmt: skip
    done = run("-c", str(file), "--dry-run", "--json", "--port", "9", "--workers", "2", env=KEYS)
    plan = json.loads(done.output)
    assert (plan["url"], plan["workers"], plan["is_simulated"]) == ("http://127.0.0.1:9", 2, False)
    assert [front["format"] for front in plan["fronts"]] == [
        *("openai-chat", "openai-responses", "anthropic", "gemini"),
    ]
    assert [one["keys"] for one in plan["providers"]] == [1, 1]
    assert plan["keys"] == [
        {
            "name": "desk",
            "models": ["fast", "best"],
            "expires": "2027-01-31",
            "revoked": False,
            "admin": False,
        }
    ]
    assert "very-secret" not in done.output
    assert "sha256" not in done.output


def test_the_keys_in_the_environment_are_enough(run):
    plan = json.loads(run("--dry-run", "--json", env=KEYS).output)
    assert {one["name"] for one in plan["providers"]} == {"openai", "anthropic"}
    assert plan["models"] == []
    shown = " ".join(run("--dry-run", env=KEYS).output.split())
    assert "PROVIDER:MODEL, for: anthropic, openai." in shown


def test_addresses_in_the_environment_are_for_clients():
    """They lead to the gateway: it would ask itself, for ever."""
    environ = {**KEYS, "OPENAI_BASE_URL": "http://127.0.0.1:8400/v1", "AWS_REGION": "eu-west-1"}
    assert for_providers(environ) == {**KEYS, "AWS_REGION": "eu-west-1"}


def test_nothing_at_all_is_a_simulation_on_loopback_and_says_so(run, tmp_path):
    done = run("--dry-run")
    assert "Nothing is configured: a small simulated model answers" in done.output
    plan = json.loads(run("--dry-run", "--json").output)
    assert plan["is_simulated"]
    assert plan["url"] == "http://127.0.0.1:8400"
    assert plan["store"] == str(tmp_path / "canonicall" / "gateway.db")


def test_every_fault_of_a_file_has_its_line(run, file):
    file.write_text("server: {prot: 1}\nmodels: {a: 'opnai:x'}\n")
    for arguments in (("--dry-run",), ()):
        done = run("-c", str(file), *arguments)
        assert done.exit_code == 1
        assert done.stdout == ""
        assert done.stderr.splitlines() == [
            f"canonicall: error: {file}: $.server.prot: no setting here is called 'prot'. Did you mean 'port'?",
            f"canonicall: error: {file}: $.models.a.choices[0].target: no provider is called 'opnai'. Did you mean 'openai'?",
        ]


def test_options_cannot_open_the_door_unseen(run, file):
    for arguments in ((), ("-c", str(file))):
        done = run(*arguments, "--host", "0.0.0.0", "--dry-run", env=KEYS)  # noqa: S104
        assert done.exit_code == 1
        assert "other machines could ask, and no virtual key is needed." in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-c", "gone.yaml"], "does not exist"),
        (["--port", "70000"], "not in the range"),
        (["--workers", "0"], "not in the range"),
        (["--watch"], "--watch needs a file"),
        (["--call-tools", ","], "Name a tool"),
    ],
)
def test_wrong_arguments_are_told(run, arguments, words):
    done = run(*arguments)
    assert done.exit_code == 2
    assert words in done.stderr


def test_a_warning_is_shown_and_does_not_stop_anything(run, file):
    file.write_text("server: {workers: 2}\nmodels: {a: 'openai:x'}\n")
    done = run("-c", str(file), "--dry-run")
    assert done.exit_code == 0
    assert "Note: $.store.path: each worker has a memory of its own" in " ".join(
        done.output.split()
    )


@pytest.fixture
def gateway(tmp_path):
    """Starts the verb as a process."""
    running = []

    def start(*arguments, env=None):
        kept = {name: one for name, one in os.environ.items() if name not in ALL_KEYS}
        process = subprocess.Popen(
            [sys.executable, "-m", "canonicall.cli.entry", "serve", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**kept, "XDG_STATE_HOME": str(tmp_path), **(env or {})},
        )
        running.append(process)
        return process

    yield start
    for process in running:
        if process.poll() is None:
            process.kill()
        process.communicate()


def ask(url, body):
    asked = urllib.request.Request(  # noqa: S310
        url, msgspec.json.encode(body), {"content-type": "application/json"}
    )
    with urllib.request.urlopen(asked, timeout=60) as answer:  # noqa: S310
        return json.load(answer)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_it_answers_without_any_settings(gateway, workers):
    process = gateway("--port", "0", "--workers", workers, "--json")
    started = json.loads(process.stdout.readline())
    assert (started["event"], started["is_simulated"]) == ("started", True)
    chat = next(one["url"] for one in started["fronts"] if one["format"] == "openai-chat")
    body = {"model": "any", "messages": [{"role": "user", "content": "Hi"}]}
    answer = ask(f"{chat}/chat/completions", body)
    assert "Hi" in answer["choices"][0]["message"]["content"]
    process.send_signal(signal.SIGINT)
    assert json.loads(process.stdout.readline())["event"] == "draining"
    assert process.wait(60) == 0


def test_a_provider_is_not_asked_to_call_tools(run, file):
    for arguments in ((), ("-c", str(file))):
        done = run(*arguments, "--call-tools", "shell", "--dry-run", env=KEYS)
        assert done.exit_code == 2
        assert "--call-tools is for the simulated model" in done.stderr


@pytest.mark.parametrize("named", [False, True])
def test_the_simulated_model_calls_only_the_tools_that_are_named(gateway, named):
    process = gateway("--port", "0", "--json", *(["--call-tools", "shell"] if named else []))
    started = json.loads(process.stdout.readline())
    messages = next(one["url"] for one in started["fronts"] if one["format"] == "anthropic")
    schema = {"type": "object", "properties": {"command": {"type": "string"}}}
    tool = {"name": "shell", "description": "Runs a command.", "input_schema": schema}
    asked = {"messages": [{"role": "user", "content": "Run the command"}], "tools": [tool]}
    answer = ask(f"{messages}/v1/messages", {"model": "any", "max_tokens": 500, **asked})
    kinds = [block["type"] for block in answer["content"]]
    assert kinds == (["tool_use"] if named else ["text"])
    if not named:
        assert "Tools offered: shell." in answer["content"][0]["text"]
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0


def test_people_are_told_where_it_is_and_what_to_do_next(gateway):
    process = gateway("--port", "0")
    lines = [process.stdout.readline() for _ in range(12)]
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0
    said = " ".join("".join(lines).split())
    assert said.startswith("canonicall serves at http://127.0.0.1:")
    assert "export ANTHROPIC_BASE_URL=http://127.0.0.1:" in said
    assert "Nothing is configured: a small simulated model answers" in said
    assert "canonicall serve --example > gateway.yaml" in said
    assert "Ending: requests under way may finish." in process.stderr.read()


def test_a_port_that_is_taken_is_told_in_one_line(gateway):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        process = gateway("--port", str(port))
        assert process.wait(60) == 1
    assert process.stderr.read() == (
        f"canonicall: error: 127.0.0.1, port {port}: somebody else listens there."
        " Choose another with --port; 0 takes any that is free.\n"
    )
