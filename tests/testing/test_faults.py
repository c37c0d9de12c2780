"""Faults on demand: each of them does what it says, and a sound reader notices."""

import json

import pytest

from canonicall import detect_syntax
from canonicall.codec.streams import StreamDecoder
from canonicall.errors import UnknownName
from canonicall.testing.exchange import Pause
from canonicall.testing.faults import HEADER, Fault, Schedule, faults_in
from canonicall.testing.simulator import Simulator
from canonicall.verify import verify_stream
from testing.asking import ASKED, CHAT, NAMES, ask, provider_of, stream, whole

every_format = pytest.mark.parametrize("format", ASKED)


def decoded(data, format):
    """The reply a stream adds up to, and whether it had come to its end."""
    decoder = StreamDecoder(format)
    decoder.feed(data)
    last = decoder.close()[-1]
    return last.reply, last.complete


def test_a_schedule_gives_each_answer_its_faults():
    schedule = Schedule(["rate_limited", None, ["reused_ids", Fault.INDEX_ZERO]])
    assert [schedule.take() for _ in range(4)] == [
        {Fault.RATE_LIMITED},
        set(),
        {Fault.REUSED_IDS, Fault.INDEX_ZERO},
        set(),
    ]


def test_a_schedule_can_begin_anew():
    schedule = Schedule([Fault.OVERLOADED, None], repeat=True)
    assert [bool(schedule.take()) for _ in range(5)] == [True, False, True, False, True]
    assert Schedule([], repeat=True).take() == frozenset()


def test_a_fault_nobody_knows_is_told_with_the_nearest():
    with pytest.raises(UnknownName, match="Did you mean 'cut_stream'"):
        Schedule(["cut_streams"])


def test_faults_are_read_from_a_header():
    assert faults_in(" reused_ids , index_zero,") == {Fault.REUSED_IDS, Fault.INDEX_ZERO}
    assert faults_in("") == frozenset()


def test_a_client_can_ask_for_a_fault_and_is_told_of_a_wrong_one():
    simulator = Simulator("openai", call_tools="*")
    assert HEADER == "x-sim-fault"
    assert whole(simulator, "openai-chat", x_sim_fault="rate_limited")[0] == 429
    status, body = whole(simulator, "openai-chat", x_sim_fault="rate_limit")
    assert status == 400
    assert "Did you mean 'rate_limited'?" in body["error"]["message"]


@every_format
@pytest.mark.parametrize(
    ("fault", "status"),
    [(Fault.RATE_LIMITED, 429), (Fault.OVERLOADED, 503), (Fault.SERVER_ERROR, 500)],
)
def test_error_responses(format, fault, status):
    simulator = Simulator(provider_of(format), faults=[fault], call_tools="*")
    wanted = 529 if (format, fault) == ("anthropic", Fault.OVERLOADED) else status
    assert whole(simulator, format)[0] == wanted
    assert whole(simulator, format)[0] == 200
    assert [one.status for one in simulator.seen] == [wanted, 200]


def test_a_rate_limit_says_when_to_come_back():
    response = stream(Simulator("openai", faults=["rate_limited"], call_tools="*"), "openai-chat")
    assert response.headers["retry-after"] == "1"


def test_a_violation_is_told_before_a_fault():
    """A client must not learn that a body is right because the server is overloaded."""
    simulator = Simulator("openai", faults=["overloaded"], call_tools="*")
    assert ask(simulator, CHAT, {"model": "gpt-5.2", "messages": []})[0] == 400


@every_format
def test_reused_ids(format):
    simulator = Simulator(
        provider_of(format), faults=Schedule(["reused_ids"], repeat=True), call_tools="*"
    )
    first, second = (stream(simulator, format).data for _ in range(2))
    ids = [[call.id for call in decoded(data, format)[0].message.calls] for data in (first, second)]
    assert ids[0] == ids[1]


def test_sound_turns_have_ids_of_their_own():
    simulator = Simulator("openai", call_tools="*")
    first, second = (stream(simulator, "openai-chat").data for _ in range(2))
    ids = [
        {call.id for call in decoded(data, "openai-chat")[0].message.calls}
        for data in (first, second)
    ]
    assert not ids[0] & ids[1]


@pytest.mark.parametrize("provider", ["openai", "groq"])
def test_index_zero(provider):
    """Clients that go by the index glue the calls together; ours goes by the ids."""
    data = stream(Simulator(provider, faults=["index_zero"], call_tools="*"), "openai-chat").data
    assert b'"index":1' not in data
    reply, complete = decoded(data, "openai-chat")
    assert complete
    assert tuple(call.name for call in reply.message.calls) == NAMES


@pytest.mark.parametrize("provider", ["openai", "groq"])
def test_late_names(provider):
    data = stream(Simulator(provider, faults=["late_names"], call_tools="*"), "openai-chat").data
    opening = data[: data.index(b'"name"')]
    assert b'"tool_calls"' in opening
    reply, _ = decoded(data, "openai-chat")
    assert tuple(call.name for call in reply.message.calls) == NAMES


@every_format
def test_a_cut_stream_has_no_end(format):
    response = stream(Simulator(provider_of(format), faults=["cut_stream"], call_tools="*"), format)
    assert response.is_cut
    data = response.data
    sound = stream(Simulator(provider_of(format), call_tools="*"), format).data
    assert sound.startswith(data)
    assert 0 < len(data) < len(sound)
    assert not decoded(data, format)[1]


@every_format
def test_an_error_inside_a_200(format):
    simulator = Simulator(
        provider_of(format), faults=["error_in_200", "error_in_200"], call_tools="*"
    )
    response = stream(simulator, format)
    assert response.status == 200
    assert not decoded(response.data, format)[1]
    status, body = whole(simulator, format)
    assert status == 200
    assert "had an error" in json.dumps(body)


@every_format
def test_arguments_that_the_token_limit_cut(format):
    data = stream(
        Simulator(provider_of(format), faults=["cut_arguments"], call_tools="*"), format
    ).data
    reply, _ = decoded(data, format)
    assert reply.message.finish == "length"
    last = reply.message.calls[-1]
    assert last.truncated or format in ("gemini", "ollama")


def test_arguments_that_are_no_json():
    simulator = Simulator("openai", faults=["bad_arguments"], call_tools="*")
    _, body = whole(simulator, "openai-chat")
    first, second = body["choices"][0]["message"]["tool_calls"]
    with pytest.raises(ValueError, match="Expecting"):
        json.loads(first["function"]["arguments"])
    assert json.loads(second["function"]["arguments"]) == {"city": "Paris"}


@every_format
def test_an_empty_reply(format):
    data = stream(
        Simulator(provider_of(format), faults=["empty_reply"], call_tools="*"), format
    ).data
    assert verify_stream(data, format).counts == {}
    assert not decoded(data, format)[0].message.text


@every_format
def test_calls_that_leaked_into_the_text(format):
    data = stream(
        Simulator(provider_of(format), faults=["leaked_calls"], call_tools="*"), format
    ).data
    reply, _ = decoded(data, format)
    assert not reply.message.calls
    assert detect_syntax(reply.message.text) == "hermes"


def test_slow_and_stalled_streams_wait():
    slow = list(
        stream(Simulator("openai", faults=["slow_stream"], call_tools="*"), "openai-chat").pieces
    )
    waits = [piece for piece in slow if isinstance(piece, Pause)]
    assert len(waits) == len(slow) // 2
    assert all(wait.seconds for wait in waits)
    stalled = list(
        stream(Simulator("openai", faults=["stalled_stream"], call_tools="*"), "openai-chat").pieces
    )
    assert [at for at, piece in enumerate(stalled) if isinstance(piece, Pause)] == [2]
    assert stalled[2].seconds is None
