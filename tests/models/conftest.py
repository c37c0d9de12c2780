"""The model, its server, a gateway before it, and the SDKs before the gateway."""

from collections.abc import Iterator

import pytest

from canonicall.client.config import ClientConfig, ProviderConfig
from canonicall.client.secrets import Secret
from canonicall.gateway.app import Gateway
from canonicall.gateway.config import Choice, ModelSettings, ProviderSettings, Settings
from canonicall.testing.server import serve
from components import component
from models.llama_server import MODEL, SETUPS, LlamaServer, running
from sdk_fronts import FRONTS, Conversing

SHORT = {"max_tokens": 64}
LIMITS = {"responses": {"max_output_tokens": 64}, "chained": {"max_output_tokens": 64}}
"""No reply has to be long; what a front calls the limit."""


class Fronts:
    """A gateway before the model, and a client of each SDK. A model is named like its setup."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.clients = {name: front.connect(url) for name, front in FRONTS.items()}

    def begin(self, front: str, *, streamed: bool = False) -> Conversing:
        conversing = FRONTS[front](self.clients[front], streamed=streamed, thinks=False)
        gemini = {"max_output_tokens": 64}
        conversing.more = dict(gemini if front == "gemini" else LIMITS.get(front, SHORT))
        return conversing


@pytest.fixture(scope="session")
def llama() -> Iterator[LlamaServer]:
    """llama.cpp's server, with each of its setups."""
    with running(component("models")) as server:
        yield server


@pytest.fixture(scope="session")
def fronts(llama: LlamaServer) -> Iterator[Fronts]:
    """The gateway before all setups."""
    hosts = {
        name: ProviderSettings(
            profile="llamacpp", base_url=llama.base_url(name), keys=(Secret("any"),)
        )
        for name in SETUPS
    }
    models = {name: ModelSettings(choices=(Choice(target=f"{name}:{MODEL}"),)) for name in SETUPS}
    with serve(Gateway(Settings(providers=hosts, models=models))) as server:
        made = Fronts(server.url)
        yield made
        for client in made.clients.values():
            client.close()
        # The gateway closes its own connections where it is not broken off.
        server._server.should_exit = True
        server._thread.join(10)


@pytest.fixture
def config(llama: LlamaServer, request: pytest.FixtureRequest) -> ClientConfig:
    """How the library's own client reaches a setup."""
    own = ProviderConfig(base_url=llama.base_url(request.param), keys=(Secret("any"),))
    return ClientConfig({"llamacpp": own})
