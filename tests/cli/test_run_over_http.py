"""`canonicall run` with providers behind real connections: simulated ones on this machine."""

import pytest
from click.testing import CliRunner

from canonicall.cli.verbs import cli
from canonicall.testing import Simulator, call, says, serve
from canonicall.testing.script import ScriptedModel

PROVIDERS = [
    ("openai:gpt-5.2", "OPENAI", "/v1"),
    ("anthropic:claude-opus-5-5", "ANTHROPIC", ""),
    ("gemini:gemini-3-pro-preview", "GEMINI", "/v1beta"),
    ("mistral:mistral-large-latest", "MISTRAL", "/v1"),
]


def run(url, name, variable, path, *arguments):
    """The verb, with an address and a key in its environment."""
    env = {f"{variable}_BASE_URL": url + path, f"{variable}_API_KEY": "a-key"}
    asked = ["run", "--model", name, "--store", ":memory:", *arguments]
    return CliRunner().invoke(cli, asked, env=env)


@pytest.mark.parametrize(("name", "variable", "path"), PROVIDERS)
def test_a_provider_is_asked_and_its_calls_are_run(name, variable, path):
    steps = [says(call("calculator", expression="6 * 7")), "I have it."]
    simulator = Simulator(name.partition(":")[0], model=ScriptedModel(steps))
    with serve(simulator) as server:
        done = run(server.url, name, variable, path, "What is 6 times 7?")
    assert done.exit_code == 0, done.output
    assert done.stdout.strip() == "I have it."
    assert [one.status for one in simulator.seen] == [200, 200]
    assert "42" in str(simulator.seen[1].body)


def test_a_key_that_is_refused_is_told_without_showing_it():
    simulator = Simulator("openai", keys=["another"])
    with serve(simulator) as server:
        done = run(server.url, *PROVIDERS[0], "Hello?")
    assert done.exit_code == 1
    assert done.output.count("401") == 1  # once is enough
    assert done.output.rstrip().endswith("ended: failed")
    assert "a-key" not in done.output


def test_a_provider_is_not_asked_without_a_model():
    done = run("http://127.0.0.1:9", "openai", "OPENAI", "/v1", "Hello?")
    assert done.exit_code == 1
    assert done.output == "canonicall: error: openai: no model is named. Name one: openai:MODEL.\n"


def test_without_a_key_the_simulated_model_answers_and_says_so():
    env = {"OPENAI_API_KEY": "", "OPENAI_BASE_URL": ""}
    asked = ["run", "--model", "openai:gpt-5.2", "--store", ":memory:", "Hello?"]
    done = CliRunner().invoke(cli, asked, env=env)
    assert done.exit_code == 0
    assert "OPENAI_API_KEY" in done.stderr
    assert "simulated" in done.stderr
