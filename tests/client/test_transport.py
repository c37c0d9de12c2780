"""The connection itself: what hosts, proxies and certificates do, with bytes written by hand."""

import asyncio
import ssl
from datetime import UTC, datetime, timedelta
from unittest.mock import patch

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from canonicall.client.aiohttp_transport import AiohttpTransport
from canonicall.client.config import ClientConfig
from canonicall.client.model import HttpModel
from canonicall.client.retrying import RetryPolicy
from canonicall.client.secrets import Secret
from canonicall.client.sigv4 import AwsCredentials
from canonicall.client.transport import Timeouts
from canonicall.events import TextAdded
from canonicall.facts.registry import get_target
from canonicall.runtime.model import ModelError
from loopback import listening

from client_support import KEY, asked, client, kinds, refused, simulator, target
from client_support import question as request


async def test_a_provider_that_quotes_the_key_is_not_quoted():
    """Whatever is said about a request, the key in it is hidden."""
    answer = b'{"error":{"message":"Incorrect API key provided: ' + KEY.encode() + b'"}}'
    async with one_answer(
        b"HTTP/1.1 401 No\r\ncontent-length: %d\r\n\r\n" % len(answer) + answer
    ) as model:
        error = await refused(model, "openai")
    assert "Incorrect API key provided: ***" in error.message
    assert KEY not in f"{error!r}{model.told}"


async def test_a_redirect_is_not_followed():
    head = b"HTTP/1.1 307 No\r\nlocation: https://elsewhere.example/v1?key=1\r\ncontent-length: 0\r\n\r\n"
    async with one_answer(head) as model:
        error = await refused(model, "openai")
    assert error.kind == "redirect"
    assert "https://elsewhere.example/v1 Set base_url" in error.message


async def test_a_page_of_a_gateway_is_an_error_like_any_other():
    page = b"<html>Bad gateway</html>"
    head = b"HTTP/1.1 502 No\r\ncontent-type: text/html\r\ncontent-length: %d\r\n\r\n" % len(page)
    async with one_answer(head + page) as model:
        error = await refused(model, "openai")
    assert error.status == 502
    assert "Bad gateway" in error.message
    assert kinds(model) == ["retrying", "retrying"]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b'{"error":{"message":"Overloaded","type":"overloaded_error"}}', "Overloaded"),
        (b'{"surprise":1}', "cannot be read"),
        (b"{", "cannot be read"),
    ],
)
async def test_an_error_in_a_body_that_says_200(body, told):
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    async with one_answer(head % len(body) + body) as model:
        error = await refused(model, "openai")
    assert told in error.message


async def test_nobody_listens():
    config = ClientConfig(
        {"openai": {"key": KEY, "base_url": "http://127.0.0.1:1/v1"}}, retry=RetryPolicy(attempts=2)
    )
    told = []

    async def sleep(seconds):
        await asyncio.sleep(0)

    async with HttpModel(config, notices=told.append, sleep=sleep) as model:
        error = await refused(model, "openai")
    assert error.kind == "connection"
    assert "http://127.0.0.1:1/v1/chat/completions: no connection" in error.message
    assert [one.kind for one in told] == ["retrying"]


async def test_a_connection_that_is_closed_without_an_answer_is_tried_again():
    async with one_answer(b"") as model:
        error = await refused(model, "openai")
    assert error.kind == "connection"
    assert kinds(model) == ["retrying", "retrying"]


@pytest.mark.parametrize(
    "head", [b"", b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"]
)
async def test_a_host_that_says_nothing_is_not_waited_for(head):
    """The head and the first bytes behind it are one wait."""
    waits = Timeouts(first_byte=0.05)
    async with one_answer(head, gone=asyncio.Event(), timeouts=waits) as model:
        error = await refused(model, "openai")
    assert error.kind == "timeout"
    assert "no answer within 0.05 s. The model may need longer" in error.message
    assert kinds(model) == ["retrying", "retrying"]


async def test_a_header_that_cannot_be_sent_is_told_without_showing_it():
    async with Host(b"HTTP/1.1 200 OK\r\n\r\n") as port:
        own = {"key": f"{KEY}\nx: y", "base_url": f"http://127.0.0.1:{port}"}
        async with HttpModel(ClientConfig({"openai": own})) as model:
            error = await refused(model, "openai")
    assert error.kind == "setting"
    assert "a header for it, cannot be sent" in error.message
    assert KEY not in error.message


async def test_a_certificate_that_nobody_vouches_for_is_not_trusted(tmp_path):
    """The key is not sent to a host that cannot prove who it is; with its certificate it can."""
    own, trusting = certificate(tmp_path)
    body = b'{"choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}'
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    lines = []
    async with Host(head % len(body) + body, lines=lines, tls=own) as port:
        config = ClientConfig({"openai": {"key": KEY, "base_url": f"https://localhost:{port}/v1"}})
        async with HttpModel(config) as model:
            error = await refused(model, "openai")
        assert (error.kind, lines) == ("setting", [])
        assert "its certificate is not trusted" in error.message
        async with HttpModel(config, transport=AiohttpTransport(tls=trusting)) as model:
            _, reply = await asked(model, request(), target("openai"))
    assert reply.message.text == "Hi"


def certificate(folder):
    """A new certificate for this machine: the server's side of it, and a client's that trusts it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    begin = datetime.now(UTC) - timedelta(days=1)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), 1, begin, begin + timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem, path = serialization.Encoding.PEM, folder / "own.pem"
    plain = serialization.NoEncryption()
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain)
    path.write_bytes(private + made.public_bytes(pem))
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(path)
    return server, ssl.create_default_context(cafile=path)


async def test_whoever_goes_away_breaks_the_connection_off():
    """A cancelled question closes its connection at once, in the midst of a stream."""
    gone = asyncio.Event()
    begun = asyncio.Event()
    chunk = b'data: {"choices":[{"index":0,"delta":{"content":"Hello"}}]}\n\n'
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"

    async def ask(model):
        async for event in model.ask(request(), target("openai")):
            if isinstance(event, TextAdded):
                begun.set()

    async with one_answer(head + chunk, gone=gone) as model:
        asking = asyncio.ensure_future(ask(model))
        await begun.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        async with asyncio.timeout(10):
            await gone.wait()


async def test_a_host_that_never_hangs_up_does_not_keep_the_reply_back():
    """Behind the end of the reply there may come usage; nobody waits for it for long."""
    chunks = (
        b'data: {"choices":[{"index":0,"delta":{"content":"Hello"}}]}\n\n'
        b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
    )
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
    waits = Timeouts(after_end=0.01)
    async with one_answer(head + chunks, gone=asyncio.Event(), timeouts=waits) as model:
        events, reply = await asked(model, request(), target("openai"))
    assert events[-1].complete
    assert reply.message.text == "Hello"


async def test_connections_are_used_again():
    ports = set()
    body = b'{"choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}'
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    async with one_answer(head % len(body) + body, ports=ports) as model:
        for _ in range(3):
            await asked(model, request(), target("openai"))
    assert len(ports) == 1


async def test_requests_go_through_the_proxy():
    """The proxy is asked with the whole address, and the provider's host is never looked up."""
    asked_for = []
    body = b'{"choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}'
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    async with Host(head % len(body) + body, lines=asked_for) as port:
        own = {
            "key": KEY,
            "base_url": "http://provider.invalid/v1",
            "proxy": f"http://127.0.0.1:{port}",
        }
        async with HttpModel(ClientConfig({"openai": own})) as model:
            _, reply = await asked(model, request(), target("openai"))
    assert reply.message.text == "Hi"
    assert asked_for == ["POST http://provider.invalid/v1/chat/completions HTTP/1.1"]


def test_a_client_lives_through_several_event_loops():
    async def ask(model):
        return (await asked(model, request(), target("openai")))[1].message.text

    async def run():
        async with client(simulator("openai", "One.")) as model:
            return await ask(model)

    assert [asyncio.run(run()) for _ in range(2)] == ["One.", "One."]


class Host:
    """A port that gives every request the same bytes; with `gone` it then waits for the client."""

    def __init__(self, answer, *, gone=None, ports=None, lines=None, tls=None, hang_up=False):
        self.answer, self.gone, self.tls = answer, gone, tls
        self.requests = []
        self.hang_up = hang_up or not answer
        self.ports, self.lines = (
            ports if ports is not None else set(),
            lines if lines is not None else [],
        )

    async def __aenter__(self):
        self.listening = listening(self.serve, ssl=self.tls)
        return await self.listening.__aenter__()

    async def __aexit__(self, *error):
        await self.listening.__aexit__(*error)

    async def serve(self, reader, writer):
        self.ports.add(writer.get_extra_info("peername")[1])
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            self.lines.append(head.partition(b"\r\n")[0].decode())
            length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
            self.requests.append((head, await reader.readexactly(length)))
            writer.write(self.answer)
            await writer.drain()
            if self.gone is not None:
                await reader.read()
                self.gone.set()
                return
            if self.hang_up:
                return


class one_answer:  # noqa: N801  reads as a noun of the test
    """A client for a provider that gives every request the same bytes."""

    def __init__(self, answer, *, timeouts=None, **options):
        self.timeouts = timeouts
        self.port = Host(answer, **options)

    async def __aenter__(self):
        port = await self.port.__aenter__()
        told = []

        async def sleep(seconds):
            await asyncio.sleep(0)

        own = {"key": KEY, "base_url": f"http://127.0.0.1:{port}/v1"}
        retry = RetryPolicy(attempts=3)
        config = ClientConfig({"openai": own}, retry=retry, timeouts=self.timeouts)
        self.model = HttpModel(config, notices=told.append, sleep=sleep)
        self.model.told = told
        return self.model

    async def __aexit__(self, *error):
        await self.model.close()
        await self.port.__aexit__(*error)


STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("overloaded_error", ["retrying", "retrying"]),
        ("rate_limit_error", ["retrying", "retrying"]),
        ("invalid_request_error", []),
    ],
)
async def test_an_error_before_the_first_words_of_a_stream(kind, told):
    """Nothing was passed on: what may pass is tried again, as if it had been the status."""
    event = b'data: {"error":{"message":"No.","type":"%s"}}\n\n' % kind.encode()
    async with one_answer(STREAM + event) as model:
        error = await refused(model, "openai")
    assert f"an error in the stream ({kind}): No." in error.message
    assert kinds(model) == told


async def test_what_arrives_is_what_was_signed():
    """Judged by botocore, from the bytes on the wire: no quote of the address was changed on the way."""
    stamp = 1767225600.0
    aws = AwsCredentials("AKID", Secret("hush/hush"), Secret("session"))
    model_id = "arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-v1:0"
    port = Host(b"HTTP/1.1 400 No\r\ncontent-length: 0\r\n\r\n")
    async with port as number:
        base = f"http://127.0.0.1:{number}"
        own = {"aws": aws, "base_url": base, "values": {"region": "us-east-1"}}
        async with HttpModel(ClientConfig({"bedrock": own}), now=lambda: stamp) as model:
            with pytest.raises(ModelError):
                await asked(model, request(), get_target(f"bedrock:{model_id}"))
    head, body = port.requests[0]
    line, *fields = head.decode().strip().split("\r\n")
    path = line.split(" ")[1]
    assert path.endswith("inference-profile%2Fus.anthropic.claude-v1%3A0/converse-stream")
    sent = {name.lower(): value.strip() for name, value in (one.split(":", 1) for one in fields)}
    signer = SigV4Auth(Credentials("AKID", "hush/hush", "session"), "bedrock", "us-east-1")
    signed = {name: sent[name] for name in ("content-type", "host")}
    judged = AWSRequest("POST", base + path, headers=signed, data=body)
    with patch("botocore.auth.get_current_datetime") as clock:
        clock.return_value = datetime.fromtimestamp(stamp, UTC)
        signer.add_auth(judged)
    assert sent["authorization"] == judged.headers["Authorization"]
    assert sent["x-amz-security-token"] == "session"


async def test_a_proxy_that_is_not_there_is_told_without_its_password():
    own = {"key": KEY, "proxy": f"http://me:{KEY}@127.0.0.1:1"}
    config = ClientConfig({"openai": own}, retry=RetryPolicy(attempts=1))
    async with HttpModel(config) as model:
        error = await refused(model, "openai")
    assert error.kind == "connection"
    assert "the proxy cannot be reached" in error.message
    assert KEY not in f"{error!r}"


async def test_a_body_that_breaks_before_its_end_is_asked_for_again():
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 999\r\nconnection: close\r\n\r\n"
    async with one_answer(head + b'{"choices":', hang_up=True) as model:
        error = await refused(model, "openai")
    assert "the connection broke before the end of the answer" in error.message
    assert kinds(model) == ["retrying", "retrying"]


async def test_a_stream_under_the_name_of_a_whole_body_is_read_as_what_it_is():
    body = (
        b'data: {"choices":[{"index":0,"delta":{"content":"Hello"}}]}\n\n'
        b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
    )
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    async with one_answer(head % len(body) + body) as model:
        events, reply = await asked(model, request(), target("openai"))
    assert events[-1].complete
    assert reply.message.text == "Hello"
