"""`canonicall run`: one prompt as a process, its answer, its exit code, and what is left of it."""

import json
import os
import signal
import subprocess
import sys

import msgspec
import pytest
from click.testing import CliRunner

from canonicall.cli.verbs import cli
from canonicall.persisted import dump
from canonicall.runtime.events import AgentEvent, fold_events
from cli.talks import calls, outcomes, refused_by, write_script, write_tools
from cli.terminal import CTRL_C, ENTER, Terminal


@pytest.fixture
def run(tmp_path):
    """Runs the verb with a script and the tools of the tests; `--session s` where none is named."""

    def start(*arguments, script=(), input=""):
        given = list(arguments)
        if script:
            given += ["--script", write_script(tmp_path, *script)]
        if "--tools" not in given:
            given += ["--tools", write_tools(tmp_path)]
        if not {"--session", "--resume"} & set(given):
            given += ["--session", "s"]
        runner = CliRunner(env={"XDG_DATA_HOME": str(tmp_path), "MISTRAL_API_KEY": None})
        return runner.invoke(cli, ["run", *given], input=input)

    return start


def test_the_answer_is_all_there_is_on_standard_output(run, history):
    script = [{"text": "Let me see.", **calls("weather", city="Rome")}, "Sunny."]
    done = run("How", "is", "Rome?", script=script)
    assert (done.exit_code, done.stdout) == (0, "Sunny.\n")
    told = done.stderr.splitlines()
    assert "Let me see." in told
    assert '  [weather] {"city":"Rome"}' in told
    assert "  [weather] done: sunny in Rome" in told
    assert next(history().messages).text == "How is Rome?"


@pytest.mark.parametrize("arguments", [[], ["-"]])
def test_the_prompt_comes_from_standard_input(run, history, arguments):
    done = run(*arguments, script=["Yes."], input="Are you\nthere?\n")
    assert (done.exit_code, done.stdout) == (0, "Yes.\n")
    assert next(history().messages).text == "Are you\nthere?"


@pytest.mark.parametrize("options", [(), ("--model", "sim")])
def test_a_simulated_model_answers_where_none_is_named_and_that_is_said(run, options):
    done = run("How is the weather in Rome?", *options)
    assert "a small simulated model answers, offline." in done.stderr
    assert "weather says sunny in Rome" in done.stdout


def test_a_model_that_cannot_be_asked_is_an_error_and_nothing_is_stored(run, tmp_path):
    done = run("How is the weather in Rome?", "--model", "mistral:large")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == (
        "canonicall: error: mistral: there is no key. Set the variable MISTRAL_API_KEY."
        " Or take the simulated model: --model sim.\n"
    )
    listed = CliRunner(env={"XDG_DATA_HOME": str(tmp_path)}).invoke(cli, ["sessions", "--json"])
    assert json.loads(listed.stdout) == []


def test_instructions_and_tools_can_be_chosen(run, history):
    done = run("How is the weather?", "--tools", "none", "--system", "Be brief.")
    assert "I have no tools here." in done.stdout
    assert [one.role for one in history().messages] == ["system", "user", "assistant"]


@pytest.mark.parametrize(
    ("option", "code", "ends"),
    [("--yes", 0, "completed"), ("--deny", 3, "denied"), (None, 3, "denied")],
)
def test_approval_is_given_refused_or_nobody_is_there(run, history, option, code, ends):
    done = run("Pay.", *([option] if option else []), script=[calls("pay", amount=3), "Well."])
    assert (done.exit_code, done.stdout) == (code, "Well.\n")
    assert ("are denied; --yes allows them" in done.stderr) is (ends == "denied")
    assert outcomes(history()) == [("pay", ends)]
    assert refused_by(history()) == []


def test_a_limit_ends_with_3_and_an_answer(run, history):
    script = [calls("weather", city="Rome"), calls("weather", city="Bern"), "As far as I know."]
    done = run("Go.", "--limit-turns", "2", script=script)
    assert (done.exit_code, done.stdout) == (3, "As far as I know.\n")
    assert "ended: limit (turns reached 2)" in done.stderr
    assert refused_by(history()) == []


def test_a_loop_ends_with_3(run):
    done = run("Go.", script=[*[calls("weather", city="Rome")] * 3, "I turn in circles."])
    assert done.exit_code == 3
    assert "ended: loop" in done.stderr


def test_an_error_ends_with_1_and_the_history_stays(run, history):
    done = run("Go.", script=[calls("weather", city="Rome")])
    assert (done.exit_code, done.stdout) == (1, "")
    assert "error: the script has 1 replies" in done.stderr
    assert outcomes(history()) == [("weather", "completed")]
    assert refused_by(history()) == []


def test_a_program_gets_every_event_and_can_fold_them(run, history):
    script = [{"text": "So.", **calls("weather", city="Rome")}, "Sunny."]
    done = run("Go.", "--json", "--stats", script=script)
    lines = done.stdout.splitlines()
    *events, stats = lines
    heard = [msgspec.json.decode(line, type=AgentEvent) for line in events]
    assert (heard[0].kind, heard[0].detail) == ("session", "s")
    assert dump(fold_events(heard)) == dump(history())
    assert json.loads(stats)["stats"]["tools"]["weather"]["outcomes"] == {"completed": 1}


def test_sessions_go_on(run, history):
    run("One?", "--session", "a", "--model", "mistral", script=["One."])
    run("Two?", "--session", "b", script=["Two."])
    run("Three?", "--session", "a", script=["Three."])
    done = run("Four?", "--resume", "--json", script=["Four."])
    assert '"detail":"mistral"' in done.stdout
    assert [one.text for one in history("a").messages] == [
        *("One?", "One.", "Three?", "Three.", "Four?", "Four.")
    ]
    assert len(history("b")) == 2


def test_nothing_is_kept_in_memory_only(run, tmp_path):
    assert run("Hello?", "--store", ":memory:", script=["Hello."]).exit_code == 0
    assert not (tmp_path / "canonicall").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--resume", "Go."], 1, "no session is stored yet"),
        (["--session", "a", "--resume", "Go."], 2, "--resume takes the last one"),
        (["--yes", "--deny", "Go."], 2, "contradict each other"),
        (["--model", "mistrl", "Go."], 2, "Did you mean 'mistral'?"),
        (["--limit-turns", "0", "Go."], 2, "x>=1"),
        (["--tools", "gone.py", "Go."], 1, "gone.py: there is no such file"),
        (["--store", "pyproject.toml", "Go."], 1, "file is not a database"),
        ([" "], 2, "The prompt is empty"),
        ([], 2, "The prompt is empty"),
    ],
)
def test_what_cannot_be_done_is_told_in_one_line(run, arguments, code, words):
    done = run(*arguments)
    assert (done.exit_code, done.stdout) == (code, "")
    assert words in done.stderr.splitlines()[-1]


def test_ctrl_c_ends_with_130_and_leaves_a_valid_history(tmp_path, history):
    """A real SIGINT while a tool runs."""
    arguments = ["--session", "s", "--tools", write_tools(tmp_path), "--script"]
    script = write_script(tmp_path, calls("slow"), "Never said.")
    process = subprocess.Popen(
        [sys.executable, "-m", "canonicall.cli.entry", "run", "Go.", *arguments, script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "XDG_DATA_HOME": str(tmp_path)},
    )
    with process:
        while "[slow] at work" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        assert process.stdout.read() == ""
    assert outcomes(history()) == [("slow", "completed")]
    assert refused_by(history()) == []


@pytest.mark.parametrize(
    ("keys", "code", "ends"), [("y" + ENTER, 0, "completed"), (CTRL_C, 130, "not_run")]
)
def test_in_a_terminal_a_person_is_asked(tmp_path, history, keys, code, ends):
    script = write_script(tmp_path, calls("pay", amount=3), "Well.")
    arguments = ["Pay.", "--session", "s", "--tools", write_tools(tmp_path), "--script", script]
    one = Terminal("run", *arguments, env={"TERM": "xterm", "XDG_DATA_HOME": str(tmp_path)})
    try:
        one.wait_for("[e]dit: ")
        one.type(keys)
        assert one.end()[0] == code
    finally:
        one.close()
    assert outcomes(history()) == [("pay", ends)]
    assert refused_by(history()) == []


def test_when_nobody_reads_the_answer_the_history_is_kept(canonicall, tmp_path, history):
    reader, writer = os.pipe()
    os.close(reader)
    arguments = ["--session", "s", "--script", write_script(tmp_path, "Hello."), "Hello?"]
    env = {"XDG_DATA_HOME": str(tmp_path)}
    done = canonicall("run", *arguments, env=env, stdout=writer, stdin=subprocess.DEVNULL)
    os.close(writer)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert [one.text for one in history().messages] == ["Hello?", "Hello."]
