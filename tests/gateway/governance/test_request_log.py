"""One line for each request, written by a thread, with nothing in it that is a key."""

import io
import json
import os
import stat
import threading

import pytest

from canonicall.client.secrets import Secret
from canonicall.gateway.config import LogSettings
from canonicall.gateway.governance.request_log import LogFileError, RequestLog
from canonicall.reply import Usage
from gateway.governance.told import begun, served

NEW_YEAR = 1_893_456_000.25
KEY = "sk-proj-abcdefghijklmnopqrstuvwxyz"


class Kept(io.BytesIO):
    """Can be read after it was closed."""

    def lines(self):
        return [json.loads(line) for line in self.getvalue().splitlines()]


def logged(*all_served, **options):
    file = Kept()
    log = RequestLog(file, clock=lambda: NEW_YEAR, **options)
    for one in all_served:
        log.begun(one.begun)
        log.ended(one)
    log.close()
    return file.lines()


def test_a_line_says_what_is_known():
    one = served(
        of=begun(key="team", streams=True),
        findings=(("call_closed", 2),),
        usage=Usage(10, 5, native={"prompt_tokens": 10}),
        first_byte_seconds=0.5,
        upstream_seconds=0.25,
        bytes_in=100,
        bytes_out=200,
    )
    assert logged(one) == [
        {
            "time": "2030-01-01T00:00:00.250+00:00",
            "id": "r1",
            "key": "team",
            "front": "anthropic",
            "action": "generate",
            "model": "m",
            "target": "openai:gpt-5",
            "status": 200,
            "error": "",
            "stream": True,
            "complete": True,
            "forwarded": False,
            "attempts": 1,
            "seconds": 2.0,
            "first_byte_seconds": 0.5,
            "upstream_seconds": 0.25,
            "bytes_in": 100,
            "bytes_out": 200,
            "tokens": {"input_tokens": 10, "output_tokens": 5},
            "findings": {"call_closed": 2},
        }
    ]


def test_bodies_are_left_out_unless_they_are_wanted():
    one = served(request_body=b'{"a": 1}', response_body=b"data: {}\n\n")
    (line,) = logged(one)
    assert not {"request", "response"} & set(line)
    (line,) = logged(one, bodies=True)
    assert (line["request"], line["response"]) == ({"a": 1}, [{}])


def test_no_key_in_bodies_or_names():
    body = json.dumps({"content": f"use {KEY}", "api_key": "hunter2", "x": "own-secret-1"}).encode()
    one = served(of=begun(model=KEY, id=KEY), request_body=body, response_body=body)
    text = json.dumps(logged(one, bodies=True, secrets=[Secret("own-secret-1")]))
    assert not any(secret in text for secret in (KEY, KEY[8:], "hunter2", "own-secret-1"))


def test_a_long_body_is_cut_after_its_keys_are_gone():
    filler = "word " * 52_422
    body = json.dumps({"content": f"{filler}{KEY} {filler}"}).encode()
    (line,) = logged(served(request_body=body), bodies=True)
    assert len(line["request"]) < 263_000
    assert line["request"].endswith("characters)")
    assert "sk-" not in line["request"]


def test_a_body_too_large_to_be_looked_through_is_told_by_its_length():
    (line,) = logged(served(request_body=b"[" + b"1," * 1_000_000 + b"1]"), bodies=True)
    assert line["request"] == "(2000003 bytes)"


def test_names_that_cannot_be_written_do_not_stop_the_log():
    odd = served(of=begun(model="\ud800\n{", id="\udfff"))
    first, second = logged(odd, served())
    assert (first["model"], second["model"]) == ("?\n{", "m")


def test_a_line_that_cannot_be_made_says_so_and_the_next_is_written():
    first, second = logged(served(findings=((object(), 1),)), served())
    assert (first["failed"], first["status"], second["id"]) == ("TypeError", 200, "r1")


def test_lines_come_in_order_and_all_of_them():
    lines = logged(*(served(of=begun(id=f"r{at}")) for at in range(1000)))
    assert [line["id"] for line in lines] == [f"r{at}" for at in range(1000)]


class Slow(Kept):
    """Does not take anything until it is let."""

    def __init__(self):
        super().__init__()
        self.reached, self.go = threading.Event(), threading.Event()

    def write(self, data):
        self.reached.set()
        self.go.wait(30)
        return super().write(data)


def test_a_file_that_hangs_holds_nobody_up_and_what_is_lost_is_counted():
    file = Slow()
    log = RequestLog(file, bodies=True, most_waiting=50_000)
    log.ended(served())
    file.reached.wait(30)
    big = served(request_body=b"[" + b"1," * 8_000 + b"1]")
    for _ in range(6):
        log.ended(big)
    file.go.set()
    log.close()
    lines = file.lines()
    lost = [line["lost"] for line in lines if "lost" in line]
    written = [line for line in lines if "id" in line]
    assert sum(lost) + len(written) == 7
    assert sum(lost) > 0


class Full(Kept):
    """Fails as often as told."""

    def __init__(self, failures):
        super().__init__()
        self.failures = failures
        self.tried = threading.Event()

    def write(self, data):
        if self.failures:
            self.failures -= 1
            self.tried.set()
            raise OSError(28, "No space left on device")
        return super().write(data)


def test_a_full_disk_loses_lines_but_not_in_silence():
    file = Full(1)
    log = RequestLog(file)
    log.ended(served())
    file.tried.wait(30)
    log.ended(served(of=begun(id="r2")))
    log.close()
    lost, line = file.lines()
    assert (lost["lost"], line["id"]) == (1, "r2")


def test_a_file_is_appended_to_and_is_its_owners_alone(tmp_path):
    path = tmp_path / "requests.jsonl"
    for _ in range(2):
        log = RequestLog.open(LogSettings(file=str(path)))
        log.ended(served())
        log.close()
    assert len(path.read_text().splitlines()) == 2
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_no_file_no_log():
    assert RequestLog.open(LogSettings(file="")) is None


def test_a_path_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(LogFileError, match=r"\$\.log\.file: .*nowhere.* Give a path"):
        RequestLog.open(LogSettings(file=str(tmp_path / "nowhere" / "x")))


def test_standard_error_is_not_closed(capfdbinary):
    log = RequestLog.open(LogSettings())
    log.ended(served())
    log.close()
    assert json.loads(capfdbinary.readouterr().err)["id"] == "r1"
