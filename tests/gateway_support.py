"""A gateway before simulated providers, for tests: in one process, or on a free port."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from canonicall.client.secrets import Secret
from canonicall.facts.registry import get_profile, provider_names
from canonicall.gateway.app import Gateway
from canonicall.gateway.config import ModelSettings, ProviderSettings, Settings
from canonicall.testing import Simulator
from canonicall.testing.transport import SimulatorTransport

UPSTREAM_KEY = "sk-upstream-0123456789"


class World:
    """All providers, simulated; each is made when it is first asked."""

    def __init__(self, make: Callable[[str], Simulator] | None = None) -> None:
        self._make = make or _caller
        self.simulators: dict[str, Simulator] = {}

    @property
    def transport(self) -> SimulatorTransport:
        return SimulatorTransport(lambda url: self.of((urlsplit(url).hostname or "").split(".")[0]))

    def of(self, provider: str) -> Simulator:
        """The simulator of a provider."""
        if provider not in self.simulators:
            self.simulators[provider] = self._make(provider)
        return self.simulators[provider]

    def gateway(self, models: Mapping[str, ModelSettings] | None = None, **options: Any) -> Gateway:
        """A gateway before all of them."""
        given = {name: one for name, one in options.items() if name in Settings.__struct_fields__}
        rest = {name: one for name, one in options.items() if name not in given}
        settings = Settings(providers=simulated_providers(), models=dict(models or {}), **given)
        return Gateway(settings, **{"transport": self.transport, **rest})


def _caller(provider: str) -> Simulator:
    """A provider whose model calls the tools that the user's message is about."""
    return Simulator(provider, call_tools="*")


def simulated_providers(names: Sequence[str] = ()) -> dict[str, ProviderSettings]:
    """Settings that lead every provider to its simulator."""
    return {name: _simulated(name) for name in names or provider_names()}


def _simulated(name: str) -> ProviderSettings:
    profile = get_profile(name)
    base = f"http://{name}.sim{urlsplit(profile.base_url).path}"
    others = {
        format: f"http://{name}.sim{urlsplit(url).path}"
        for format, url in profile.base_urls.items()
    }
    named = re.findall(r"{(\w+)}", " ".join((profile.base_url, *profile.base_urls.values())))
    values = dict.fromkeys(named, "some")
    return ProviderSettings(
        keys=(Secret(UPSTREAM_KEY),), base_url=base, base_urls=others, values=values
    )


class Answer:
    """What a client got."""

    def __init__(self, sent: list[dict[str, Any]]) -> None:
        self.status: int = sent[0]["status"] if sent else 0
        head = sent[0]["headers"] if sent else ()
        self.headers = {name.decode(): value.decode() for name, value in head}
        self.body = b"".join(one.get("body", b"") for one in sent[1:])
        self.is_ended = bool(sent) and sent[-1].get("more_body") is False

    @property
    def json(self) -> Any:
        return json.loads(self.body)


async def ask(
    gateway: Gateway,
    path: str,
    body: Any = None,
    *,
    method: str = "",
    headers: Mapping[str, str] | None = None,
    stays: bool = True,
    look: Callable[[bytes], Awaitable[None]] | None = None,
) -> Answer:
    """Ask a gateway without a socket. A client that does not stay goes away at once. `look` sees
    each piece of the body before anything else happens."""
    data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    sent: list[dict[str, Any]] = []
    pending = [{"type": "http.request", "body": data, "more_body": False}]
    forever = asyncio.Event()

    async def receive() -> dict[str, Any]:
        if pending:
            return pending.pop()
        if stays:
            await forever.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)
        if look is not None:
            await look(message.get("body", b""))

    where, _, query = path.partition("?")
    named = {"content-type": "application/json", "authorization": "Bearer any", **(headers or {})}
    scope = {
        "type": "http",
        "method": method or ("GET" if body is None else "POST"),
        "path": where,
        "query_string": query.encode(),
        "headers": [(name.lower().encode(), text.encode()) for name, text in named.items()],
        "client": ("127.0.0.1", 1),
    }
    await gateway(scope, receive, send)
    return Answer(sent)
