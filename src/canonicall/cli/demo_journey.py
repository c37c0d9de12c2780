"""The journey of `canonicall demo`: one conversation that a different provider continues each time.

Every stop is a simulated provider with the rules of the real one. It gets the whole conversation so
far, asks for tools, gets their results and answers; or the user interrupts it, and the next one has
to live with that. Out: one `Hop` for each stop, facts only.
"""

from collections import Counter
from collections.abc import Iterator

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from canonicall.blocks import Media, Message, Text, ToolCall, ToolResult
from canonicall.codec.decode import decode_response
from canonicall.codec.encode import encode_request
from canonicall.codec.streams import StreamDecoder
from canonicall.conversation import Conversation
from canonicall.facts.names import FALLBACK
from canonicall.facts.registry import get_target, provider_names
from canonicall.facts.target import Target
from canonicall.folding import fold
from canonicall.outcome import Outcome
from canonicall.reply import Reply
from canonicall.request import Request, Tool
from canonicall.testing.exchange import SimRequest
from canonicall.testing.habits import models_of, path_of
from canonicall.testing.script import ScriptedModel, Step, call, says, thought
from canonicall.testing.simulator import Simulator
from canonicall.wire.formats import get_format

_NOTHING = {"type": "object", "properties": {}}
_PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOLS = (
    Tool("read_file", "Read a file of the project.", _PATH),
    Tool("screenshot", "Take a picture of the running program.", _NOTHING),
    Tool("run_tests", "Run the tests.", _NOTHING),
    Tool("apply_patch", "Change a file.", _PATH),
)
_PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5E"
    "rkJggg=="
)
_RESULTS = {
    "read_file": ToolResult(content=(Text(text="def last_day(month): ..."),)),
    "screenshot": ToolResult(
        content=(Text(text="The window:"), Media(media_type="image/png", data=_PIXEL))
    ),
    "run_tests": ToolResult(content=(Text(text="1 failed, 41 passed"),), error=True),
}
_FIRST_STOPS = (
    "anthropic",
    "openai",
    "gemini",
    "mistral",
    "kimi",
    "bedrock",
    "deepseek",
    "cohere",
    "openai/openai-responses",
    "xai",
    "ollama",
)
CANCELLED = "the user cancelled"


class Scene(Struct, frozen=True):
    """What happens at a stop: a question, what the model says to it, and whether it is let."""

    name: str
    question: str
    steps: tuple[Step, ...]
    is_cancelled: bool = False


SCENES = (
    Scene(
        "two calls at once",
        "Please read the code and its test.",
        (
            says(
                thought("Both files at once."),
                "I will read both.",
                call("read_file", path="code.py"),
                call("read_file", path="test.py"),
            ),
            "Leap years are not handled.",
        ),
    ),
    Scene(
        "an image as result",
        "What does the program show?",
        (says(call("screenshot")), "It shows the wrong day."),
    ),
    Scene(
        "cancelled while running",
        "Fix it, then run the tests.",
        (says(call("apply_patch", path="code.py"), call("run_tests")),),
        is_cancelled=True,
    ),
    Scene(
        "a tool that fails",
        "Is it fixed?",
        (says(thought("The tests will tell."), call("run_tests")), "No: one test still fails."),
    ),
)


class Hop(Struct, frozen=True):
    """What one provider was sent, and what it said to that."""

    provider: str
    format: str
    model: str
    scene: str
    messages: int
    """How many messages the body had the last time."""
    calls: int
    first_id: str
    """The first call's id as this provider got it; empty where it wants none."""
    repairs: dict[str, int]
    statuses: tuple[int, ...]
    error: str = ""

    @property
    def name(self) -> str:
        return stop_name(self.provider, self.format)

    @property
    def is_accepted(self) -> bool:
        return all(status == 200 for status in self.statuses)


def stop_name(provider: str, format: str) -> str:
    """A provider, with the format where it is not the usual one."""
    is_usual = get_target(provider).format == format
    return provider if is_usual else f"{provider} {format.partition('-')[2] or format}"


def route() -> tuple[str, ...]:
    """All providers, and the first one again: what it signed is still valid then."""
    known = [stop.partition("/")[0] for stop in _FIRST_STOPS]
    others = [name for name in provider_names() if name not in (*known, FALLBACK)]
    return (*_FIRST_STOPS, *others, _FIRST_STOPS[0])


def travel(talk: Conversation) -> Iterator[Hop]:
    """Live through the journey; `talk` grows with every hop."""
    talk.system("You look after a small software project.")
    simulators: dict[str, Simulator] = {}
    for number, stop in enumerate(route()):
        provider = stop.partition("/")[0]
        model = models_of(provider)[-1]
        target = get_target(f"{stop}:{model}")
        simulator = simulators.setdefault(provider, Simulator(provider))
        yield _hop(talk, target, SCENES[number % len(SCENES)], simulator)


def _hop(talk: Conversation, target: Target, scene: Scene, simulator: Simulator) -> Hop:
    """One scene at one provider."""
    simulator.model = ScriptedModel(scene.steps)
    talk.user(scene.question)
    statuses: list[int] = []
    error = ""
    for _ in scene.steps:
        encoded = encode_request(Request(talk, TOOLS), target)
        status, reply, error = ask(simulator, encoded.data, target)
        statuses.append(status)
        if reply is None:
            break
        appended = talk.append(reply.message)
        if scene.is_cancelled:
            _cancel(talk, [one.id for one in appended.calls])
        elif appended.calls:
            _answer(talk, appended.calls)
    sent = encoded.transcript.diagnostics
    repairs = Counter(finding.code for finding in encoded.transcript.report)
    if sent.made_up:
        repairs["cancelled_call_answered"] = len(sent.made_up)
    return Hop(
        provider=target.provider,
        format=target.format,
        model=target.model,
        scene=scene.name,
        messages=len(encoded.transcript.turns),
        calls=len(sent.emitted_calls),
        first_id=next(iter(sent.emitted_calls), ""),
        repairs=dict(repairs),
        statuses=tuple(statuses),
        error=error,
    )


def ask(simulator: Simulator, data: bytes, target: Target) -> tuple[int, Reply | None, str]:
    """Send a body: the status, and the reply or the words of the error."""
    headers = {"authorization": "Bearer demo", "x-api-key": "demo", "x-goog-api-key": "demo"}
    path = path_of(target.format, target.model)
    if target.format == "ollama":
        data = data[:-1] + b',"stream":false}'
    response = simulator.answer(SimRequest.of("POST", path, data, headers))
    if response.status != 200:
        error = get_format(target.format).decode_error(msgspec.json.decode(response.data))
        return response.status, None, error.message
    return response.status, _reply_in(response.data, target), ""


def _reply_in(data: bytes, target: Target) -> Reply:
    """The reply in an answer: in pieces where the host has no other."""
    if not target.stream_only:
        return decode_response(data, target.format, provider=target.provider)
    decoder = StreamDecoder(target.format, provider=target.provider)
    return fold([*decoder.feed(data), *decoder.close()])


def _cancel(talk: Conversation, ids: list[str]) -> None:
    """The user stops everything: the first call is running, the others have not begun."""
    running, *waiting = ids
    talk.close(running, Outcome.UNKNOWN, why=CANCELLED)
    for id in waiting:
        talk.close(id, Outcome.NOT_RUN, why=CANCELLED)


def _answer(talk: Conversation, calls: tuple[ToolCall, ...]) -> None:
    """Run the tools and tell what they gave, the last first: tools end in any order."""
    for one in reversed(calls):
        talk.append(Message("tool", (replace(_RESULTS[one.name], call_id=one.id),)))
