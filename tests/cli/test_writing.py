"""Files are written whole or not at all, whatever ends the run: real processes, real signals."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from canonicall.cli.files import UnusableFile, back_up, reading, writing
from cli.transcripts import DAMAGED, SOUND, as_lines

FIX = [sys.executable, "-m", "canonicall.cli.entry", "fix", "-", "--as", "anthropic"]


def names(folder):
    return sorted(file.name for file in folder.iterdir())


@pytest.fixture
def half_done(tmp_path):
    """A `fix` that has written some lines to out.jsonl's place and waits for more input."""
    out = tmp_path / "out.jsonl"
    out.write_text("as it was")
    process = subprocess.Popen(
        [*FIX, "-o", str(out), "--json"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdin.write(as_lines(DAMAGED, DAMAGED, DAMAGED).encode())
    process.stdin.flush()
    # A report on standard error says that a line was written.
    assert json.loads(process.stderr.readline())["changed"]
    yield process
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        stream.close()


def test_ctrl_c_leaves_the_old_file_and_nothing_else(half_done, tmp_path):
    half_done.send_signal(signal.SIGINT)
    assert half_done.wait(60) == 130
    assert b"Traceback" not in half_done.stderr.read()
    assert names(tmp_path) == ["out.jsonl"]
    assert (tmp_path / "out.jsonl").read_text() == "as it was"


def test_a_kill_leaves_the_old_file_and_nothing_else(half_done, tmp_path):
    half_done.kill()
    half_done.wait(60)
    assert names(tmp_path) == ["out.jsonl"]
    assert (tmp_path / "out.jsonl").read_text() == "as it was"


def test_what_an_older_run_has_left_is_removed_by_the_next(tmp_path):
    """Only that of a process that is gone, and of this file."""
    left = [f".out.{2**30}.part", f".out.{os.getpid()}.part", f".other.{2**30}.part", ".out.x.part"]
    for name in left:
        (tmp_path / name).write_bytes(b"")
    with writing(str(tmp_path / "out")) as out:
        out.write(b"x")
    assert names(tmp_path) == sorted([*left[2:], "out"])


def test_where_files_need_a_name_they_are_written_the_same(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "O_TMPFILE")
    with writing(str(tmp_path / "out")) as out:
        out.write(b"x")
        assert len(names(tmp_path)) == 1
    assert names(tmp_path) == ["out"]
    assert (tmp_path / "out").read_bytes() == b"x"


def test_the_end_of_the_input_completes_the_file(half_done, tmp_path):
    half_done.stdin.close()
    assert half_done.wait(60) == 0
    assert names(tmp_path) == ["out.jsonl"]
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 3


@pytest.mark.parametrize("verb", ["check", "fix"])
def test_a_reader_that_leaves_ends_it_quietly(tmp_path, canonicall, verb):
    """The pipe breaks in the middle of much output."""
    log = tmp_path / "log.jsonl"
    log.write_text(as_lines(*[SOUND] * 2000))
    reader, writer = os.pipe()
    os.close(reader)
    done = canonicall(verb, str(log), "--as", "anthropic", "--json", stdout=writer)
    os.close(writer)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "Broken" not in done.stderr
    assert names(tmp_path) == ["log.jsonl"]


def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    """Nor is a device: what is no file cannot be put back."""
    place = tmp_path / "pipe"
    os.mkfifo(place)
    reader = os.open(place, os.O_RDONLY | os.O_NONBLOCK)
    with writing(str(place)) as out:
        out.write(b"repaired")
    assert os.read(reader, 100) == b"repaired"
    os.close(reader)
    assert place.is_fifo()
    assert names(tmp_path) == ["pipe"]


def test_a_failure_while_writing_leaves_the_old_file(tmp_path):
    place = tmp_path / "out"
    place.write_bytes(b"old")

    def fail():
        with writing(str(place)) as out:
            out.write(b"new")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert place.read_bytes() == b"old"
    assert names(tmp_path) == ["out"]


def test_a_new_file_has_the_usual_permissions(tmp_path):
    with writing(str(tmp_path / "ours")) as out:
        out.write(b"x")
    (tmp_path / "usual").write_bytes(b"x")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_backup_is_a_copy_with_the_times_of_the_file(tmp_path):
    file = tmp_path / "talk"
    file.write_bytes(b"x")
    os.utime(file, (1, 2))
    backup = Path(back_up(str(file)))
    assert backup.name == "talk.bak"
    assert backup.read_bytes() == b"x"
    assert backup.stat().st_mtime == 2


def test_a_pipe_that_nobody_writes_to_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr("canonicall.cli.files.PATIENCE", 0.05)
    place = tmp_path / "pipe"
    os.mkfifo(place)
    with pytest.raises(UnusableFile, match="nothing was written to it"), reading(str(place)):
        pass


def test_a_pipe_is_read_to_its_end(tmp_path):
    place = tmp_path / "pipe"
    os.mkfifo(place)
    data = b"line\n" * 50_000
    writer = threading.Thread(target=place.write_bytes, args=(data,))
    writer.start()
    with reading(str(place)) as file:
        assert b"".join(file) == data
    writer.join()


def test_a_pipe_without_a_name_is_read_to_its_end():
    """As `<(command)` of a shell is."""
    reader, writer = os.pipe()
    os.write(writer, b"some")
    os.close(writer)
    with reading(f"/dev/fd/{reader}") as file:
        assert file.read() == b"some"
    with reading(f"/dev/fd/{reader}") as file:
        assert file.read() == b""
    os.close(reader)
