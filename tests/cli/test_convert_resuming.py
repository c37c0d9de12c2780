"""A conversion that is ended from outside: what it leaves, and that it goes on to the same bytes."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from time import sleep

import pytest

pytestmark = pytest.mark.deep

LINES = 1000
VERB = [sys.executable, "-m", "canonicall.cli.entry", "convert"]


@pytest.fixture
def long_file(tmp_path):
    """Twenty megabytes; a line in a hundred is damaged."""
    file = tmp_path / "long.jsonl"
    with file.open("w") as out:
        for number in range(LINES):
            body = {"messages": [{"role": "user", "content": f"{number} " + "word " * 4000}]}
            out.write("{broken\n" if number % 100 == 50 else json.dumps(body) + "\n")
    return file


def arguments(file: Path, out: Path) -> list[str]:
    report = out.with_name(f"{out.name}.report")
    return [*VERB, str(file), "--to", "anthropic", "-o", str(out), "--report", str(report)]


def started(file: Path, out: Path, *more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*arguments(file, out), *more], stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def until_marked(process: subprocess.Popen[str], out: Path) -> None:
    """Wait until some of the work is safe."""
    mark = out.with_name(f"{out.name}.part.json")
    while process.poll() is None and not mark.exists():
        sleep(0.01)
    assert process.poll() is None, "it was done before it could be ended"


def is_gone(group: int) -> bool:
    """Whether the processes of a group end, all of them."""
    for _ in range(600):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        sleep(0.1)
    return False


def finished(file: Path, out: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*arguments(file, out), *more], capture_output=True, text=True, timeout=120, check=False
    )


def written(out: Path) -> list[bytes]:
    names = (out.name, f"{out.name}.rejected.jsonl", f"{out.name}.report")
    return [out.with_name(name).read_bytes() for name in names]


def test_after_a_kill_it_goes_on_to_the_same_bytes(long_file, tmp_path):
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    at_once = finished(long_file, whole, "--json", "--jobs", "1")
    process = started(long_file, cut)
    until_marked(process, cut)
    process.kill()
    process.communicate()
    assert is_gone(process.pid), "workers stayed behind"
    assert not cut.exists()
    mark = json.loads((tmp_path / "cut.part.json").read_bytes())
    assert 0 < mark["line"] < LINES
    # What was being written when it ended is of no use, whatever it is.
    with (tmp_path / "cut.part").open("ab") as part:
        part.write(b'{"half a li')
    resumed = finished(long_file, cut, "--resume", "--json")
    assert resumed.returncode == at_once.returncode == 3
    assert written(cut) == written(whole)
    told, expected = json.loads(resumed.stderr), json.loads(at_once.stderr)
    assert told["converted"] == expected["converted"] == LINES - LINES // 100
    assert told["codes"] == expected["codes"]
    assert not [file for file in tmp_path.iterdir() if ".part" in file.name]


def test_ctrl_c_leaves_no_half_of_a_file_and_says_how_to_go_on(long_file, tmp_path):
    out = tmp_path / "out"
    process = started(long_file, out)
    until_marked(process, out)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in said
    assert "--resume" in said
    assert not out.exists()
    assert finished(long_file, out, "--resume").returncode == 3
    assert len(out.read_bytes().splitlines()) == LINES - LINES // 100


def test_two_runs_do_not_write_the_same_file(long_file, tmp_path):
    out = tmp_path / "out"
    process = started(long_file, out)
    until_marked(process, out)
    process.send_signal(signal.SIGSTOP)
    other = finished(long_file, out)
    process.kill()
    process.communicate()
    assert other.returncode == 1
    assert "another run is writing it" in other.stderr
    assert "--resume" not in other.stderr
    assert (tmp_path / "out.part.json").exists()


def test_an_input_that_has_changed_is_not_gone_on_with(long_file, tmp_path):
    out = tmp_path / "out"
    process = started(long_file, out)
    until_marked(process, out)
    process.kill()
    process.communicate()
    with long_file.open("a") as file:
        file.write("{}\n")
    refused = finished(long_file, out, "--resume")
    assert refused.returncode == 1
    assert "Run without --resume" in refused.stderr
    assert not out.exists()


def test_with_nothing_to_go_on_with_it_starts_at_the_beginning(tmp_path):
    file = tmp_path / "two.jsonl"
    file.write_text(json.dumps({"messages": [{"role": "user", "content": "Hi"}]}) + "\n", "utf-8")
    done = finished(file, tmp_path / "out", "--resume")
    assert done.returncode == 0
    assert (tmp_path / "out").exists()


def worker_of(process: subprocess.Popen[str]) -> int:
    """One of the processes that do the work."""
    while True:
        assert process.poll() is None, "it was done before a worker could be ended"
        told = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text("utf-8")
        for child in told.split():
            if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
                return int(child)
        sleep(0.01)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="only Linux lists children so")
def test_a_worker_that_is_killed_is_told_in_one_line(long_file, tmp_path):
    out = tmp_path / "out"
    process = started(long_file, out, "--jobs", "2", "--json")
    os.kill(worker_of(process), signal.SIGKILL)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 1
    assert said.startswith("canonicall: error: a worker process was ended")
    assert len(said.splitlines()) == 1
    assert not out.exists()


def test_a_reader_that_goes_away_is_no_traceback(long_file):
    process = subprocess.Popen(
        [*VERB, str(long_file), "--to", "anthropic", "--jobs", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=60) == 1
    assert b"Traceback" not in said
