"""A simulator on a free port of this machine, for as long as it is needed.

with serve(Simulator("anthropic")) as server:
    client = anthropic.Anthropic(base_url=server.url, api_key="any")
"""

import logging
import socket
import threading
from collections.abc import Awaitable, Callable, Mapping
from types import TracebackType
from typing import Self, TypeAlias

from canonicall.errors import CanonicallError
from canonicall.testing.asgi import SimulatorApp, Watch
from canonicall.testing.simulator import Simulator

App: TypeAlias = Callable[..., Awaitable[None]]

_HOST = "127.0.0.1"
_MISSING = "simulators on a port need the package uvicorn: pip install 'canonicall[server]'"
_PATIENCE = 10.0


class ServerMissing(CanonicallError, ImportError):
    """The package that serves HTTP is not installed."""


class serve:  # noqa: N801  reads as a verb: `with serve(...) as server`
    """Serves simulators in a thread of its own; the port is closed at the end of the block."""

    def __init__(
        self,
        simulators: Simulator | Mapping[str, Simulator] | App,
        *,
        host: str = _HOST,
        port: int = 0,
        watch: Watch | None = None,
    ) -> None:
        """Simulators, or any other ASGI application."""
        self.simulators = simulators
        self._watch = watch
        self._host = host
        self._port = port
        self.url = ""

    def start(self) -> Self:
        """Listen, and return when requests are answered."""
        try:
            import uvicorn  # noqa: PLC0415  an extra
        except ImportError:
            raise ServerMissing(_MISSING) from None
        listening = self._listening()
        host, port = listening.getsockname()[:2]
        self.url = f"http://{host}:{port}"
        served = self.simulators
        app: App = (
            SimulatorApp(served, watch=self._watch)
            if isinstance(served, Simulator | Mapping)
            else served
        )
        # A connection that is cut on purpose is no error worth a traceback.
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        config = uvicorn.Config(app, log_config=None, access_log=False)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [listening]}, daemon=True
        )
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            self._thread.join(0.005)
        return self

    def _listening(self) -> socket.socket:
        # Named as TCP: else asyncio leaves Nagle's algorithm on, and each reply takes 40 ms longer.
        listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind((self._host, self._port))
        except OSError:
            listening.close()
            raise
        return listening

    def stop(self) -> None:
        """Close the port. Streams that stall are broken off."""
        self._server.should_exit = True
        self._server.force_exit = True
        self._thread.join(_PATIENCE)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
