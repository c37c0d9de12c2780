"""Servers that speak Chat Completions and print calls as text, each in a form of its own.

A task of two steps: the model looks an order up, then asks for its status by the number it got.
"""

import json
import re
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MODEL = "odd-model"
TASK = "What is the status of Ann's order?"
ANSWER = "Order 4711 has been shipped."
_WANTED = re.compile(r"(\w+) = (.+?)(?=, \w+ = |\. Write)")


def in_xml(value):
    text = value if isinstance(value, str) else json.dumps(value)
    for char, escape in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        text = text.replace(char, escape)
    return text


def attributes(name, arguments):
    return "".join(
        (f'<action do="{name}"', *(f' {k}="{in_xml(v)}"' for k, v in arguments.items()), " />")
    )


def elements(name, arguments):
    inner = "".join(f"<{key}>{in_xml(value)}</{key}>" for key, value in arguments.items())
    return f"<step><fn>{name}</fn><with>{inner}</with></step>"


def tool_attributes(name, arguments):
    return "".join(
        (f'<tool name="{name}"', *(f' {k}="{in_xml(v)}"' for k, v in arguments.items()), "/>")
    )


def tool_elements(name, arguments):
    inner = "".join(f"<{key}>{in_xml(value)}</{key}>" for key, value in arguments.items())
    return f"<tool><name>{name}</name><args>{inner}</args></tool>"


def xai(name, arguments):
    inner = "".join(
        f'<parameter name="{key}">{in_xml(value)}</parameter>' for key, value in arguments.items()
    )
    return f'<xai:function_call name="{name}">{inner}</xai:function_call>'


def invented(name, arguments):
    return f"@@CALL {name}|{json.dumps(arguments)}@@"


FORMS = {
    "attribute tags": attributes,
    "tool tags with attributes": tool_attributes,
    "nested tags": elements,
    "nested tool tags": tool_elements,
    "xAI tags": xai,
    "invented": invented,
}


def prose(name, arguments):
    """No form at all."""
    return f"I would now use {name}, with {' and '.join(f'{k} {v}' for k, v in arguments.items())}."


@contextmanager
def odd_server(write):
    """The base address of a server that prints calls as `write` does."""
    handler = type("Handler", (_Handler,), {"write": staticmethod(write), "seen": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def said_by_model(body, write):
    """What the model prints next."""
    messages = body["messages"]
    names = [one["function"]["name"] for one in body.get("tools", ())]
    asked = max(at for at, one in enumerate(messages) if one["role"] == "user")
    results = [one["content"] for one in messages[asked:] if one["role"] == "tool"]
    question = messages[asked]["content"]
    if "find_order" in names:
        if not results:
            return "I look it up.\n" + write("find_order", {"customer": "Ann", "most": 1})
        if len(results) == 1:
            return write("order_status", {"order": int(results[0]), "detailed": True})
        return f"Order {4711} has been {results[1]}."
    if results or body.get("tool_choice") == "none":
        return "Hello."
    called = [name for name in names if name in question]
    wanted = {key: _value(text) for key, text in _WANTED.findall(question)} or {"city": "Paris"}
    return "\n".join(write(name, wanted) for name in called) or "Hello."


def _value(text):
    return json.loads(text) if text.isdigit() or text in ("true", "false") else text


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self._json(200, {"object": "list", "data": [{"id": MODEL, "object": "model"}]})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path != "/v1/chat/completions":
            self._json(404, {"error": {"message": "not found", "type": "invalid_request_error"}})
        elif not body.get("messages"):
            self._json(
                400, {"error": {"message": "messages is required", "type": "invalid_request_error"}}
            )
        elif body.get("stream"):
            self._stream(said_by_model(body, self.write))
        else:
            message = {"role": "assistant", "content": said_by_model(body, self.write)}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            self._json(200, {**_HEAD, "object": "chat.completion", "choices": [choice]})

    def _stream(self, text):
        pieces = [text[at : at + 3] for at in range(0, len(text), 3)]
        deltas = [{"role": "assistant", "content": ""}, *({"content": one} for one in pieces)]
        choices = [{"index": 0, "delta": one, "finish_reason": None} for one in deltas]
        choices.append({"index": 0, "delta": {}, "finish_reason": "stop"})
        head = {**_HEAD, "object": "chat.completion.chunk"}
        chunks = [json.dumps({**head, "choices": [one]}) for one in choices]
        data = "".join(f"data: {one}\n\n" for one in (*chunks, "[DONE]")).encode()
        self._send(200, "text/event-stream", data)

    def _json(self, status, body):
        self._send(status, "application/json", json.dumps(body).encode())

    def _send(self, status, kind, data):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args):
        pass


_HEAD = {"id": "chatcmpl-1", "created": 1, "model": MODEL}
