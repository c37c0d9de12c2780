"""Kill -9 while clients continue conversations: after the restart each finds the last reply it was
given, whole, and nothing half."""

import http.client
import itertools
import json
import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytestmark = [
    pytest.mark.deep,
    pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9"),
]
PROGRAM = Path(__file__).with_name("killed_gateway.py")
PATIENCE = 30
KILLS = 8
WHO = ("by-anthropic-anthropic", "by-openai-openai-responses", "by-gemini-gemini")
"""Forwarded for one kind of client or the other, and translated for both."""


class Broken(Exception):
    """The gateway went away before the end of its answer."""


class Running:
    """A gateway as a process."""

    def __init__(self, place):
        self.process = subprocess.Popen(
            [sys.executable, str(PROGRAM), place],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        self.address = urlsplit(json.loads(self.process.stdout.readline())["text"]).netloc

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def ask(self, path, body=None):
        connection = http.client.HTTPConnection(self.address, timeout=PATIENCE)
        try:
            method = "GET" if body is None else "POST"
            connection.request(method, path, None if body is None else json.dumps(body))
            answer = connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException):
            raise Broken from None
        finally:
            connection.close()


class Client:
    """Continues one conversation, and knows what it was given."""

    path = ""
    last_event = b""

    def __init__(self):
        self.said: list[str] = []
        """What has been answered."""
        self.last = None
        self.sending = ""
        self.given = 0
        self._numbers = itertools.count()

    def run(self, gateway):
        """Go on until the gateway goes away."""
        try:
            self.begin(gateway)
            while True:
                self.step(gateway)
        except Broken:
            return

    def begin(self, gateway):
        """What is to be done after a restart."""

    def step(self, gateway):
        number = next(self._numbers)
        self.sending = f"{number}"
        streamed = number % 2 == 0
        body = {"model": WHO[number % len(WHO)], "stream": streamed, **self.body(self.sending)}
        status, data = gateway.ask(self.path, body)
        if b"conversation_locked" in data:
            time.sleep(0.2)
            return
        assert status == 200, data
        if streamed and self.last_event not in data:
            raise Broken
        answer = self.reply(data) if streamed else json.loads(data)
        assert self.text(answer) == "|".join([*self.said, self.sending])
        self.said.append(self.sending)
        self.last = answer["id"]
        self.given += 1


class Responses(Client):
    """`previous_response_id`."""

    path = "/v1/responses"
    last_event = b"event: response.completed"

    def body(self, text):
        return {"input": text, "previous_response_id": self.last}

    def reply(self, data):
        _, _, last = data.partition(self.last_event)
        return json.loads(last.partition(b"data: ")[2].splitlines()[0])["response"]

    def text(self, answer):
        (message,) = [one for one in answer["output"] if one["type"] == "message"]
        return "".join(part["text"] for part in message["content"])


class Conversation(Responses):
    """`conversation`."""

    def begin(self, gateway):
        if self.last is None:
            _, data = gateway.ask("/v1/conversations", {})
            self.conversation = json.loads(data)["id"]
            return
        path = f"/v1/conversations/{self.conversation}/items?order=asc&limit=100&after="
        users, replies, after = [], [], ""
        while after is not None:
            _, data = gateway.ask(path + after)
            page = json.loads(data)
            for one in page["data"]:
                text = "".join(part["text"] for part in one["content"])
                (users if one["role"] == "user" else replies).append(text)
            after = page["last_id"] if page["has_more"] else None
        assert users in (self.said, [*self.said, self.sending])
        assert replies == ["|".join(users[: at + 1]) for at in range(len(users))]
        self.said = users

    def body(self, text):
        return {"input": text, "conversation": self.conversation}


class Thread(Client):
    """`thread`."""

    path = "/v1/messages"
    last_event = b"event: message_stop"

    def body(self, text):
        thread = {"type": "continue", "previous_message_id": self.last}
        if self.last is None:
            thread = {"type": "create"}
        message = {"role": "user", "content": text}
        return {"max_tokens": 4000, "messages": [message], "thread": thread}

    def reply(self, data):
        events = [json.loads(line[6:]) for line in data.splitlines() if line[:6] == b"data: "]
        text = "".join(one.get("delta", {}).get("text", "") for one in events)
        (start,) = [one["message"] for one in events if one["type"] == "message_start"]
        return {"id": start["id"], "content": [{"type": "text", "text": text}]}

    def text(self, answer):
        return "".join(one.get("text", "") for one in answer["content"])


def test_a_client_finds_the_last_reply_it_was_given(place):
    chance = random.Random(19)  # noqa: S311  no secret
    clients = [Responses(), Conversation(), Thread(), Thread()]
    failed = []

    def run(client, gateway):
        try:
            client.run(gateway)
        except BaseException as error:  # noqa: BLE001  reported by the test
            failed.append((type(client).__name__, error))

    for _ in range(KILLS):
        gateway = Running(place)
        before = [one.given for one in clients]
        running = [threading.Thread(target=run, args=(one, gateway)) for one in clients]
        for one in running:
            one.start()
        end = time.monotonic() + PATIENCE
        while not failed and any(
            one.given == had for one, had in zip(clients, before, strict=True)
        ):
            assert time.monotonic() < end
            time.sleep(0.01)
        time.sleep(chance.uniform(0.0, 0.4))
        gateway.kill()
        for one in running:
            one.join()
        assert not failed
    assert all(one.given >= KILLS for one in clients)
