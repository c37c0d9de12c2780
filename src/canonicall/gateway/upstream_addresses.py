"""The addresses of upstreams, taken out of what clients are told: they are for operators.

In: a message that may name an address. Out: the same without the addresses of the settings, and
without those of networks of one's own. Addresses of public documentation stay.
"""

import re
from collections.abc import Iterator
from ipaddress import ip_address
from urllib.parse import urlsplit

import msgspec

from canonicall.events import ErrorReported, Event, StreamEnded
from canonicall.gateway.config import ProviderSettings, Settings

HIDDEN = "(the address of the upstream)"
_URL = re.compile(r"https?://[^\s\"'<>|\\]+")
_ENDINGS = ".,:;)]}"
"""What follows an address in a sentence."""
_PRIVATE = (".local", ".internal", ".intranet", ".lan", ".corp", ".home", ".svc")


class UpstreamAddresses:
    """Knows the addresses of one set of settings."""

    def __init__(self, settings: Settings) -> None:
        urls = [url for one in settings.providers.values() for url in _urls(one)]
        places = {_place(url) for url in urls} - {("", "")}
        self._hosts = {host for host, _ in places}
        names = sorted({netloc for _, netloc in places}, key=len, reverse=True)
        bare = "|".join(map(re.escape, names))
        self._bare = re.compile(rf"(?<![\w.-])(?:{bare})(?![\w-])") if bare else None

    def hidden(self, text: str) -> str:
        """A message without addresses."""
        shown = _URL.sub(self._replaced, text)
        return shown if self._bare is None else self._bare.sub(HIDDEN, shown)

    def events(self, events: list[Event]) -> list[Event]:
        """Events whose errors name no address."""
        return [self._event(one) for one in events]

    def _event(self, event: Event) -> Event:
        match event:
            case ErrorReported() if self.hidden(event.message) != event.message:
                return msgspec.structs.replace(
                    event, message=self.hidden(event.message), native=None
                )
            case StreamEnded(complete=False):
                return msgspec.structs.replace(event, why=self.hidden(event.why))
            case _:
                return event

    def _replaced(self, found: re.Match[str]) -> str:
        url = found[0].rstrip(_ENDINGS)
        host, _ = _place(url)
        is_hidden = not host or host in self._hosts or _is_private(host)
        return HIDDEN + found[0][len(url) :] if is_hidden else found[0]


def _urls(provider: ProviderSettings) -> Iterator[str]:
    yield provider.base_url
    yield from provider.base_urls.values()
    yield provider.proxy or ""


def _place(url: str) -> tuple[str, str]:
    """The host of an address, and the host with its port."""
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        return "", ""
    return host, f"{host}:{port}" if port and host else host


def _is_private(host: str) -> bool:
    try:
        return not ip_address(host).is_global
    except ValueError:
        return "." not in host or host.endswith(_PRIVATE)
