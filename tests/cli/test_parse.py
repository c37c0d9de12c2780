"""`canonicall parse`: calls in text, with and without tools, and in bodies of providers."""

import json

import pytest
from click.testing import CliRunner

from canonicall import Message, Reply, Text, ToolCall, encode_response, syntax_names
from canonicall import parse as parse_text
from canonicall.cli.verbs import cli
from canonicall.facts.target import FORMATS

HERMES = 'One moment.\n<tool_call>\n{"name": "search", "arguments": {"q": "tea"}}\n</tool_call>'
BARE = '{"name": "search", "arguments": {"q": "tea"}}'
TOOL = {"name": "search", "parameters": {"type": "object"}}


@pytest.fixture
def parse(tmp_path, monkeypatch):
    """Runs `parse` in a folder with files of these names and contents."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments, piped="", **files):
        for name, content in files.items():
            (tmp_path / name).write_text(content)
        return CliRunner().invoke(cli, ["parse", *arguments], input=piped)

    return run


def test_calls_are_shown_with_their_arguments(parse):
    done = parse("reply", reply=HERMES)
    assert done.exit_code == 0
    assert "1 call, hermes (recognised by its markers)" in done.stdout
    row = next(line for line in done.stdout.splitlines() if "search" in line)
    assert '{"q":"tea"}' in row
    assert "One moment." in done.stdout


@pytest.mark.parametrize("arguments", [[], ["-"]])
def test_json_holds_what_the_library_reads(parse, arguments):
    told = json.loads(parse(*arguments, "--json", piped=HERMES).stdout)
    parsed = parse_text(HERMES)
    assert told["syntax"] == parsed.syntax
    assert told["text"] == parsed.text
    (call,) = told["calls"]
    assert (call["name"], call["arguments"]) == ("search", {"q": "tea"})


@pytest.mark.parametrize(
    "tools",
    [
        [TOOL],
        [{"type": "function", "function": TOOL}],
        {"tools": [TOOL]},
        {"messages": [], "tools": [{"type": "function", "function": TOOL}]},
        {"contents": [], "tools": [{"functionDeclarations": [TOOL]}]},
    ],
)
def test_bare_json_is_a_call_only_of_a_tool_that_was_offered(parse, tools):
    assert json.loads(parse("--json", piped=BARE).stdout)["calls"] == []
    told = json.loads(
        parse("--json", "--tools", "tools", piped=BARE, tools=json.dumps(tools)).stdout
    )
    assert [call["name"] for call in told["calls"]] == ["search"]


@pytest.mark.parametrize("format", FORMATS)
def test_the_calls_of_every_providers_reply_are_read(parse, format):
    call = ToolCall(id="call_1", name="search", args={"q": "tea"})
    reply = Reply(Message("assistant", (Text(text="One moment."), call), finish="tool_calls"))
    body = json.dumps(encode_response(reply, format))
    told = json.loads(parse("reply", "--json", reply=body).stdout)
    assert (told["format"], told["syntax"], told["text"]) == (format, None, "One moment.")
    assert [(one["name"], one["arguments"]) for one in told["calls"]] == [("search", {"q": "tea"})]
    shown = parse("reply").stdout
    assert shown.startswith(f"1 call, {format}\n")


def test_calls_in_the_text_of_a_body_are_found_where_tools_are_named(parse):
    body = json.dumps({"choices": [{"message": {"role": "assistant", "content": HERMES}}]})
    assert json.loads(parse("--json", piped=body).stdout)["calls"] == []
    told = parse("--json", "--tools", "tools", piped=body, tools=json.dumps([TOOL]))
    (call,) = json.loads(told.stdout)["calls"]
    assert (call["name"], call["arguments"]) == ("search", {"q": "tea"})


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"messages": [{"role": "user", "content": "Hi"}]}, "this is a request (openai-chat)"),
        ({"contents": []}, "this is a request (gemini)"),
        ({"error": {"message": "No key."}}, "this is the body of an error (No key.)"),
        ({"choices": [{"message": {"tool_calls": 7}}]}, "$.choices[0].message.tool_calls"),
    ],
)
def test_a_body_without_a_reply_is_refused_by_what_it_is(parse, body, said):
    done = parse("reply", reply=json.dumps(body))
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith(f"canonicall: error: reply: {said}")
    # Where a syntax is named, it is text.
    assert parse("--syntax", "hermes", piped=json.dumps(body)).exit_code == 0


def test_json_that_a_model_printed_stays_text(parse):
    for printed in ('{"answer": 42}', '{"input": "tea"}', "[1, 2]", "7"):
        told = json.loads(parse("--json", piped=printed).stdout)
        assert (told["format"], told["text"]) == (None, printed)


def test_text_without_calls_and_no_text_at_all_are_fine(parse):
    for piped in ("Just words.", ""):
        done = parse(piped=piped)
        assert done.exit_code == 0
        assert done.stdout.startswith("No calls")
        assert json.loads(parse("--json", piped=piped).stdout)["calls"] == []


def test_a_call_that_cannot_be_read_is_found(parse):
    done = parse("--syntax", "hermes", piped="<tool_call>\n{oops\n</tool_call>")
    assert done.exit_code == 3
    assert "call_unreadable" in done.stdout


@pytest.mark.parametrize(
    ("printed", "said", "is_truncated"),
    [
        (HERMES.partition('ea"')[0], "search: the text ends inside of the call", True),
        (HERMES.replace('"tea"', "}{"), "search: its arguments cannot be read", False),
    ],
)
def test_why_a_call_must_not_be_run_is_told(parse, printed, said, is_truncated):
    done = parse(piped=printed)
    assert done.exit_code == 3
    assert said in done.stdout
    (call,) = json.loads(parse("--json", piped=printed).stdout)["calls"]
    assert call["truncated"] is is_truncated


def test_bytes_that_are_no_text_do_not_stop_it(parse):
    assert parse(piped=b"\xff\xfe" + HERMES.encode()).exit_code == 0


def test_the_list_names_every_syntax(parse):
    told = json.loads(parse("--list", "--json").stdout)
    assert [one["name"] for one in told] == list(syntax_names())
    shown = parse("--list").stdout
    assert all(f"  {name} " in shown for name in syntax_names())


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--syntax", "hermse"], 2, "Did you mean 'hermes'?"),
        (["gone"], 2, "does not exist"),
        (["-", "--tools", "-"], 2, "cannot both be standard input"),
        (["--tools", "words"], 1, "words: this is not JSON"),
        (["--tools", "number"], 1, "number: no tools are in it"),
        (["--tools", "numbers"], 1, "numbers: no tools are in it"),
        (["--tools", "body"], 1, "body: $.tools"),
    ],
)
def test_wrong_input_is_told(parse, arguments, code, said):
    files = {"words": "hello", "number": "7", "numbers": "[7]"}
    done = parse(*arguments, **files, body='{"messages": [], "tools": 7}')
    assert done.exit_code == code
    assert done.stdout == ""
    assert said in done.stderr
