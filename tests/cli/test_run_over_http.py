"""`canonicall run` with providers behind real connections: simulated ones on this machine."""

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

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


def test_without_a_key_nobody_is_asked_and_that_is_an_error():
    env = {"OPENAI_API_KEY": "", "OPENAI_BASE_URL": ""}
    asked = ["run", "--model", "openai:gpt-5.2", "--store", ":memory:", "Hello?"]
    done = CliRunner().invoke(cli, asked, env=env)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "openai: there is no key. Set the variable OPENAI_API_KEY." in done.stderr


class Keyless(Simulator):
    """A server of one's own: it is asked without a key."""

    def answer(self, request):
        assert "authorization" not in request.headers
        headers = {**request.headers, "authorization": "Bearer any"}
        return super().answer(replace(request, headers=headers))


def served(simulator, *options, model="generic:my-model", env=None):
    """The verb with a server on this machine; the address of the server."""
    with serve(simulator) as server:
        place = ["--base-url", f"{server.url}/v1", "--store", ":memory:"]
        done = CliRunner().invoke(
            cli, ["run", "--model", model, *place, *options, "Hello?"], env=env
        )
    return done, server.url


@pytest.mark.parametrize("model", ["generic:my-model", "openai:gpt-5.2"])
def test_a_server_on_this_machine_is_asked_without_a_key(monkeypatch, model):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    simulator = Keyless("vllm", model=ScriptedModel(["I am here."]))
    done, url = served(simulator, model=model)
    assert (done.exit_code, done.stdout) == (0, "I am here.\n"), done.output
    assert f"answers, at {url}/v1." in done.stderr
    assert [one.status for one in simulator.seen] == [200]
    assert simulator.seen[0].body["model"] == model.partition(":")[2]


def test_the_key_of_a_server_is_named_by_its_variable():
    simulator = Simulator("vllm", model=ScriptedModel(["I am here."]), keys=["a-key"])
    done, _ = served(simulator, "--key-env", "MY_KEY", env={"MY_KEY": "a-key"})
    assert (done.exit_code, done.stdout) == (0, "I am here.\n"), done.output
    assert [one.status for one in simulator.seen] == [200]
    assert "a-key" not in done.output


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--base-url", "127.0.0.1:80", "--model", "generic:m"], "write the whole address"),
        (["--base-url", "http://", "--model", "generic:m"], "write the whole address"),
        (["--base-url", "http://127.0.0.1:9/v1"], "--base-url needs --model"),
        (["--key-env", "MY_KEY"], "--key-env needs --model"),
        (["--key-env", "NO_SUCH", "--model", "generic:m"], "the variable NO_SUCH is not set"),
    ],
)
@pytest.mark.parametrize("verb", ["run", "chat"])
def test_an_address_that_is_none_is_refused(verb, options, words):
    prompt = ["Hello?"] if verb == "run" else []
    done = CliRunner().invoke(cli, [verb, "--store", ":memory:", *options, *prompt])
    assert (done.exit_code, done.stdout) == (2, "")
    assert words in done.stderr
