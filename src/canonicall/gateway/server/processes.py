"""The processes of a gateway on a port, until it is told to end.

A server ends in three steps, each with one word:

1. notice: `/readyz` answers 503 for `notice_seconds` while requests are still taken, so that load
   balancers stop sending them.
2. drain: the port is closed, and what runs may go on for `drain_seconds`.
3. break off: what is left is ended.

SIGTERM begins with the first, SIGINT with the second, and a second signal with the third. SIGHUP
has the settings read again.

With one worker all of that happens in this process. Several are forked, share the listening socket,
and are told what to do by a supervisor. One that dies is replaced; one that cannot even begin ends
everything, because the next could not either. No worker outlives the supervisor: each holds a pipe
that closes with it.
"""

import contextlib
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeAlias

from canonicall.errors import CanonicallError
from canonicall.gateway.config import REFUSED, RELOADED, WATCH_SECONDS, SettingsSource, Tell
from canonicall.gateway.server.sockets import address_of, listen
from canonicall.gateway.server.worker import (
    BREAK_OFF,
    DRAIN,
    ENDING,
    NOTICE,
    Above,
    Factory,
    Worker,
)

Work: TypeAlias = Callable[[Above, Callable[[], None]], int]
"""What a worker does, given what it has of this process, and whom to tell that it is ready. Its
answer is the exit code."""

_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD)
_LONG_LIFE = 10.0
_PAUSES = (0.0, 0.1, 0.5, 2.0, 5.0)
"""Seconds before a worker is replaced: the more of them died young in a row, the longer."""
_GRACE = 5.0
"""Seconds beyond the drain before a worker that does not end is killed."""


class CannotFork(CanonicallError):
    """This system has no way to run several workers."""


def serve(
    source: SettingsSource,
    factory: Factory,
    tell: Tell,
    *,
    on_ready: Callable[[str], None],
    watches: bool = False,
) -> int:
    """Serve until told to end, and give the exit code. `on_ready` gets the address.

    `factory` makes the application, once in every worker; `watches` has the settings read again
    whenever their file changes.
    """
    workers = source.settings.server.workers
    if workers > 1 and not hasattr(os, "fork"):
        raise CannotFork("several workers need a system that can fork. Set server.workers to 1.")
    _allow_many_files()
    with listen(source.settings.server) as listening:
        told = partial(on_ready, address_of(listening))
        if workers == 1:
            worker = Worker(source, factory, listening, tell, on_ready=told, watches=watches)
            return worker.run()

        def refusals(event: str, text: str) -> None:
            # All else is told once, by the process above.
            if event == REFUSED:
                tell(event, text)

        def work(above: Above, say_ready: Callable[[], None]) -> int:
            worker = Worker(source, factory, listening, refusals, on_ready=say_ready, above=above)
            try:
                return worker.run()
            except CanonicallError as error:
                tell("worker_failed", str(error))
                return 1

        supervisor = Supervisor(work, source, listening, tell, on_ready=told, watches=watches)
        return supervisor.run()


class _Slot:
    """The place of one worker, whoever holds it."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.process = 0
        self.ready_pipe = -1
        self.was_ready = False
        self.began = 0.0
        self.version = 0
        self.died_young = 0
        self.starts_at = 0.0


class Supervisor:
    """Keeps a number of workers running until it is told to end."""

    def __init__(
        self,
        work: Work,
        source: SettingsSource,
        listening: socket.socket,
        tell: Tell,
        *,
        on_ready: Callable[[], None] = lambda: None,
        watches: bool = False,
    ) -> None:
        self._work = work
        self._source = source
        self._listening = listening
        self._tell = tell
        self._on_ready = on_ready
        self._watches = watches
        self._slots = [_Slot(number) for number in range(source.settings.server.workers)]
        self._version = 0
        """Of the settings: counts how often they were read again."""
        self._kills_at: float | None = None
        """When workers are killed, once the end has begun."""
        self._closes_at: float | None = None
        """When the port is closed here as well: as long as any process has it open, clients
        connect to it and wait."""
        self._code = 0
        self._has_begun = False
        """Whether any worker has ever been ready."""
        self._was_ready = False
        """Whether all of them have."""

    def run(self) -> int:
        """Keep them running, and give the exit code."""
        # Not for Windows.
        from canonicall.gateway.governance.shared_memory import SharedLimiter  # noqa: PLC0415

        with (
            contextlib.closing(SharedLimiter(len(self._slots))) as limiter,
            _woken_by_signals() as woken,
            _pipe() as (life, self._held),
        ):
            self._above = Above(os.getpid(), life, limiter)
            while True:
                self._start_due()
                if not any(slot.process for slot in self._slots) and self._kills_at is not None:
                    return self._code
                self._wait(woken)

    def _wait(self, woken: socket.socket) -> None:
        pipes = {slot.ready_pipe: slot for slot in self._slots if slot.ready_pipe >= 0}
        readable, _, _ = select.select([woken.fileno(), *pipes], [], [], self._patience())
        for pipe in readable:
            if pipe in pipes:
                self._hear(pipes[pipe])
        if woken.fileno() in readable:
            for number in woken.recv(4096):
                self._heed(number)
        self._reap()
        if self._watches and self._kills_at is None and self._source.has_changed():
            self._reload()
        if self._closes_at is not None and time.monotonic() >= self._closes_at:
            self._closes_at = None
            self._listening.close()
        if self._kills_at is not None and time.monotonic() >= self._kills_at:
            self._signal_all(signal.SIGKILL)
            self._kills_at = time.monotonic() + _GRACE

    def _patience(self) -> float | None:
        moments = [slot.starts_at for slot in self._vacant()]
        if self._kills_at is not None:
            moments = [one for one in (self._kills_at, self._closes_at) if one is not None]
        if self._watches:
            moments.append(time.monotonic() + WATCH_SECONDS)
        return max(0.0, min(moments) - time.monotonic()) if moments else None

    def _heed(self, number: int) -> None:
        if number == signal.SIGHUP and self._kills_at is None:
            self._reload()
        elif number in (signal.SIGTERM, signal.SIGINT):
            if self._kills_at is None:
                self._tell(*ENDING)
                self._end(notice=number == signal.SIGTERM)
            else:
                self._closes_at = time.monotonic()
                self._kills_at = self._closes_at + _GRACE
                self._signal_all(BREAK_OFF)

    def _end(self, *, notice: bool) -> None:
        server = self._source.settings.server
        self._closes_at = time.monotonic() + (server.notice if notice else 0.0)
        self._kills_at = self._closes_at + server.drain_seconds + _GRACE
        self._signal_all(NOTICE if notice else DRAIN)

    def _reload(self) -> None:
        """Read the settings here first, so that unusable ones are told about once."""
        if self._source.renew(self._tell):
            self._version += 1
            for slot in self._slots:
                if slot.was_ready:
                    self._renew(slot)
            self._tell(*RELOADED)

    def _renew(self, slot: _Slot) -> None:
        slot.version = self._version
        if slot.process:
            os.kill(slot.process, signal.SIGHUP)

    def _signal_all(self, number: int) -> None:
        for slot in self._slots:
            if slot.process:
                os.kill(slot.process, number)

    def _hear(self, slot: _Slot) -> None:
        """A worker is ready, or is gone before it was."""
        slot.was_ready = bool(os.read(slot.ready_pipe, 1))
        self._has_begun = self._has_begun or slot.was_ready
        os.close(slot.ready_pipe)
        slot.ready_pipe = -1
        if slot.was_ready and slot.version != self._version:
            # It was started with settings that have become old since.
            self._renew(slot)
        if not self._was_ready and all(one.was_ready for one in self._slots):
            self._was_ready = True
            self._on_ready()

    def _reap(self) -> None:
        for slot in self._slots:
            if not slot.process:
                continue
            process, status = os.waitpid(slot.process, os.WNOHANG)
            if process:
                self._bury(slot, os.waitstatus_to_exitcode(status))

    def _bury(self, slot: _Slot, code: int) -> None:
        process, slot.process = slot.process, 0
        if slot.ready_pipe >= 0:
            self._hear(slot)
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        if self._kills_at is not None:
            self._code = self._code or (1 if code > 0 else 0)
            return
        if not slot.was_ready and not self._has_begun:
            self._tell("worker_failed", f"Worker {process} could not begin ({how}).")
            self._code = 1
            self._end(notice=False)
            return
        lived = time.monotonic() - slot.began
        slot.died_young = 0 if lived >= _LONG_LIFE else slot.died_young + 1
        pause = _PAUSES[min(slot.died_young, len(_PAUSES) - 1)]
        slot.starts_at = time.monotonic() + pause
        self._tell("worker_ended", f"Worker {process} ended ({how}); another takes its place.")

    def _start_due(self) -> None:
        for slot in self._vacant():
            if slot.starts_at <= time.monotonic():
                self._start(slot)

    def _vacant(self) -> list[_Slot]:
        """Where a worker is to be started. The first goes ahead alone: it makes what all need,
        such as the file of the store, and if it cannot begin, one complaint is enough."""
        if self._kills_at is not None:
            return []
        slots = self._slots if self._has_begun else self._slots[:1]
        return [slot for slot in slots if not slot.process]

    def _start(self, slot: _Slot) -> None:
        readable, writable = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        # No signal may reach the child before it has its own way with them.
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        slot.process = os.fork()
        if slot.process == 0:
            self._be_worker(slot.number, readable, writable)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
        os.close(writable)
        slot.ready_pipe = readable
        slot.was_ready = False
        slot.began = time.monotonic()
        slot.version = self._version

    def _be_worker(self, number: int, readable: int, writable: int) -> None:
        """The life of a forked process; it never returns."""
        code = 1
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.signal(DRAIN, signal.SIG_DFL)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
            os.close(readable)
            os.close(self._held)
            self._above.limiter.enter(number)
            code = self._work(self._above, lambda: _say_ready(writable))
        except BaseException:  # noqa: BLE001  the process ends here, whatever it was
            sys.excepthook(*sys.exc_info())
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)


def _say_ready(pipe: int) -> None:
    os.write(pipe, b"r")
    os.close(pipe)


@contextlib.contextmanager
def _woken_by_signals() -> Iterator[socket.socket]:
    """A socket that is readable when a signal has come, and says which."""
    woken, waking = socket.socketpair()
    waking.setblocking(False)
    before = {one: signal.signal(one, lambda *_: None) for one in _SIGNALS}
    wakeup = signal.set_wakeup_fd(waking.fileno(), warn_on_full_buffer=False)
    try:
        yield woken
    finally:
        signal.set_wakeup_fd(wakeup)
        for one, handler in before.items():
            signal.signal(one, handler)
        woken.close()
        waking.close()


@contextlib.contextmanager
def _pipe() -> Iterator[tuple[int, int]]:
    readable, writable = os.pipe()
    try:
        yield readable, writable
    finally:
        os.close(readable)
        os.close(writable)


def _allow_many_files() -> None:
    """Use all files that the system allows: each connection is one, and so is each to a provider.
    Shells start programs with a lower limit, which many can do with."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource  # noqa: PLC0415  there is none on Windows

        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
