"""Answers of canonicall as bytes of JSON, one function for each sort of question.

In: plain inputs. Out: bytes on one line, in a form that does not depend on the process. An
exception is an answer too: its type and its message. Only names that `canonicall` and
`canonicall.testing` export are used, so that modules may move between two revisions.
"""

import json
import re
from collections.abc import Callable, Iterable
from inspect import signature
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from canonicall import (
    Encoded,
    Event,
    Finding,
    Reply,
    Request,
    StreamDecoder,
    StreamEncoder,
    StreamEnded,
    decode_response,
    encode_request,
    encode_response,
    explain,
    get_target,
    parse,
    verify,
)
from canonicall.testing import SimRequest, Simulator
from scripts.golden.inputs import Vector

EMPTY = b"[]"
_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
_KEY = {"authorization": "Bearer any"}
# The built-in model calls tools where it is asked to; older revisions have no such option.
_CALLS: dict[str, Any] = (
    {"call_tools": "*"} if "call_tools" in signature(Simulator).parameters else {}
)
_encode = msgspec.json.Encoder(order="deterministic").encode


class Answer(NamedTuple):
    """What was answered, and what was reported with it."""

    content: bytes
    findings: tuple[Finding, ...] = ()

    @property
    def codes(self) -> bytes:
        """The codes that were reported, each once."""
        return ",".join(sorted({one.code for one in self.findings})).encode()

    @property
    def reported(self) -> bytes:
        """Code, place, action and fault of each finding."""
        if not self.findings:
            return EMPTY
        return as_json([(one.code, one.where, one.action, one.fault) for one in self.findings])

    @property
    def places(self) -> bytes:
        """Code and place of each finding."""
        return as_json([(one.code, one.where) for one in self.findings])

    @property
    def wording(self) -> bytes:
        """Code and sentences of each finding."""
        if not self.findings:
            return EMPTY
        return as_json([(one.code, _sentences(one)) for one in self.findings])


def as_json(value: Any) -> bytes:
    """A value as JSON on one line, also where it holds text that is not Unicode."""
    try:
        return _encode(value)
    except (UnicodeError, RecursionError):
        return json.dumps(msgspec.to_builtins(value)).encode()


def one_line(data: bytes) -> bytes:
    """JSON as it is if it is on one line, otherwise as a string."""
    return data if b"\n" not in data and b"\t" not in data else as_json(_text(data))


def failure(error: Exception) -> bytes:
    """An exception as an answer."""
    message = _ADDRESS.sub("0x", str(error))
    return as_json({"exception": type(error).__name__, "message": message})


def attempt(question: Callable[..., Answer], *arguments: Any) -> Answer:
    """The answer to a question, or the exception that there was in place of one."""
    try:
        return question(*arguments)
    except Exception as error:  # noqa: BLE001 -- every exception is an answer
        return Answer(failure(error))


def encoded(request: Request, target: str) -> tuple[Answer, Encoded | None]:
    """The body of a request for a target."""
    try:
        made = encode_request(request, target)
        return Answer(one_line(made.data), tuple(made.report)), made
    except Exception as error:  # noqa: BLE001 -- every exception is an answer
        return Answer(failure(error)), None


def violations(body: Any, target: Any) -> Answer:
    """What the judge finds in a body."""
    return Answer(EMPTY, tuple(verify(body, target)))


def stream_events(data: bytes, format: str, provider: str) -> tuple[Answer, list[Event]]:
    """The events of a stream, and themselves to be encoded again."""
    events: list[Event] = []

    def question() -> Answer:
        decoder = StreamDecoder(format, provider=provider)
        events.extend(decoder.feed(data))
        events.extend(decoder.close())
        plain, findings = _without_findings(events)
        answer = Answer(b"", findings)
        return answer._replace(content=_with_findings("events", as_json(plain), answer))

    return attempt(question), events


def stream_for(events: Iterable[Event], front: str) -> Answer:
    """The stream that a client of a front gets."""
    encoder = StreamEncoder(front)
    return Answer(as_json(_text(encoder.feed_all(events) + encoder.close())))


def reply_read(body: Any, format: str, provider: str) -> tuple[Answer, Reply | None]:
    """A whole reply."""
    try:
        reply = decode_response(body, format, provider=provider)
        answer = Answer(b"", reply.findings)
        plain = as_json(replace(reply, findings=()))
        return answer._replace(content=_with_findings("reply", plain, answer)), reply
    except Exception as error:  # noqa: BLE001 -- every exception is an answer
        return Answer(failure(error)), None


def reply_for(reply: Reply, front: str) -> Answer:
    """The reply that a client of a front gets."""
    return Answer(as_json(encode_response(reply, front)))


def vector_read(vector: Vector, syntax: str) -> Answer:
    """What is read in the text of a model."""
    parsed = parse(
        vector.text,
        syntax=syntax,
        tools=vector.tools,
        starts_in_thinking=vector.starts_in_thinking,
    )
    answer = Answer(b"", parsed.findings)
    read = {
        "syntax": parsed.syntax,
        "calls": parsed.calls,
        "text": parsed.text,
        "thinking": parsed.thinking,
    }
    return answer._replace(content=_with_findings("read", as_json(read), answer))


def explained(answered: Any, request: Any = None, target: str = "") -> tuple[Answer, bytes]:
    """The causes of an error that a provider answered, and the sentences about them."""
    try:
        known = get_target(target) if target else None
        entries = explain(answered, request=request, target=known).entries
        causes = [
            (one.code, one.places, [(it.code, it.where) for it in one.violations])
            for one in entries
        ]
        sentences = [(one.code, f"{one.meaning} {one.repair}") for one in entries]
        return Answer(as_json(causes)), as_json(sentences)
    except Exception as error:  # noqa: BLE001 -- every exception is an answer
        return Answer(failure(error)), EMPTY


def simulated(provider: str, signatures: Literal["own", "any"], path: str, body: Any) -> Answer:
    """Status and body of a simulator that is asked for the first time.

    Signatures in recordings are those of the real provider ("any"): a simulator cannot check them.
    """
    simulator = Simulator(provider, signatures=signatures, **_CALLS)
    response = simulator.answer(SimRequest.of("POST", path, json.dumps(body).encode(), _KEY))
    return Answer(as_json([response.status, _text(response.data)]))


def target_rules(name: str) -> Answer:
    """All rules of a target."""
    return Answer(as_json(get_target(name)))


def _text(data: bytes) -> str:
    """Bytes as text; those of a binary framing one by one."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _sentences(finding: Finding) -> str:
    """All that a finding or a violation says to people."""
    more = (getattr(finding, name, "") for name in ("error", "repair"))
    return " ".join(text for text in (finding.why, *more) if text)


def _without_findings(events: list[Event]) -> tuple[list[Event], tuple[Finding, ...]]:
    """The events without sentences, and the findings they had."""
    plain: list[Event] = []
    findings: list[Finding] = []
    for event in events:
        if isinstance(event, StreamEnded):
            findings += event.reply.findings
            plain.append(replace(event, reply=replace(event.reply, findings=())))
        else:
            plain.append(event)
    return plain, tuple(findings)


def _with_findings(name: str, content: bytes, answer: Answer) -> bytes:
    return b'{"%b":%b,"findings":%b}' % (name.encode(), content, answer.reported)
