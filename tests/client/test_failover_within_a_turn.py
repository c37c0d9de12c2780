"""Failover between two requests of a turn: after the bound provider has failed for good, the run
stays with who answered, and the counters are for that provider. Also in the store."""

from canonicall.client.transport import TransportError
from canonicall.runtime.events import StatusEvent
from canonicall.runtime.session import Session
from canonicall.store.counters import CounterTable
from canonicall.store.database import Database
from canonicall.store.resuming import open_session
from canonicall.store.sessions import SessionStore
from canonicall.testing.script import call, says
from canonicall.tools.toolset import Toolset

from client_support import Direct, client, simulator, target, weather

SCRIPT = (
    says(call("weather", city="Paris")),
    says(call("weather", city="Rome"), call("weather")),
    says("Sunny in both."),
)


class Down(Direct):
    """One host cannot be reached."""

    def __init__(self, name):
        self._name = name
        self.asked = []

    async def post(self, url, headers, body, timeouts, *, proxy=""):
        is_down = self._name in url
        self.asked.append("down" if is_down else "up")
        if is_down:
            raise TransportError("refused", where=url, phase="connect")
        return await super().post(url, headers, body, timeouts, proxy=proxy)


def two_hosts(**options):
    """A client of a host that is down, with a fallback that answers."""
    down, up = simulator("anthropic"), simulator("gemini", *SCRIPT)
    transport = Down("-anthropic")
    model = client(down, up, transport=transport, fallbacks=[target("gemini")], **options)
    return model, transport


async def heard(session, text):
    return [event async for event in session.send(text)]


async def test_the_run_stays_with_who_answered():
    """The provider that is down is asked by the first request alone, with its retries."""
    hosts, transport = two_hosts()
    async with hosts as model:
        session = Session(model, target("anthropic"), Toolset.of(weather))
        events = await heard(session, "How is the weather?")
        asked = transport.asked
        assert asked == ["down"] * asked.count("down") + ["up"] * 3
        told = [one.detail for one in events if isinstance(one, StatusEvent)]
        assert any("failed, asking gemini" in one for one in told)
        counts = session.machine.tally.by_provider
        assert list(counts) == ["gemini"]
        assert (counts["gemini"].tool_calls_total, counts["gemini"].tool_calls_invalid_args) == (
            3,
            1,
        )
        assert list(session.stats.providers) == ["gemini"]
        assert session.machine.target.provider == "gemini"
        await session.close()


async def test_the_next_turn_begins_with_the_chosen_provider():
    """The user's choice holds: failover lasts to the end of the turn."""
    hosts, transport = two_hosts()
    async with hosts as model:
        session = Session(model, target("anthropic"), Toolset.of(weather))
        await heard(session, "How is the weather?")
        transport.asked.clear()
        await heard(session, "And now?")
        assert transport.asked[0] == "down"
        await session.close()


async def test_a_provider_that_is_known_to_be_down_is_passed_over():
    """No switch is reported then, but it is known who answered."""
    hosts, transport = two_hosts()
    async with hosts as model:
        session = Session(model, target("anthropic"), Toolset.of(weather))
        for _ in range(3):
            await heard(session, "How is the weather?")
        assert model.circuit(target("anthropic")) == "open"
        transport.asked.clear()
        await heard(session, "And now?")
        assert set(transport.asked) == {"up"}
        assert list(session.machine.tally.by_provider) == ["gemini"]
        await session.close()


async def test_the_session_store_counts_over_time(place):
    """By provider, model, tool and hour; what other processes have counted is added to."""
    hour = 3600.0
    for at in (10 * hour, 10 * hour + 1, 12 * hour):
        database = Database(place)
        hosts, _ = two_hosts()
        async with hosts as model:
            session = await open_session(
                SessionStore(database),
                f"s{at}",
                model,
                target("anthropic").name,
                Toolset.of(weather),
                now=lambda at=at: at,
            )
            await heard(session, "How is the weather?")
            await session.close()
        database.close()
    database = Database(place)
    rows = await CounterTable(database).since(0.0)
    recent = await CounterTable(database).since(11 * hour)
    other = await CounterTable(database).since(0.0, ["anthropic"])
    database.close()
    assert [(one.hour, one.provider, one.tool) for one in rows] == [
        (10, "gemini", "weather"),
        (12, "gemini", "weather"),
    ]
    assert {one.model for one in rows} == {target("gemini").model}
    assert [one.counters.tool_calls_total for one in rows] == [6, 3]
    assert [one.counters.tool_calls_invalid_args for one in rows] == [2, 1]
    assert (recent, other) == (rows[1:], [])


async def test_a_refusal_that_ends_a_run_is_in_the_store(place):
    """No entry of the conversation follows it."""
    database = Database(place)
    served = simulator("openai", says("Hello."))
    async with client(served, transport=Refusing()) as model:
        opened = await open_session(
            SessionStore(database), "s", model, target("openai").name, now=lambda: 0.0
        )
        await heard(opened, "Hello?")
        await opened.close()
    rows = await CounterTable(database).since(0.0)
    database.close()
    assert [(one.provider, one.model, one.tool) for one in rows] == [
        ("openai", target("openai").model, "")
    ]
    assert rows[0].counters.tool_api_400_total > 0


class Refusing(Direct):
    """Every request is refused."""

    async def post(self, url, headers, body, timeouts, *, proxy=""):
        return RefusedResponse()


class RefusedResponse:
    """An answer with an error that no other form of the request helps against."""

    status = 400
    headers = {"content-type": "application/json"}  # noqa: RUF012

    async def chunks(self):
        yield b'{"error":{"message":"prompt is too long: 2 tokens > 1 maximum"}}'

    def close(self):
        pass
