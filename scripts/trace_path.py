"""How many files one request passes: `python -m scripts.trace_path [REV ...] [--files]`.

Counted are the files of the package in which any function is entered during one request, in any
thread, once everything is loaded and requests of the same kind have gone before; and the lines of
these files. Three paths are followed:

- library: `encode_request(decode_request(body, "openai-chat"), "anthropic:...")`, with calls
- gateway: a streamed Chat Completions request to `canonicall serve`, a question and an answer in
  text, with Anthropic's format upstream
- calls: the same, with calls in the request and in the reply

Revisions are named as git names them; "" is the working tree. Each runs in a process that imports
it (`scripts.revisions`), started by the names that users know, so one file serves every revision.
The upstream of the gateway is in this process: nothing of the package is needed for it.
"""

import argparse
import http.client
import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import entry_points
from pathlib import Path
from types import FrameType
from typing import Any

from scripts.revisions import ROOT, Revision, checkout

MODEL = "claude-sonnet-4-5"
WARM_UPS = 4
STEPS = 5


class Tracer:
    """The files in which a function was entered while it was on."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._is_on = False

    def install(self) -> None:
        """Look at every call, in this thread and in those that are started later."""
        threading.setprofile(self._look)
        sys.setprofile(self._look)

    def switch(self, *, on: bool) -> list[str]:
        """Begin anew, or end; the files seen so far."""
        seen, self._seen, self._is_on = sorted(self._seen), set(), on
        return seen

    def _look(self, frame: FrameType, event: str, _: Any) -> None:
        if self._is_on and event == "call":
            self._seen.add(frame.f_code.co_filename)


def request_body(mark: str, *, calls: bool = True, streams: bool = False) -> dict[str, Any]:
    """A Chat Completions request, maybe with a few calls; `mark` makes it distinct."""
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "You are a careful assistant."},
        {"role": "user", "content": f"Find the fault {mark}."},
    ]
    for number in range(STEPS if calls else 0):
        id = f"call_{mark}_{number}"
        function = {"name": "read_file", "arguments": json.dumps({"path": f"{mark}/{number}"})}
        call = {"id": id, "type": "function", "function": function}
        messages.append({"role": "assistant", "content": f"Step {number}.", "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": id, "content": f"text of {mark}"})
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    tool = {"type": "function", "function": {"name": "read_file", "parameters": schema}}
    return {
        "model": f"anthropic:{MODEL}",
        "max_tokens": 500,
        "messages": messages,
        **({"tools": [tool]} if calls else {}),
        **({"stream": True} if streams else {}),
    }


def reply_stream(*, calls: bool) -> bytes:
    """Text, and maybe a call, as Anthropic streams them."""
    call = {"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {}}
    argument = {"type": "input_json_delta", "partial_json": '{"path": "a"}'}
    message: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 9, "output_tokens": 1},
    }
    text = {"type": "text", "text": ""}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": text},
        *(_text_delta(f"word {number} ") for number in range(20)),
        {"type": "content_block_stop", "index": 0},
    ]
    if calls:
        events += [
            {"type": "content_block_start", "index": 1, "content_block": call},
            {"type": "content_block_delta", "index": 1, "delta": argument},
            {"type": "content_block_stop", "index": 1},
        ]
    ended = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
    events += [
        {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    ]
    return b"".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n".encode() for one in events)


def _text_delta(text: str) -> dict[str, Any]:
    delta = {"type": "text_delta", "text": text}
    return {"type": "content_block_delta", "index": 0, "delta": delta}


class Upstream(BaseHTTPRequestHandler):
    """Gives every request a stream, with a call where tools are offered."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Read a request and answer it."""
        body = self.rfile.read(int(self.headers["content-length"]))
        data = reply_stream(calls=b'"tools"' in body)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *arguments: object) -> None:
        """Print nothing."""


@contextmanager
def upstream() -> Iterator[str]:
    """The address of an upstream on this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    server.daemon_threads = True
    serving = threading.Thread(target=server.serve_forever, daemon=True)
    serving.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def trace_library() -> None:
    """In a process of its own: print the files of the library's path."""
    from canonicall import decode_request, encode_request  # noqa: PLC0415  the revision's own

    tracer = Tracer()
    bodies = [json.dumps(request_body(f"m{at}")).encode() for at in range(WARM_UPS + 1)]
    for at, body in enumerate(bodies):
        if at == WARM_UPS:
            tracer.install()
            tracer.switch(on=True)
        _ = encode_request(decode_request(body, "openai-chat"), f"anthropic:{MODEL}").data
    sys.stdout.write(json.dumps(tracer.switch(on=False)) + "\n")


def trace_gateway(settings: str) -> None:
    """In a process of its own: serve, and print the files seen whenever a line is read."""
    tracer = Tracer()
    tracer.install()

    def obey() -> None:
        for line in sys.stdin:
            files = tracer.switch(on=line.strip() == "on")
            sys.stdout.write(f"FILES {json.dumps(files)}\n")
            sys.stdout.flush()

    threading.Thread(target=obey, daemon=True).start()
    sys.argv = ["canonicall", "serve", "-c", settings, "--port", "0"]
    (command,) = entry_points(group="console_scripts", name="canonicall")
    sys.exit(command.load()())


def library_files(revision: Revision) -> list[str]:
    """The files of the package that the library's path enters."""
    done = subprocess.run(  # noqa: S603  what is run is written here
        [revision.python, "-m", "scripts.trace_path", "--trace", "library"],
        cwd=ROOT,
        env=revision.environment(),
        capture_output=True,
        check=True,
        text=True,
    )
    return _of_package(json.loads(done.stdout), revision)


def gateway_files(revision: Revision, *, calls: bool = False) -> list[str]:
    """The files of the package that a streamed request enters."""
    with upstream() as address, tempfile.TemporaryDirectory() as folder:
        settings = Path(folder) / "gateway.json.yaml"
        provider = {"key": "sk-none", "base_url": address}
        settings.write_text(json.dumps({"providers": {"anthropic": provider}}), encoding="utf-8")
        process = subprocess.Popen(  # noqa: S603  what is run is written here
            [revision.python, "-m", "scripts.trace_path", "--trace", "gateway", str(settings)],
            cwd=ROOT,
            env=revision.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            return _of_package(_asked(process, calls=calls), revision)
        finally:
            process.terminate()
            process.communicate(timeout=60)


def _asked(process: subprocess.Popen[str], *, calls: bool) -> list[str]:
    assert process.stdin is not None
    assert process.stdout is not None
    port = 0
    while not port:
        line = process.stdout.readline()
        if not line:
            raise SystemExit("The gateway ended before it served.")
        _, found, rest = line.partition("http://127.0.0.1:")
        digits = rest.partition("/")[0].split(maxsplit=1)[:1]
        port = int(digits[0]) if found and digits and digits[0].isdigit() else 0
    for at in range(WARM_UPS):
        _send(port, f"w{at}", calls=calls)

    def told(word: str) -> list[str]:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(word + "\n")
        process.stdin.flush()
        while not (line := process.stdout.readline()).startswith("FILES "):
            if not line:
                raise SystemExit("The gateway ended before it answered.")
        files: list[str] = json.loads(line.removeprefix("FILES "))
        return files

    told("on")
    _send(port, "traced", calls=calls)
    return told("off")


def _send(port: int, mark: str, *, calls: bool) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    data = json.dumps(request_body(mark, calls=calls, streams=True)).encode()
    connection.request("POST", "/v1/chat/completions", data, {"content-type": "application/json"})
    response = connection.getresponse()
    text = response.read()
    connection.close()
    if (
        response.status != http.HTTPStatus.OK
        or b"[DONE]" not in text
        or calls != (b"read_file" in text)
    ):
        raise SystemExit(f"The gateway answered {response.status}: {text[:500]!r}")


def _of_package(files: list[str], revision: Revision) -> list[str]:
    root = f"{revision.source / 'canonicall'}/"
    return [one.removeprefix(root) for one in files if one.startswith(root)]


PATHS: dict[str, Callable[[Revision], list[str]]] = {
    "library": library_files,
    "gateway": gateway_files,
    "calls": partial(gateway_files, calls=True),
}


def lines_of(files: list[str], revision: Revision) -> int:
    """The lines of these files together."""
    texts = (revision.source / "canonicall" / one for one in files)
    return sum(one.read_bytes().count(b"\n") for one in texts)


def main() -> None:
    """Print a row for each path and revision."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("revisions", nargs="*", default=[""], help="the working tree by default")
    parser.add_argument("--files", action="store_true", help="print the files as well")
    asked = parser.parse_args()
    for name in asked.revisions:
        revision = checkout(name)
        for path, trace in PATHS.items():
            files = trace(revision)
            lines = lines_of(files, revision)
            sys.stdout.write(
                f"{revision.label:28} {path:8} {len(files):4} files {lines:7,} lines\n"
            )
            if asked.files:
                sys.stdout.write("".join(f"    {one}\n" for one in files))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--trace"]:
        if sys.argv[2] == "library":
            trace_library()
        else:
            trace_gateway(sys.argv[3])
    else:
        main()
