"""Virtual keys mean the same in every worker: real processes that share a port."""

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from canonicall.gateway.governance.keys import hash_of

PROGRAM = Path(__file__).with_name("keyed_gateway.py")
PATIENCE = 60
KEY, ADMIN = "ck-for-a-test-0123456789", "ck-admin-0123456789"
REVOKE = "/canonicall/admin/keys/team/revoke"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="workers need a system that forks")


class Running:
    """A gateway with two workers, as processes."""

    def __init__(self, **settings):
        self.process = subprocess.Popen(
            [sys.executable, str(PROGRAM), json.dumps(settings)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        self.address = urlsplit(self.hear("ready")).netloc

    def hear(self, event):
        """What is told with the next event of this kind."""
        for line in self.process.stdout:
            told = json.loads(line)
            if told["event"] == event:
                return told["text"]
        raise AssertionError(f"{event} was never told")

    def ask(self, model="fast"):
        """The status, and the process that answered: on a connection each, so that any may."""
        body = {"model": model, "messages": [{"role": "user", "content": "Hello."}]}
        status, process, _ = self.post("/v1/chat/completions", body)
        return status, process

    def post(self, path, body=None, key=KEY, method="POST"):
        connection = http.client.HTTPConnection(self.address, timeout=PATIENCE)
        try:
            headers = {"authorization": f"Bearer {key}", "connection": "close"}
            connection.request(method, path, json.dumps(body or {}), headers)
            answer = connection.getresponse()
            return answer.status, int(answer.headers["x-process"]), json.load(answer)
        finally:
            connection.close()

    def limits(self):
        """What the key has spent, as any of the workers tells it."""
        _, _, told = self.post("/canonicall/admin/limits", key=ADMIN, method="GET")
        return next(one for one in told["keys"] if one["key"] == "team")

    def statuses(self):
        """What both workers answer to the same question."""
        seen = {}

        def both():
            status, process = self.ask()
            seen[process] = status
            return len(seen) == 2

        eventually(both)
        return sorted(seen.values())


@pytest.fixture
def start():
    running = []

    def begin(store="", **limits):
        keys = {
            "team": {"hash": hash_of(KEY), **limits},
            "boss": {"hash": hash_of(ADMIN), "admin": True},
        }
        server = {"port": 0, "workers": 2, "drain_seconds": 1}
        one = Running(server=server, keys=keys, store={"path": store}, log={"file": ""})
        running.append(one)
        return one

    yield begin
    for one in running:
        one.process.send_signal(signal.SIGTERM)
        one.process.communicate(timeout=PATIENCE)


def eventually(condition):
    """Wait until something is so; the test fails where it never is."""
    until = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < until
        time.sleep(0.02)
    return found


@pytest.mark.parametrize("is_kept", [False, True])
def test_a_key_revoked_in_one_worker_is_refused_in_all(start, is_kept, place):
    running = start(place if is_kept else "")
    assert running.statuses() == [200, 200]
    status, revoked_in, told = running.post(REVOKE, key=ADMIN)
    assert (status, told["state"]) == (200, "revoked")
    assert all(
        status == 401 for status, at in (running.ask() for _ in range(9)) if at == revoked_in
    )
    eventually(lambda: running.statuses() == [401, 401])
    # Nor does one let it in that takes the place of another.
    os.kill(revoked_in, signal.SIGKILL)
    running.hear("worker_ended")
    assert running.statuses() == [401, 401]


@pytest.mark.parametrize("limit", [1, 5])
def test_all_workers_together_let_in_as_many_as_the_limit_says(start, limit):
    """Also where it is lower than the number of workers."""
    running = start(requests_per_minute=limit)
    with ThreadPoolExecutor(8) as clients:
        asked = list(clients.map(lambda _: running.ask()[0], range(40)))
    assert Counter(asked) == {200: limit, 429: 40 - limit}
    assert running.statuses() == [429, 429]
    spent = running.limits()
    assert (spent["requests"], spent["requests_per_minute"]) == (limit, limit)


def test_tokens_spent_in_one_worker_are_spent_in_all(start):
    running = start(tokens_per_minute=1)
    assert running.ask()[0] == 200
    # A client may have its answer a moment before what it cost is booked.
    eventually(lambda: running.limits()["tokens"] > 1)
    assert running.statuses() == [429, 429]


def test_what_runs_in_one_worker_runs_for_all_until_that_dies(start):
    running = start(concurrent=1)
    held = threading.Thread(target=_ask_in_vain, args=(running,))
    held.start()
    holder = int(running.hear("held"))
    assert running.statuses() == [429, 429]
    os.kill(holder, signal.SIGKILL)
    running.hear("worker_ended")
    eventually(lambda: running.ask()[0] == 200)
    held.join(PATIENCE)
    eventually(lambda: running.limits()["running"] == 0)


def _ask_in_vain(running):
    with pytest.raises((OSError, http.client.HTTPException)):
        running.ask("held")
