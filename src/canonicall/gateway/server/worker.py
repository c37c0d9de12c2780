"""One process that serves: uvicorn, the signals it heeds, reload, and the steps of its end."""

import asyncio
import contextlib
import gc
import math
import os
import signal
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

import uvicorn

from canonicall.errors import CanonicallError
from canonicall.gateway.config import (
    REFUSED,
    RELOADED,
    WATCH_SECONDS,
    ServerSettings,
    Settings,
    SettingsSource,
    Tell,
)
from canonicall.gateway.governance.limits import Limiter
from canonicall.gateway.registrations import take_away_all
from canonicall.gateway.server.connections import BoundedConnection, Bounds, check_all

if TYPE_CHECKING:
    from canonicall.gateway.governance.shared_memory import SharedLimiter

ENDING = ("draining", "Ending: requests under way may finish. Again to end at once.")
"""What is told when the end begins."""
NOTICE = signal.SIGTERM
"""Tells a worker to give notice, and to drain `notice_seconds` later."""
DRAIN = signal.SIGUSR1
"""Tells a worker to drain at once."""
BREAK_OFF = signal.SIGQUIT
"""Tells a worker to break off: a second SIGTERM could melt into the first."""
_YOUNG_VALUES = 20_000
_TICKS_PER_CHECK = 10
"""uvicorn ticks ten times a second; connections are checked once a second."""


class Above(NamedTuple):
    """What a worker has of the process above it."""

    process: int
    life: int
    """A pipe that ends with it."""
    limiter: "SharedLimiter"
    """What all workers know together of their keys."""


class Serving:
    """What an application may know of its server, and ask of it."""

    def __init__(self, above: Above | None = None) -> None:
        """`above`: the process above this one, where there are several workers."""
        self._reads_settings = os.getpid() if above is None else above.process
        self.limiter: Limiter | None = None if above is None else above.limiter
        """What all workers know together of their keys."""
        self.has_notice = False
        """Whether it has been given notice. It still takes requests for a while."""
        self.draining = asyncio.Event()
        """Set when it drains, and takes nothing new."""
        self._sockets = 0
        self.no_sockets = asyncio.Event()
        """Set while no WebSocket is open."""
        self.no_sockets.set()

    @property
    def is_ending(self) -> bool:
        """Whether it was told to end: it has notice, or drains."""
        return self.has_notice or self.draining.is_set()

    @contextlib.contextmanager
    def socket_open(self) -> Iterator[None]:
        """While the application serves a WebSocket."""
        self._sockets += 1
        self.no_sockets.clear()
        try:
            yield
        finally:
            self._sockets -= 1
            if not self._sockets:
                self.no_sockets.set()

    def renew(self) -> None:
        """Have the settings read again, in all workers; what comes of it is told by the server."""
        os.kill(self._reads_settings, signal.SIGHUP)


class App(Protocol):
    """What is served: an ASGI application whose settings can be changed while it runs."""

    serving: Serving | None
    """Set by the server before it begins."""

    async def __call__(
        self,
        scope: dict[str, Any],
        receive: Callable[[], Awaitable[dict[str, Any]]],
        send: Callable[[dict[str, Any]], Awaitable[None]],
    ) -> None:
        """Answer one connection."""
        ...

    async def reload(self, settings: Settings) -> None:
        """Use these from the next request on; those under way end as they began."""
        ...


Factory: TypeAlias = Callable[[Settings], App]


class Worker:
    """One process that serves."""

    def __init__(
        self,
        source: SettingsSource,
        factory: Factory,
        listening: socket.socket,
        tell: Tell,
        *,
        on_ready: Callable[[], None] = lambda: None,
        watches: bool = False,
        above: Above | None = None,
    ) -> None:
        """`above`: the process that started this one, where there are several workers."""
        self._source = source
        self._factory = factory
        self._listening = listening
        self._tell = tell
        self._on_ready = on_ready
        self._watches = watches
        self._above = above
        self._reload_wanted = asyncio.Event()

    def run(self) -> int:
        """Serve, and give the exit code."""
        with _rare_collection(), asyncio.Runner(loop_factory=_loop_factory()) as runner:
            try:
                runner.run(self.serve())
            except SystemExit:
                # So uvicorn leaves where the application could not begin; it has said why.
                return 1
        return 0

    async def serve(self) -> None:
        """The same in a loop that is there already."""
        # The process above has read settings before these; the application brings what it needs.
        take_away_all()
        app = self._factory(self._source.settings)
        app.serving = Serving(self._above)
        server = _Server(app, self._source.settings.server, app.serving, self._on_ready)
        reloading = asyncio.create_task(self._keep_reloading(app, server))
        watching = asyncio.create_task(self._watch()) if self._watches else None
        loop = asyncio.get_running_loop()
        with self._signals(loop, server):
            try:
                await server.serve(sockets=[self._listening])
            finally:
                for task in filter(None, (reloading, watching)):
                    task.cancel()

    @contextlib.contextmanager
    def _signals(self, loop: asyncio.AbstractEventLoop, server: "_Server") -> Iterator[None]:
        is_main = threading.current_thread() is threading.main_thread()
        if not is_main or os.name != "posix":
            yield
            return
        taken: dict[int, Callable[[], object]] = {signal.SIGHUP: self._reload_wanted.set}
        if self._above is None:
            taken[signal.SIGTERM] = partial(self._end, server, server.notice)
            taken[signal.SIGINT] = partial(self._end, server, server.drain)
        else:
            # Ctrl-C and service managers signal all processes, and the one above us does so again:
            # twice means nothing here, and only it says when nobody is to be waited for.
            taken |= {
                NOTICE: server.notice,
                DRAIN: server.drain,
                BREAK_OFF: server.break_off,
            }
            loop.add_reader(self._above.life, self._orphaned, loop, server, self._above.life)
        for number, act in taken.items():
            loop.add_signal_handler(number, act)
        try:
            yield
        finally:
            for number in taken:
                loop.remove_signal_handler(number)

    def _end(self, server: "_Server", begin: Callable[[], None]) -> None:
        if server.is_ending:
            server.break_off()
        else:
            self._tell(*ENDING)
            begin()

    def _orphaned(self, loop: asyncio.AbstractEventLoop, server: "_Server", life: int) -> None:
        if not os.read(life, 1):
            loop.remove_reader(life)
            server.drain()

    async def _keep_reloading(self, app: App, server: "_Server") -> None:
        while True:
            await self._reload_wanted.wait()
            self._reload_wanted.clear()
            if not self._source.renew(self._tell):
                continue
            settings = self._source.settings
            try:
                await app.reload(settings)
            except Exception as error:  # noqa: BLE001  whatever it is, the old settings serve on
                # Only our own errors are known not to quote a key.
                why = error if isinstance(error, CanonicallError) else type(error).__name__
                self._tell(REFUSED, f"The settings stay as they were: {why}")
                continue
            server.follow(settings.server)
            self._tell(*RELOADED)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            if self._source.has_changed():
                self._reload_wanted.set()


class _Server(uvicorn.Server):
    """uvicorn's server, whose signals are ours and which says when it is ready."""

    def __init__(
        self, app: App, settings: ServerSettings, serving: Serving, on_ready: Callable[[], None]
    ) -> None:
        self._bounds = Bounds(settings)
        super().__init__(_config(app, self._bounds))
        self._serving = serving
        self._on_ready = on_ready

    @property
    def is_ending(self) -> bool:
        """Whether it was told to end."""
        return self._serving.is_ending

    def follow(self, settings: ServerSettings) -> None:
        """Use other limits from now on."""
        self._bounds.settings = settings
        self.config.timeout_keep_alive = math.ceil(settings.idle_seconds)
        self.config.timeout_graceful_shutdown = math.ceil(settings.drain_seconds)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """None: uvicorn would raise them once more at the end, and the exit code with them."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self._drain_sockets(sockets or [])
        await super().shutdown(sockets)
        if self.force_exit:
            # uvicorn leaves it out then; the application has files to close.
            await self.lifespan.shutdown()

    async def on_tick(self, counter: int) -> bool:
        if counter % _TICKS_PER_CHECK == 0:
            check_all(self.server_state.connections, asyncio.get_running_loop().time())
        return await super().on_tick(counter)

    def notice(self) -> None:
        """Say that it ends, and drain a while later."""
        if not self.is_ending:
            self._serving.has_notice = True
            asyncio.get_running_loop().call_later(self._bounds.settings.notice, self.drain)

    async def _drain_sockets(self, listening: list[socket.socket]) -> None:
        """Wait until the application has closed its WebSockets: uvicorn would break them off.
        Connections of HTTP end meanwhile as they do without."""
        for server in self.servers:
            server.close()
        for one in listening:
            one.close()
        kind = self.config.ws_protocol_class
        for connection in list(self.server_state.connections):
            if kind is None or not isinstance(connection, kind):
                connection.shutdown()
        now = asyncio.get_running_loop().time
        until = now() + (self.config.timeout_graceful_shutdown or 0)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(until):
                await self._serving.no_sockets.wait()
        self.config.timeout_graceful_shutdown = max(math.ceil(until - now()), 0)

    def drain(self) -> None:
        """Take nothing new, and end when the rest has finished."""
        self.should_exit = True
        self._serving.draining.set()

    def break_off(self) -> None:
        """End without waiting for anybody."""
        self.drain()
        self.force_exit = True
        for task in self.server_state.tasks:
            task.cancel()


def _config(app: App, bounds: Bounds) -> uvicorn.Config:
    server = bounds.settings
    connection: Any = partial(BoundedConnection, bounds=bounds)
    return uvicorn.Config(
        app,
        http=connection,
        ws="auto",
        ws_max_size=server.max_body_bytes,
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=math.ceil(server.idle_seconds),
        timeout_graceful_shutdown=math.ceil(server.drain_seconds),
    )


@contextlib.contextmanager
def _rare_collection() -> Iterator[None]:
    """Look for cycles less often. Requests leave none behind, streams a few small ones: to look
    through all that is young after every few hundred values is a tenth of the gateway's work."""
    usual = gc.get_threshold()
    gc.set_threshold(_YOUNG_VALUES, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    if find_spec("uvloop") is None:
        return asyncio.new_event_loop
    import uvloop  # noqa: PLC0415  there is none for Windows

    return uvloop.new_event_loop
