"""`canonicall discover`, against simulated providers on this machine."""

import json
import socket

import pytest
from click.testing import CliRunner

from canonicall.cli.verbs import cli
from canonicall.facts.profile import load_profile
from canonicall.facts.registry import unregister_provider
from canonicall.testing import Simulator, call, says, serve
from canonicall.testing.script import ScriptedModel
from canonicall.testing.small_model import SmallModel

KEY = "sk-test-0123456789abcdef"


def run(*arguments, **env):
    return CliRunner().invoke(cli, ["discover", *arguments], env={"COLUMNS": "120", **env})


@pytest.fixture(scope="module")
def server():
    with serve(
        {name: Simulator(name, keys=[KEY], call_tools="*") for name in ("mistral", "anthropic")}
    ) as one:
        yield one


def test_what_was_found_is_shown_and_the_profile_is_written(server, tmp_path):
    file = tmp_path / "found.toml"
    url = f"{server.url}/mistral"
    done = run(url, "--key-env", "A_KEY", "--name", "found", "-o", str(file), A_KEY=KEY)
    assert done.exit_code == 0, done.output
    assert "speaks openai-chat" in done.stdout
    assert "There is no developer role." in done.stdout
    assert "history: 400" in done.stdout
    assert "register_provider" in done.stdout
    assert "Probing history: foreign_ids" in done.stderr
    profile = load_profile(file.read_bytes(), "found.toml")
    assert (profile.name, profile.key_env) == ("found", ("A_KEY",))
    assert KEY not in done.output + file.read_text()


def test_json_has_the_proofs_and_the_profile(server):
    done = run(f"{server.url}/anthropic", "--key-env", "A_KEY", "--json", A_KEY=KEY)
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert (told["wire_format"], told["format"], told["parser"]) == (
        "anthropic",
        "json",
        "anthropic",
    )
    assert told["schema_style"] == "anthropic"
    assert all(one["evidence"] for one in told["statements"])
    assert load_profile(told["profile"], "json").format == "anthropic"
    assert done.stderr == ""


def test_a_profile_may_go_to_standard_output(server):
    done = run(f"{server.url}/anthropic", "--key-env", "A_KEY", "-o", "-", A_KEY=KEY)
    assert load_profile(done.stdout, "stdout").format == "anthropic"
    assert "speaks anthropic" in done.stderr
    assert run(server.url, "--json", "-o", "-").exit_code == 2


class Reader(SmallModel):
    """A model that also reads documentation."""

    def __call__(self, request):
        if any(tool.name == "report_tooling" for tool in request.tools):
            claim = {"question": "developer_role", "answer": True, "quote": "a developer role"}
            return says(call("report_tooling", claims=[claim]))
        return super().__call__(request)


def test_documentation_is_read_by_the_model_that_was_probed(tmp_path):
    page = tmp_path / "docs.txt"
    page.write_text("There is a developer role.")
    with serve(Simulator("mistral", model=Reader(call_tools="*"), keys=[KEY])) as server:
        done = run(
            server.url, "--key-env", "A_KEY", "--docs", str(page), "--name", "read", A_KEY=KEY
        )
    unregister_provider("read")
    assert done.exit_code == 0, done.output
    assert "contradicts" in done.stdout
    assert "the profile follows the probe" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["nowhere"], 1, "whole address"),
        (["http://x.test", "--key-env", "NOT_SET_HERE"], 2, "NOT_SET_HERE is not set"),
        (["http://x.test", "--format", "xml"], 2, "--format"),
    ],
)
def test_wrong_arguments_are_told(arguments, code, words):
    done = run(*arguments)
    assert done.exit_code == code
    assert words in done.stderr


def test_a_wrong_key_is_told_without_showing_it(server):
    done = run(f"{server.url}/anthropic", "--key-env", "A_KEY", A_KEY="sk-wrong-987654321")
    assert done.exit_code == 1
    assert "the key is missing or not valid" in done.stderr
    assert "sk-wrong" not in done.output


def test_a_model_that_is_not_there_is_told():
    with serve(Simulator("openai", models=["gpt-5.2"], call_tools="*")) as server:
        done = run(server.url, "--model", "nobody", "--key-env", "A_KEY", A_KEY=KEY)
    assert done.exit_code == 1
    assert "The model `nobody` does not exist" in done.stderr
    assert "name another model" in done.stderr


def test_a_model_without_tools_is_a_finding():
    with serve(Simulator("openai", call_tools="*")) as server:
        done = run(server.url, "--model", "gpt-5-chat-latest", "--key-env", "A_KEY", A_KEY=KEY)
    assert done.exit_code == 0, done.output
    assert "The model takes no tools." in done.stdout


def test_nobody_there():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        done = run(url)
    assert done.exit_code == 1
    assert "no connection" in done.stderr


def test_a_model_that_says_nothing_useful_leaves_answers_open():
    model = ScriptedModel(["I would rather not."] * 40)
    with serve(Simulator("openai", model=model)) as server:
        done = run(server.url, "--key-env", "A_KEY", A_KEY=KEY)
    assert done.exit_code == 0, done.output
    assert "unknown" in done.stdout


def test_a_host_on_this_machine_needs_no_key(tmp_path):
    """Also if a variable is named for later: the profile has its name."""
    file = tmp_path / "local.toml"
    with serve(Simulator("mistral", call_tools="*")) as server:
        done = run(server.url, "--model", "open-mistral-7b", "-o", str(file))
        assert done.exit_code == 0, done.output
        done = run(server.url, "--model", "open-mistral-7b", "--key-env", "UNSET", "-o", str(file))
        assert done.exit_code == 0, done.output
    assert load_profile(file.read_text(), "local").key_env == ("UNSET",)
    done = run("https://api.example.com", "--key-env", "UNSET")
    assert done.exit_code == 2
    assert "the variable UNSET is not set" in done.stderr
