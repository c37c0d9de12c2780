"""Who is told of requests: those that were given, and what the settings ask for."""

from collections.abc import Sequence

from canonicall.client.secrets import Secret
from canonicall.gateway.config import LogSettings, Settings
from canonicall.gateway.governance.request_log import RequestLog
from canonicall.gateway.governance.traces import request_traces
from canonicall.gateway.served import Watcher


class Observing:
    """The watchers of a gateway, through all its settings."""

    def __init__(self, watchers: Sequence[Watcher], *, is_observed: bool) -> None:
        """`is_observed`: whether the settings' request log is written, and traces are made."""
        traces = request_traces() if is_observed else None
        self._lasting = (*watchers, *([traces] if traces is not None else []))
        self._is_observed = is_observed
        self._settings: LogSettings | None = None
        self._log: RequestLog | None = None
        self.watchers: tuple[Watcher, ...] = self._lasting

    def follow(self, settings: Settings) -> None:
        """Write the log that these settings ask for."""
        if not self._is_observed or settings.log == self._settings:
            return
        log = RequestLog.open(settings.log, _secrets(settings))
        old, self._log, self._settings = self._log, log, settings.log
        self.watchers = (*self._lasting, *([log] if log is not None else []))
        if old is not None:
            old.close()

    def close(self) -> None:
        """Write what is waiting."""
        if self._log is not None:
            self._log.close()
            self._log = None
        self.watchers = self._lasting


def _secrets(settings: Settings) -> list[Secret]:
    return [key for one in settings.providers.values() for key in one.keys]
