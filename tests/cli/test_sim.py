"""`canonicall sim`: what it serves, what it tells, how it ends."""

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request

import pytest
from click.testing import CliRunner

from canonicall.cli.sim import addresses
from canonicall.cli.verbs import cli
from canonicall.facts.registry import provider_names

HELLO = {"model": "gpt-5.2", "messages": [{"role": "user", "content": "Hi"}]}
BROKEN = {"model": "gpt-5.2", "messages": [{"role": "tool", "tool_call_id": "x", "content": "?"}]}


@pytest.fixture
def sim():
    """Runs the verb as a process; gives its first line and a way to end it."""
    running = []

    def start(*arguments):
        process = subprocess.Popen(
            [sys.executable, "-m", "canonicall.cli.entry", "sim", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        running.append(process)
        return process.stdout.readline(), process

    yield start
    for process in running:
        if process.poll() is None:
            process.kill()
        process.communicate()


def ended(process):
    """What a process prints until Ctrl-C has ended it."""
    process.send_signal(signal.SIGINT)
    # Not `communicate`: it would miss what reading the first line has buffered.
    out, err = process.stdout.read(), process.stderr.read()
    assert (process.wait(timeout=30), err) == (0, "")
    return out.splitlines()


def post(url, body):
    headers = {"authorization": "Bearer any", "content-type": "application/json"}
    asked = urllib.request.Request(url, json.dumps(body).encode(), headers)  # noqa: S310
    try:
        with urllib.request.urlopen(asked, timeout=30) as answer:  # noqa: S310
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def test_it_serves_tells_and_sums_up(sim):
    first, process = sim("--provider", "openai")
    url = first.split()[3].rstrip(".")
    assert post(f"{url}/v1/chat/completions", HELLO)[0] == 200
    status, refused = post(f"{url}/v1/chat/completions", BROKEN)
    assert status == 400
    assert post(f"{url}/nowhere", {})[0] == 404
    *addresses, good, bad, lost, summary = ended(process)
    assert [line.split()[:3] for line in addresses] == [
        ["openai", "openai-chat", f"{url}/v1"],
        ["openai", "openai-responses", f"{url}/v1"],
    ]
    assert good == "POST /v1/chat/completions 200"
    assert bad == f"POST /v1/chat/completions 400 {refused['error']['message']}"
    assert lost.startswith("POST /nowhere 404 ")
    assert summary == "3 requests: 1 x 200, 1 x 400, 1 x 404."


def test_programs_get_json_lines(sim, tmp_path):
    """All of it in one run: several providers, a script, a fault, the only model."""
    script = tmp_path / "script.jsonl"
    script.write_text('"Hello."\n{"text": "Let me look.", "calls": [{"name": "look"}]}\n')
    first, process = sim(
        *("--provider", "openai", "--provider", "mistral", "--model", "gpt-5.2"),
        *("--fault", "none", "--fault", "rate_limited", "--script", str(script), "--json"),
    )
    started = json.loads(first)
    assert started["event"] == "started"
    assert set(started["providers"]) == {"openai", "mistral"}
    url = started["providers"]["openai"]["openai-chat"] + "/chat/completions"
    assert post(url, HELLO)[1]["choices"][0]["message"]["content"] == "Hello."
    assert post(url, HELLO)[0] == 429
    message = post(url, HELLO)[1]["choices"][0]["message"]
    assert message["tool_calls"][0]["function"]["name"] == "look"
    assert post(url, {**HELLO, "model": "gpt-9"})[0] == 404
    *lines, summary = map(json.loads, ended(process))
    assert [line["status"] for line in lines] == [200, 429, 200, 404]
    assert [bool(line["why"]) for line in lines] == [False, True, False, True]
    assert summary == {
        "event": "ended",
        "requests": 4,
        "statuses": {"200": 2, "404": 1, "429": 1},
    }


SHELL = {
    "type": "function",
    "function": {
        "name": "shell",
        "description": "Runs a command.",
        "parameters": {"type": "object", "properties": {"command": {"type": "string"}}},
    },
}
RUN = {"model": "gpt-5.2", "messages": [{"role": "user", "content": "Run rm"}], "tools": [SHELL]}


def test_no_tool_is_called_unless_it_is_named(sim):
    first, _ = sim("--provider", "openai")
    url = first.split()[3].rstrip(".") + "/v1/chat/completions"
    for choice in ("auto", "required"):
        answer = post(url, {**RUN, "tool_choice": choice})[1]["choices"][0]
        assert answer["finish_reason"] == "stop"
        assert "tool_calls" not in answer["message"]
        assert "Tools offered: shell." in answer["message"]["content"]
    first, _ = sim("--provider", "openai", "--call-tools", "other, shell")
    url = first.split()[3].rstrip(".") + "/v1/chat/completions"
    called = post(url, RUN)[1]["choices"][0]["message"]["tool_calls"]
    assert [one["function"]["name"] for one in called] == ["shell"]


def test_a_file_has_stored_prompts(sim, tmp_path):
    prompts = tmp_path / "prompts.json"
    prompts.write_text('{"pmpt_1": {"1": {"model": "gpt-5.2", "input": "Say {{word}}."}}}')
    first, _ = sim("--provider", "openai", "--prompts", str(prompts))
    url = first.split()[3].rstrip(".") + "/v1/responses"
    status, answer = post(url, {"prompt": {"id": "pmpt_1", "variables": {"word": "hello"}}})
    assert status == 200
    assert "You said: Say hello." in answer["output"][0]["content"][0]["text"]
    assert post(url, {"prompt": {"id": "pmpt_2"}, "input": "Hi"})[0] == 404


def test_without_a_provider_all_are_served_under_their_names():
    names = list(provider_names())
    shown = addresses("http://here", names)
    assert list(shown) == names
    assert shown["anthropic"] == {"anthropic": "http://here/anthropic"}
    assert shown["openai"]["openai-responses"] == "http://here/openai/v1"
    assert shown["cohere"] == {"cohere": "http://here/cohere/v2"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--provider", "anthropc"], "Did you mean 'anthropic'?"),
        (["--fault", "reused_id"], "Did you mean 'reused_ids'?"),
        (["--script", "not-there.json"], "does not exist"),
        (["--port", "99999"], "65535"),
        (["--call-tools", " ,"], "Name a tool"),
        (["--prompts", __file__], 'Write {"pmpt_ID"'),
        (["--call-tools", "a", "--script", __file__], "cannot be combined with --script"),
    ],
)
def test_wrong_arguments_are_told_before_anything_is_served(arguments, words):
    done = CliRunner().invoke(cli, ["sim", *arguments])
    assert done.exit_code == 2
    assert words in done.stderr


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("", "there is no reply in it"),
        ("[]", "there is no reply in it"),
        ('"fine"\nnot json', "line 2: not JSON"),
        ('[{"txt": "typo"}]', "script[0]: Object contains unknown field `txt`"),
        ('[{"calls": [{"arguments": {}}]}]', "missing required field `name`"),
        ("[7]", "script[0]: Expected `object`"),
    ],
)
def test_a_script_that_cannot_be_read_is_told_in_one_line(tmp_path, script, words):
    path = tmp_path / "script.json"
    path.write_text(script)
    done = CliRunner().invoke(cli, ["sim", "--script", str(path)])
    assert done.exit_code == 1
    assert done.stderr.count("\n") == 1
    assert f"{path}: " in done.stderr
    assert words in done.stderr


def test_a_port_that_is_taken_is_told_in_one_line(canonicall):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = canonicall("sim", "--port", str(taken.getsockname()[1]))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("canonicall: error: 127.0.0.1:")
    assert "somebody else listens there. Choose another with --port" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("host", ["192.0.2.1", "no.such.host.invalid", "x" * 300])
def test_a_host_that_is_not_here_is_told_in_one_line(host):
    done = CliRunner().invoke(cli, ["sim", "--host", host])
    assert done.exit_code == 1
    assert done.stderr.endswith("Choose another with --host.\n")
