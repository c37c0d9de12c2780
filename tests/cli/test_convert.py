"""`canonicall convert`: what it writes for one document and for many, and what it sets aside."""

import json
import os
import tracemalloc
from pathlib import Path

import pytest
from click.testing import CliRunner

from canonicall import Conversation, dump, encode_request, verify
from canonicall.cli.chunks import CHUNK_LINES, CountedLines, all_done, chunks
from canonicall.cli.converting import Aim
from canonicall.cli.verbs import cli
from canonicall.importing.documents import read_document
from canonicall.importing.pieces import pieces
from cli.transcripts import DAMAGED, PLAIN, SOUND, as_lines


def convert(*arguments, **options):
    return CliRunner().invoke(cli, ["convert", *map(str, arguments)], **options)


def asking(number, text="x"):
    return {"messages": [{"role": "user", "content": f"{number} {text}"}]}


@pytest.fixture
def talk(tmp_path):
    """A file with this content."""

    def write(content, name="talk.jsonl"):
        file = tmp_path / name
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file

    return write


def records(file):
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def left_in(folder):
    return sorted(file.name for file in folder.iterdir())


@pytest.mark.parametrize(
    "target",
    ["openai-chat", "openai-responses", "gemini", "bedrock", "mistral:mistral-large-latest"],
)
def test_one_document_for_a_provider_or_a_format(talk, target):
    done = convert(talk(json.dumps(DAMAGED)), "--to", target)
    assert done.exit_code == 0
    request = read_document(json.dumps(DAMAGED).encode()).request
    plain = {"openai-chat": "openai", "openai-responses": "openai/openai-responses"}
    named = plain.get(target, target)
    assert not verify(json.loads(done.stdout), named)
    if target not in plain:
        assert json.loads(done.stdout) == encode_request(request, named).body
    assert "result_made_up" in done.stderr


def test_what_is_accepted_stays_as_it_is_to_the_byte(talk):
    data = json.dumps(SOUND, indent=3) + "\n"
    assert convert(talk(data), "--to", "anthropic").stdout == data


def test_a_model_that_is_named_is_written_even_where_nothing_else_changes(talk):
    done = convert(talk(json.dumps(SOUND)), "--to", "anthropic:claude-opus-4-6")
    assert json.loads(done.stdout) == {**SOUND, "model": "claude-opus-4-6"}


def test_a_stored_conversation_is_one_document(talk):
    chat = Conversation()
    chat.user("Hi")
    chat.user("there")
    done = convert(talk(dump(chat)), "--to", "gemini")
    assert json.loads(done.stdout)["contents"][0]["parts"] == [{"text": "Hi"}, {"text": "there"}]


def test_lines_stay_lines_in_order(talk, tmp_path):
    many = CHUNK_LINES * 5 + 1
    out = tmp_path / "out.jsonl"
    file = talk(as_lines(*map(asking, range(many))))
    done = convert(file, "--to", "gemini", "-o", out, "--jobs", 2)
    assert done.exit_code == 0
    told = [body["contents"][0]["parts"][0]["text"] for body in records(out)]
    assert told == [f"{number} x" for number in range(many)]
    assert left_in(tmp_path) == ["out.jsonl", "talk.jsonl"]


def test_bad_lines_are_set_aside_with_number_and_reason(talk, tmp_path):
    out = tmp_path / "out.jsonl"
    content = as_lines(PLAIN).encode() + b"\n{broken\n\xff\xfe\n" + as_lines(PLAIN, [1]).encode()
    done = convert(talk(content), "--to", "anthropic", "-o", out)
    assert done.exit_code == 3
    assert len(out.read_text().splitlines()) == 2
    first, second, third = records(tmp_path / "out.jsonl.rejected.jsonl")
    assert (first["line"], first["text"]) == (3, "{broken")
    assert (second["line"], second["base64"]) == (4, "//4K")
    assert (third["line"], third["text"]) == (6, "[1]")
    assert "not JSON" in first["why"]
    assert "line 3: this is not JSON" in done.stderr
    assert "3 lines could not be converted" in done.stderr


def test_without_a_file_every_bad_line_is_told(talk, tmp_path):
    bad = "?\n" * 30
    done = convert(talk(as_lines(PLAIN) + bad + as_lines(PLAIN)), "--to", "anthropic")
    assert done.exit_code == 3
    assert len(done.stdout.splitlines()) == 2
    assert done.stderr.count("line ") == 30
    assert left_in(tmp_path) == ["talk.jsonl"]


def test_with_a_file_only_the_first_bad_lines_are_told(talk, tmp_path):
    done = convert(talk(as_lines(PLAIN) + "?\n" * 30), "--to", "anthropic", "-o", tmp_path / "out")
    assert done.stderr.count("not JSON") == 10
    assert len((tmp_path / "out.rejected.jsonl").read_text().splitlines()) == 30


def test_a_list_of_bad_lines_that_is_named_is_written_even_empty(talk, tmp_path):
    bad = tmp_path / "bad.jsonl"
    convert(talk(as_lines(PLAIN, PLAIN)), "--to", "gemini", "--rejected", bad)
    assert bad.read_bytes() == b""


def test_a_clean_run_takes_the_bad_lines_of_the_run_before_away(talk, tmp_path):
    out = tmp_path / "out"
    convert(talk(as_lines(PLAIN) + "?\n"), "--to", "gemini", "-o", out)
    assert "out.rejected.jsonl" in left_in(tmp_path)
    convert(talk(as_lines(PLAIN, PLAIN)), "--to", "gemini", "-o", out)
    assert left_in(tmp_path) == ["out", "talk.jsonl"]


def test_strict_stops_at_the_first_bad_line_and_writes_no_file(talk, tmp_path):
    file = talk(as_lines(PLAIN) + "?\n" + as_lines(PLAIN))
    done = convert(file, "--to", "anthropic", "-o", tmp_path / "out", "--strict")
    assert done.exit_code == 1
    assert "line 2" in done.stderr
    assert left_in(tmp_path) == ["talk.jsonl"]
    printed = convert(file, "--to", "anthropic", "--strict")
    assert (printed.exit_code, len(printed.stdout.splitlines())) == (1, 1)


@pytest.mark.parametrize("content", ["", "\n\n", "nothing", "[", "{}", '{"role": "user"}'])
def test_what_is_no_transcript_is_one_clear_line(talk, tmp_path, content):
    done = convert(talk(content), "--to", "anthropic", "-o", tmp_path / "out")
    assert done.exit_code == 1
    assert done.stderr.startswith("canonicall: error: ")
    assert len(done.stderr.splitlines()) == 1
    assert left_in(tmp_path) == ["talk.jsonl"]


def test_a_response_is_said_to_be_one(talk):
    reply = {"id": "x", "choices": [{"message": {"role": "assistant", "content": "Hi"}}]}
    done = convert(talk(json.dumps(reply)), "--to", "anthropic")
    assert done.exit_code == 1
    assert "this is a response, not a request" in done.stderr


def test_wrong_arguments(talk):
    file = talk(as_lines(PLAIN, PLAIN))
    assert convert(file).exit_code == 2
    assert convert(file, "--to", "nobody").exit_code == 2
    assert convert(file, "--to", "gemini", "--jobs", 0).exit_code == 2
    assert convert(file, "--to", "gemini", "--resume").exit_code == 2
    assert convert("-", "--to", "gemini", "--resume", "-o", "x", input="").exit_code == 2


def test_standard_input_to_standard_output():
    done = convert("-", "--to", "gemini", input=as_lines(PLAIN, PLAIN))
    assert [json.loads(line)["contents"] for line in done.stdout.splitlines()] == [
        [{"role": "user", "parts": [{"text": "Hi"}]}]
    ] * 2


def test_json_sums_it_up(talk, tmp_path):
    out, report = tmp_path / "out", tmp_path / "report.jsonl"
    file = talk(as_lines(DAMAGED, SOUND) + "?\n")
    done = convert(file, "--to", "openai:gpt-4o", "-o", out, "--report", report, "--json")
    assert json.loads(done.stderr) == {
        "file": str(file),
        "output": str(out),
        "target": "openai:gpt-4o",
        "rejected_file": f"{out}.rejected.jsonl",
        "report": str(report),
        "converted": 2,
        "rejected": 1,
        "refused": 0,
        "foreign_models": 0,
        "codes": {"result_made_up": 1},
        "renamed_tools": {},
    }
    (found,) = records(report)
    assert (found["line"], found["code"], found["action"]) == (1, "result_made_up", "added")


def test_the_findings_of_one_document_have_no_line(talk, tmp_path):
    report = tmp_path / "report.jsonl"
    convert(talk(json.dumps(DAMAGED)), "--to", "openai", "--report", report)
    assert {found["line"] for found in records(report)} == {None}


def test_models_of_another_provider_are_pointed_out(talk):
    done = convert(talk(as_lines(SOUND, PLAIN)), "--to", "openai")
    assert "1 document still named another provider's model" in done.stderr


def test_a_device_is_written_to_and_never_replaced(talk):
    done = convert(talk(as_lines(PLAIN, PLAIN)), "--to", "gemini", "-o", os.devnull)
    assert done.exit_code == 0
    assert not Path(os.devnull).is_file()


def test_memory_does_not_grow_with_the_file(tmp_path):
    """Twenty-four megabytes in lines of twenty kilobytes pass through a window of a few chunks."""
    line = (json.dumps(asking(0, "word " * 4000)) + "\n").encode()
    file = tmp_path / "long.jsonl"
    with file.open("wb") as out:
        for _ in range(1200):
            out.write(line)
    assert file.stat().st_size > 24_000_000
    with file.open("rb") as source:
        lines = CountedLines(source)
        tracemalloc.start()
        try:
            work = chunks(pieces(lines), lines)
            size = sum(len(done.output) for done in all_done(work, Aim("gemini", "auto"), 1))
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert size > 24_000_000
    assert peak < 8_000_000


@pytest.mark.parametrize(
    "options",
    [
        ("-o", "out", "--rejected", "talk.jsonl"),
        ("-o", "out", "--report", "talk.jsonl"),
        ("-o", "out", "--rejected", "out"),
        ("-o", "out", "--report", "./out"),
        ("-o", "out", "--rejected", "more", "--report", "more"),
        ("-o", "out", "--report", "out.rejected.jsonl"),
        ("-o", "link", "--report", "talk.jsonl"),
    ],
)
def test_no_file_is_used_for_two_things(talk, tmp_path, monkeypatch, options):
    """What is read would be lost, or one output by the other."""
    monkeypatch.chdir(tmp_path)
    data = as_lines(SOUND, DAMAGED)
    talk(data)
    (tmp_path / "link").symlink_to("out")
    done = convert("talk.jsonl", "--to", "gemini", *options)
    assert done.exit_code == 2
    assert "are the same file" in done.stderr
    assert (tmp_path / "talk.jsonl").read_text("utf-8") == data
    assert left_in(tmp_path) == ["link", "talk.jsonl"]


def test_a_file_may_be_converted_in_place(talk):
    file = talk(as_lines(SOUND, SOUND))
    assert convert(file, "--to", "gemini", "-o", file).exit_code == 0
    assert ["contents" in one for one in records(file)] == [True, True]
