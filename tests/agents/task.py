"""What stands around an agent while it works: a model that knows what to do, and no way out."""

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from msgspec.structs import replace

from canonicall.blocks import ToolCall
from canonicall.reply import Reply
from canonicall.request import Request
from canonicall.testing import says, thought

_REFUSED = b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class TaskModel:
    """Does a task with the tools of whoever asks, and then tells what they said.

    What it has done so far it reads from the conversation alone, as a real model does.
    """

    def __init__(self, *batches: Sequence[ToolCall]) -> None:
        """`batches`: the calls of each reply."""
        self._batches = batches

    def __call__(self, request: Request) -> Reply:
        results = [one for message in request.conversation.messages for one in message.results]
        if not request.tools and not results:
            return says("A small task")  # agents ask for a title in a request of its own
        due = 0
        for batch in self._batches:
            if len(results) <= due:
                calls = [replace(one, name=_offered(one.name, request)) for one in batch]
                return says(thought("What comes next?"), *calls)
            due += len(batch)
        return says("\n".join(["The tools said:", *(one.text for one in results)]))


def _offered(name: str, request: Request) -> str:
    """The name by which a tool was offered: a group it is in may stand before its own."""
    names = [tool.name for tool in request.tools]
    found = [one for one in names if one == name or one.endswith(f"__{name}")]
    assert found, f"{name} is not among {names}"
    return found[0]


class NoWayOut:
    """A proxy that lets nobody through, and remembers where they wanted to go."""

    def __init__(self, listening: socket.socket) -> None:
        self._listening = listening
        self.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        self.asked: list[str] = []

    @property
    def environment(self) -> dict[str, str]:
        """The variables that lead all traffic here, but for what stays on this machine."""
        named = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), self.url)
        named["NO_PROXY"] = "127.0.0.1,localhost"
        return named | {name.lower(): value for name, value in named.items()}

    def run(self) -> None:
        """Refuse until the port is closed."""
        while True:
            try:
                caller, _ = self._listening.accept()
            except OSError:
                return
            with caller:
                self.asked.append(caller.recv(4096).partition(b"\r\n")[0].decode("latin-1"))
                caller.sendall(_REFUSED)


@contextmanager
def no_way_out() -> Iterator[NoWayOut]:
    """Such a proxy, as long as the block lasts."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        proxy = NoWayOut(listening)
        thread = threading.Thread(target=proxy.run, daemon=True)
        thread.start()
        yield proxy
        listening.shutdown(socket.SHUT_RDWR)
        thread.join()
