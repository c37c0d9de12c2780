"""A server on a port: workers, reload, drain, and nothing left behind."""

import asyncio
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import aiohttp
import pytest

from canonicall.gateway.config import ServerSettings
from canonicall.gateway.server.sockets import CannotListen, address_of, listen

every_number = pytest.mark.parametrize("workers", [pytest.param(1, marks=pytest.mark.deep), 2])

PROGRAM = Path(__file__).with_name("tiny_gateway.py")
PATIENCE = 60


class Running:
    """A gateway as a process, and what it says."""

    def __init__(self, file, *arguments):
        self.file = file
        self.process = subprocess.Popen(
            [sys.executable, str(PROGRAM), str(file), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def hear(self, event):
        """What is told with the next event of this kind; others before it are passed over."""
        for line in self.process.stdout:
            told = json.loads(line)
            if told["event"] == event:
                return told["text"]
        raise AssertionError(f"{event} was never told: {self.process.stderr.read()}")

    def ready(self):
        self.address = self.hear("ready")
        return self

    def send(self, number):
        self.process.send_signal(number)

    def ask(self, path="/"):
        # A connection each: otherwise one worker would get them all.
        with urllib.request.urlopen(self.address + path, timeout=PATIENCE) as answer:  # noqa: S310
            return json.load(answer)

    def end(self, number=signal.SIGTERM):
        """The exit code, and what was told to the end."""
        self.send(number)
        rest = self.process.stdout.read()
        code = self.process.wait(PATIENCE)
        return code, [json.loads(line)["event"] for line in rest.splitlines()]


@pytest.fixture
def start(tmp_path):
    running = []

    def begin(*arguments, workers=1, drain=20, setting="first", **more):
        file = tmp_path / "gateway.yaml"
        write(file, workers=workers, drain=drain, setting=setting, **more)
        one = Running(file, *arguments)
        running.append(one)
        return one

    yield begin
    for one in running:
        if one.process.poll() is None:
            one.process.kill()
        one.process.communicate()


def write(file, *, workers=1, drain=20, setting="first", **more):
    """As editors do: the new file is complete when it takes the place of the old."""
    server = json.dumps({"port": 0, "workers": workers, "drain_seconds": drain, **more})
    beside = file.with_suffix(".part")
    beside.write_text(f"server: {server}\nlog: {{file: {setting}}}\nstore: {{path: x.db}}\n")
    beside.replace(file)


def is_alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def eventually(condition):
    """Wait until something is so; the test fails where it never is."""
    until = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < until
        time.sleep(0.02)
    return found


def processes_of(running, count):
    """The workers that answer, until there are so many of them."""
    seen = set()
    eventually(lambda: seen.add(running.ask()["process"]) or len(seen) >= count)
    return seen


def in_background(running, path):
    """A request whose head has come back; `join` gives its answer, or the error it ended with."""
    begun, ended = threading.Event(), []

    def ask():
        try:
            with urllib.request.urlopen(running.address + path, timeout=PATIENCE) as answer:  # noqa: S310
                answer.read(1)
                begun.set()
                ended.append(json.load(answer))
        except (OSError, ValueError, http.client.HTTPException) as error:
            ended.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    assert begun.wait(PATIENCE)

    def join():
        thread.join(PATIENCE)
        return ended[0]

    return join


@every_number
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_and_ends_without_a_trace(start, workers, number):
    running = start(workers=workers).ready()
    processes = processes_of(running, workers)
    assert (running.process.pid in processes) == (workers == 1)
    code, told = running.end(number)
    assert code == 0
    assert told == ["draining", *["closed"] * workers]
    assert running.process.stderr.read() == ""
    assert not any(map(is_alive, processes))


@every_number
def test_requests_under_way_finish_and_no_others_are_taken(start, workers):
    running = start(workers=workers).ready()
    answer = in_background(running, "/slow/1")
    running.send(signal.SIGTERM)
    running.hear("draining")
    eventually(lambda: _is_refused(running))
    finished = answer()
    assert (finished["setting"], finished["is_ending"]) == ("first", True)
    assert running.process.wait(PATIENCE) == 0


def _is_refused(running):
    """Whether a connection is refused. One that nobody answers would be worse than none."""
    try:
        running.ask()
    except OSError as error:
        return isinstance(getattr(error, "reason", None), ConnectionRefusedError)
    return False


@every_number
def test_requests_are_taken_for_a_while_after_the_notice(start, workers):
    """A load balancer needs time to see that the gateway ends."""
    running = start(workers=workers, notice_seconds=1000).ready()
    running.send(signal.SIGTERM)
    running.hear("draining")
    eventually(lambda: running.ask()["is_ending"])
    assert running.end() == (0, ["closed"] * workers)


@every_number
def test_the_port_is_closed_after_the_notice(start, workers):
    running = start(workers=workers, notice_seconds=0.5).ready()
    answer = in_background(running, "/slow/2")
    running.send(signal.SIGTERM)
    eventually(lambda: _is_refused(running))
    assert answer()["is_ending"]
    assert running.process.wait(PATIENCE) == 0


@every_number
def test_a_person_at_the_keyboard_does_not_wait_for_the_notice(start, workers):
    running = start(workers=workers, notice_seconds=1000).ready()
    assert running.end(signal.SIGINT) == (0, ["draining", *["closed"] * workers])


@every_number
def test_what_takes_longer_than_the_drain_is_broken_off(start, workers):
    running = start(workers=workers, drain=1).ready()
    answer = in_background(running, "/slow/1000")
    assert running.end()[0] == 0
    assert isinstance(answer(), Exception)


@every_number
def test_a_second_signal_does_not_wait_for_anybody(start, workers):
    running = start(workers=workers, drain=1000).ready()
    answer = in_background(running, "/slow/1000")
    running.send(signal.SIGINT)
    running.hear("draining")
    assert running.end(signal.SIGINT) == (0, ["closed"] * workers)
    assert isinstance(answer(), Exception)


def test_a_signal_to_all_processes_is_one_signal(start):
    """A service manager ends all of them at once, and the supervisor tells its workers again."""
    running = start(workers=2).ready()
    processes = processes_of(running, 2)
    answer = in_background(running, "/slow/1")
    for one in processes:
        os.kill(one, signal.SIGTERM)
    assert running.end()[0] == 0
    assert answer()["setting"] == "first"


@every_number
async def test_a_reload_under_load_loses_no_request(start, workers):
    """Requests go on from eight clients while the settings change twenty times."""
    running = start(workers=workers).ready()
    seen, statuses = set(), set()
    ends = asyncio.Event()

    async def client(session, path):
        while not ends.is_set():
            async with session.get(running.address + path) as answer:
                statuses.add(answer.status)
                seen.add((await answer.json())["setting"])

    def change():
        for at in range(20):
            write(running.file, workers=workers, setting=f"setting-{at}")
            running.send(signal.SIGHUP)
            running.hear("reloaded")
        eventually(lambda: "setting-19" in seen)

    async with aiohttp.ClientSession() as session, asyncio.TaskGroup() as clients:
        for path in ("/", "/slow/0.01") * 4:
            clients.create_task(client(session, path))
        await asyncio.to_thread(change)
        ends.set()
    assert statuses == {200}
    assert await asyncio.to_thread(running.end) == (0, ["draining", *["closed"] * workers])


@every_number
def test_a_wrong_file_leaves_the_old_settings_and_a_right_one_reaches_all(start, workers):
    running = start(workers=workers).ready()
    running.file.write_text("server: {prot: 1}")
    running.send(signal.SIGHUP)
    told = running.hear("reload_refused")
    assert told.startswith("The settings stay as they were: ")
    assert "$.server.prot: no setting here is called 'prot'. Did you mean 'port'?" in told
    assert running.ask()["setting"] == "first"
    write(running.file, workers=workers, setting="third")
    # An application can ask for it too, and all workers get it.
    assert not running.ask("/renew")["is_ending"]
    running.hear("reloaded")
    found = {}

    def all_have_it():
        answer = running.ask()
        found[answer["process"]] = answer["setting"]
        return len(found) == workers and set(found.values()) == {"third"}

    eventually(all_have_it)


def test_an_application_that_does_not_take_new_settings_serves_on(start):
    running = start().ready()
    write(running.file, setting="refuse")
    running.send(signal.SIGHUP)
    # Not its text: only our own errors are known not to quote a key.
    assert running.hear("reload_refused") == "The settings stay as they were: RuntimeError"
    assert running.ask()["setting"] == "first"


def test_what_only_a_restart_changes_is_told_once(start):
    running = start(workers=2).ready()
    write(running.file, workers=3)
    running.send(signal.SIGHUP)
    assert running.hear("restart_needed") == "workers: changed only by a restart."
    running.hear("reloaded")
    assert running.end() == (0, ["draining", "closed", "closed"])


@every_number
def test_a_file_that_is_watched_is_read_when_it_changes(start, workers):
    running = start("watch", workers=workers).ready()
    write(running.file, workers=workers, setting="another")
    running.hear("reloaded")
    eventually(lambda: running.ask()["setting"] == "another")


def test_a_worker_that_dies_is_replaced_with_the_settings_of_now(start):
    running = start(workers=2).ready()
    write(running.file, workers=2, setting="second")
    running.send(signal.SIGHUP)
    running.hear("reloaded")
    before = processes_of(running, 2)
    with pytest.raises(OSError):
        running.ask("/die")
    assert "exit code 9" in running.hear("worker_ended")
    (gone,) = (one for one in before if not is_alive(one))
    after = eventually(lambda: {running.ask()["process"]} - before)
    assert gone not in after
    eventually(lambda: running.ask()["setting"] == "second")
    assert running.end()[0] == 0


def test_workers_do_not_outlive_a_supervisor_that_is_killed(start):
    running = start(workers=2).ready()
    processes = processes_of(running, 2)
    running.process.kill()
    running.process.wait(PATIENCE)
    eventually(lambda: not any(map(is_alive, processes)))


@every_number
def test_an_application_that_cannot_begin_ends_everything(start, workers):
    running = start("broken", workers=workers)
    assert running.process.wait(PATIENCE) == 1
    assert "not today" in running.process.stderr.read()


def test_a_port_that_is_taken_is_told():
    with listen(ServerSettings(port=0)) as first:
        port = first.getsockname()[1]
        assert address_of(first) == f"http://127.0.0.1:{port}"
        with pytest.raises(CannotListen, match=rf"port {port}: somebody else listens there\."):
            listen(ServerSettings(port=port))


@pytest.mark.parametrize(
    ("host", "words"),
    [
        ("no.such.host.invalid", "no such address on this machine"),
        ("x" * 300, "no such address on this machine"),
        ("192.0.2.1", "no such address"),
    ],
)
def test_an_address_that_is_not_ours_is_told(host, words):
    with pytest.raises(CannotListen, match=words):
        listen(ServerSettings(host=host, port=0))


def test_the_address_is_one_that_clients_can_use():
    with listen(ServerSettings(host="0.0.0.0", port=0)) as opened:  # noqa: S104
        assert address_of(opened).startswith("http://127.0.0.1:")
    if socket.has_ipv6:
        with listen(ServerSettings(host="::1", port=0)) as opened:
            assert address_of(opened).startswith("http://[::1]:")
