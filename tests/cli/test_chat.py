"""`canonicall chat` in a real terminal, and through a pipe."""

import json

import pytest

from cli.talks import calls, outcomes, refused_by, write_script, write_tools
from cli.terminal import ALT_ENTER, CTRL_C, CTRL_D, ENTER


def texts(conversation):
    return [(message.role, message.text) for message in conversation.messages if message.text]


def test_a_talk_with_a_tool_is_shown_and_stored(chat, history):
    one = chat({"text": "Let me see.", **calls("weather", city="Rome")}, "Sunny, then.")
    one.answer("How is Rome?")
    shown = one.answer("/quit")
    assert 'Let me see.\n  [weather] {"city":"Rome"}\n  [weather] done: sunny in Rome\n' in shown
    assert shown.index("[weather] done") < shown.index("Sunny, then.")
    assert one.end()[0] == 0
    assert texts(history()) == [
        ("user", "How is Rome?"),
        ("assistant", "Let me see."),
        ("assistant", "Sunny, then."),
    ]
    assert refused_by(history()) == []


def test_without_a_key_a_simulated_model_answers_and_that_is_said(chat, history):
    one = chat()
    assert "a small simulated model answers, offline" in one.answer("How is the weather in Rome?")
    assert "weather says sunny in Rome" in one.answer("/quit")


def test_a_model_that_cannot_be_asked_is_an_error_at_once(chat, monkeypatch):
    monkeypatch.delenv("MISTRAL_API_KEY", raising=False)
    code, shown = chat(options=["--model", "mistral:large"]).end()
    assert code == 1
    assert "mistral: there is no key. Set the variable MISTRAL_API_KEY." in " ".join(shown.split())


def test_another_model_that_cannot_be_asked_changes_nothing(chat, monkeypatch):
    monkeypatch.delenv("MISTRAL_API_KEY", raising=False)
    one = chat()
    one.answer("/model mistral:large")
    assert "there is no key" in " ".join(one.answer("/model").split())
    assert "generic:simulated is asked." in one.answer("/model sim")
    assert "generic:simulated is asked." in one.answer("/quit")


def test_words_come_as_they_are_said_and_ctrl_c_stops_them(chat, history):
    """The last of the words would come half a minute later."""
    words = " ".join(f"word{number}" for number in range(300))
    one = chat(words, "I am still here.", options=["--pause", "0.1"])
    one.answer("Talk.")
    one.wait_for("word2")
    one.type(CTRL_C)
    shown = one.answer("Are you there?")
    assert "ended: cancelled" in shown
    assert "word299" not in shown
    one.wait_for("here.")
    one.prompt()
    one.type(CTRL_D)
    assert one.end()[0] == 0
    talk, cut, again, last = texts(history())
    assert (talk, again) == (("user", "Talk."), ("user", "Are you there?"))
    assert last == ("assistant", "I am still here.")
    # What was read before Ctrl-C is part of the talk.
    assert cut[0] == "assistant"
    assert words.startswith(cut[1])
    assert "word2" in cut[1]
    assert refused_by(history()) == []


def test_ctrl_c_while_a_tool_runs_leaves_a_valid_history(chat, history):
    """The turn ends, the talk goes on, and every provider takes what is left of it."""
    one = chat({"text": "I begin.", **calls("slow")}, "Fine.")
    one.answer("Work.")
    one.wait_for("[slow] at work")
    one.type(CTRL_C)
    assert "ended: cancelled" in one.answer("And now?")
    one.wait_for("Fine.")
    one.prompt()
    one.type(CTRL_D)
    assert one.end()[0] == 0
    assert outcomes(history()) == [("slow", "completed")]
    assert [text for _, text in texts(history())] == ["Work.", "I begin.", "And now?", "Fine."]
    assert refused_by(history()) == []


def test_ctrl_c_at_the_prompt_leaves_at_the_second_time(chat):
    one = chat("Hello.")
    one.prompt()
    one.type("half a line" + CTRL_C)
    assert "once more" in one.answer("Hello?")
    one.prompt()
    one.type(CTRL_C)
    assert "once more" in one.prompt()
    one.type(CTRL_C)
    assert one.end()[0] == 130


def test_ctrl_c_at_an_approval_cancels_what_runs_beside_it(chat, history):
    """Then Ctrl-C at the prompt is the second one, and ends the talk."""
    one = chat({"calls": [{"name": "slow"}, {"name": "pay", "arguments": {"amount": 3}}]}, "Never.")
    one.answer("Work.")
    assert 'pay {"amount":3} needs your approval' in one.prompt()
    one.type(CTRL_C)
    assert "ended: cancelled" in one.prompt()
    one.type(CTRL_C)
    assert one.end()[0] == 130
    assert outcomes(history())[1] == ("pay", "not_run")
    assert refused_by(history()) == []


def test_the_model_changes_in_the_middle_of_the_talk(chat, history, tmp_path):
    """The provider is another one, the conversation is the same."""
    one = chat(calls("weather", city="Rome"), "Sunny.", calls("weather", city="Bern"), "Sunny too.")
    one.answer("Rome?")
    one.answer("/model anthropic:claude-sonnet-4-5")
    assert "anthropic:claude-sonnet-4-5 is asked." in one.answer("Bern?")
    one.answer("/stats")
    rows = [line.split()[:2] for line in one.answer("/quit").splitlines()]
    assert ["generic", "2"] in rows
    assert ["anthropic", "2"] in rows
    assert one.end()[0] == 0
    assert outcomes(history()) == [("weather", "completed")] * 2
    assert refused_by(history()) == []


def test_a_model_that_does_not_exist_changes_nothing(chat):
    one = chat("Hello.")
    one.answer("/model anthropc")
    assert "Did you mean 'anthropic'?" in one.answer("/model")
    assert "generic:simulated is asked." in one.answer("/quit")


def test_several_lines_are_one_message(chat, history):
    one = chat("Seen.")
    one.prompt()
    one.type("first\\" + ENTER + "second" + ALT_ENTER + "third" + ENTER)
    one.answer("/quit")
    assert one.end()[0] == 0
    assert texts(history())[0] == ("user", "first\nsecond\nthird")


def test_a_fork_goes_on_alone_and_a_session_comes_back(chat, history):
    one = chat("One.", "Two.", "Three.")
    one.answer("First.")
    one.answer("/fork")
    forked = one.answer("In the fork.").split(" goes on from s.")[0].split()[-1]
    one.answer("/resume s")
    assert "2 entries of s are there again." in one.answer("In the first.")
    one.answer("/sessions")
    listed = one.answer("/quit")
    assert "* s  generic:simulated  First." in listed
    assert f"  {forked}  generic:simulated  First." in listed
    assert one.end()[0] == 0
    assert [text for _, text in texts(history(forked))] == [
        "First.",
        "One.",
        "In the fork.",
        "Two.",
    ]
    assert [text for _, text in texts(history())] == ["First.", "One.", "In the first.", "Three."]


def test_what_a_model_writes_cannot_steer_the_terminal(chat):
    one = chat("red \x1b[31malert\x07")
    one.answer("Go.")
    assert "red \\x1b[31malert\\x07" in one.answer("/quit")


def test_commands_are_listed_and_guessed(chat):
    one = chat("Hello.")
    one.answer("/help")
    one.answer("/tols")
    shown = one.answer("/tools")
    assert "Did you mean /tools?" in shown
    assert "pay (needs approval): Pays." in one.answer("/quit")


@pytest.fixture
def piped(canonicall, tmp_path):
    """Sends lines to a chat that has no terminal."""

    def run(lines, *replies, options=()):
        arguments = ["--tools", write_tools(tmp_path), "--session", "s", *options]
        if replies:
            arguments += ["--script", write_script(tmp_path, *replies)]
        env = {"XDG_DATA_HOME": str(tmp_path)}
        return canonicall("chat", *arguments, input="\n".join(lines), env=env)

    return run


def test_from_a_pipe_every_line_is_a_message(piped, history):
    done = piped(["Hello?", "", "A long\\", "question?"], "Hello.", "An answer.")
    assert (done.returncode, done.stdout) == (0, "Hello.\nAn answer.\n")
    assert texts(history())[2] == ("user", "A long\nquestion?")


def test_behind_a_space_a_slash_is_only_a_slash(piped, history):
    done = piped([" /quit is what I say"], "I heard.")
    assert done.stdout == "I heard.\n"
    assert texts(history())[0] == ("user", "/quit is what I say")


def test_from_a_pipe_nobody_is_asked(piped, history):
    """Calls that need approval are denied, and that is said before."""
    done = piped(["Pay."], calls("pay", amount=3), "I could not.")
    assert "Calls that need approval are denied; --yes allows them." in done.stderr
    assert outcomes(history()) == [("pay", "denied")]
    assert refused_by(history()) == []


def test_a_program_gets_json_lines_and_nothing_else(piped):
    done = piped(["Hello?", "/stats"], "Hello.", options=["--json"])
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["type"] for line in lines][-2:] == ["complete", "stats"]
    assert lines[-1]["stats"]["providers"]["generic"]["turns"] == 1


def test_a_script_that_ends_is_told_and_the_talk_goes_on(piped):
    done = piped(["One?", "Two?", "/tools"], "One.")
    assert (done.returncode, done.stdout) == (0, "One.\n")
    assert "error: the script has 1 replies" in done.stderr
    assert "weather: The weather of a city." in done.stderr


def test_prompt_toolkit_is_loaded_for_a_terminal_only(python, tmp_path):
    program = """
import sys
from canonicall.cli.entry import main
try:
    main()
finally:
    print("prompt_toolkit" in sys.modules)
"""
    done = python(program, "chat", "--store", ":memory:", stdin=None, input="Hello.\n")
    assert done.stdout.splitlines()[-1] == "False"
