"""Text of others cannot steer the terminal, and a terminal without its letters still shows it."""

import json

import pytest
from click.testing import CliRunner

from canonicall.cli.verbs import cli
from canonicall.cli.visible import in_one_line, visible

STEERING = "\x1b[2J\x07\r\x9b\u202e"
SHOWN = "\\x1b[2J\\x07\\x0d\\x9b\\u202e"


def test_what_would_steer_is_written_out():
    assert visible(f"a{STEERING}\n\tb") == f"a{SHOWN}\n\tb"
    assert in_one_line("a\nb\tc") == "a\\x0ab\\x09c"
    assert visible("Zoë 日本 👍") == "Zoë 日本 👍"


def run(*arguments, piped):
    return CliRunner().invoke(cli, arguments, input=piped).output


@pytest.mark.parametrize("target", ["openai", "gemini", "all"])
def test_an_id_in_a_transcript_does_not(target):
    messages = [{"role": "tool", "tool_call_id": STEERING, "content": "x"}]
    shown = run("check", "-", "--as", target, piped=json.dumps({"messages": messages, "n": 1}))
    assert not set(STEERING) - set("[2J") & set(shown)


def test_a_model_s_text_does_not():
    call = json.dumps({"name": STEERING, "arguments": {"a": STEERING}})
    shown = run("parse", piped=f"{STEERING} <tool_call>{call}</tool_call>")
    assert not set(STEERING) - set("[2J") & set(shown)
    assert SHOWN in shown


def test_an_error_stays_one_line():
    shown = run("check", "-", "--as", "openai", piped=json.dumps({f"a\nb{STEERING}": 1}))
    assert shown.count("\n") == 1
    assert "\x1b" not in shown


def test_letters_that_a_terminal_lacks_are_no_error(canonicall, tmp_path):
    file = tmp_path / "reply.txt"
    file.write_text("Grüße 日本", encoding="utf-8")
    done = canonicall("parse", str(file), env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert "Gr\\xfc\\xdfe \\u65e5\\u672c" in done.stdout
