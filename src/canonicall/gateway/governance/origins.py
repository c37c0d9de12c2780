"""Which hosts and web origins a gateway answers to.

A web page can send requests to any address, also to a gateway on the reader's own machine. Without
virtual keys nothing else protects the provider's keys, so two headers are checked that a page
cannot choose:

- `Host`: with DNS rebinding the name of the page leads to this machine. The browser takes both for
  one origin and lets the page read the replies, but it still sends that name.
- `Origin`: the browser sends it with each POST, also with "simple" ones that need no permission.

A gateway with keys answers to every host: a page does not have a key. Pages of other origins can
read its replies only if `server.allowed_origins` names them (CORS).
"""

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from canonicall.client.endpoints import is_loopback
from canonicall.gateway.config import Settings, fits
from canonicall.gateway.exchange import HttpRequest, HttpResponse, Refused

_HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([^\s\[\],/@?#:]+))(?::[0-9]{0,5})?")
_WILDCARD_ADDRESSES = ("", "0.0.0.0", "::")  # noqa: S104  compared, not bound
_PREFLIGHT = "access-control-request-method"
_PREFLIGHT_SECONDS = 600
_EXPOSED = (
    "x-canonicall-request-id, x-canonicall-changes, x-canonicall-target,"
    " x-canonicall-renamed-tools, retry-after"
)


class Origins:
    """The check of one set of settings."""

    def __init__(self, settings: Settings) -> None:
        server = settings.server
        self._is_keyless = not settings.keys
        self._patterns = tuple(one.lower() for one in server.allowed_hosts)
        bound = () if server.host in _WILDCARD_ADDRESSES else (server.host.lower(),)
        self._names = frozenset(("localhost", "127.0.0.1", "::1", *bound))
        self._pages = tuple(one.lower().rstrip("/") for one in server.allowed_origins)

    def refuse_foreign(self, head: HttpRequest) -> None:
        """Raise `Refused` if the request names a host or comes from a page that is not allowed."""
        host = head.headers.get("host")
        if host is not None:
            found = _HOST.fullmatch(host)
            if found is None:
                what = f"The header `host` is not valid: {host[:80]!r}. Send one host name."
                raise Refused(400, "malformed", what)
            if self._is_keyless and not self._is_allowed(found[1] or found[2]):
                raise _foreign(f"the host {host[:80]!r}", "server.allowed_hosts")
        origin = head.headers.get("origin")
        if origin is not None and self._is_keyless and not self._is_own(origin):
            raise _foreign(f"a web page of {origin[:80]!r}", "server.allowed_origins")

    def shared(self, headers: Mapping[str, str]) -> dict[str, str]:
        """The headers of a response that let the page which asked for it read it."""
        origin = headers.get("origin")
        if origin is None or not self._pages or not self._is_page(origin):
            return {}
        return {
            "access-control-allow-origin": origin,
            "access-control-expose-headers": _EXPOSED,
            "vary": "origin",
        }

    def preflight(self, head: HttpRequest) -> HttpResponse | None:
        """The answer to a browser that asks whether a page may send a request; None for others."""
        if head.method != "OPTIONS" or _PREFLIGHT not in head.headers:
            return None
        if not self.shared(head.headers):
            return None
        wanted = head.headers.get("access-control-request-headers", "*")
        allowed = {
            "access-control-allow-methods": "GET, POST, DELETE",
            "access-control-allow-headers": wanted,
            "access-control-max-age": str(_PREFLIGHT_SECONDS),
        }
        return HttpResponse(204, allowed)

    def _is_allowed(self, name: str) -> bool:
        name = name.lower().removesuffix(".")
        return (
            name in self._names
            or is_loopback(name)
            or any(fits(pattern, name) for pattern in self._patterns)
        )

    def _is_own(self, origin: str) -> bool:
        """Whether a page is served from a host that is allowed, or is named itself."""
        if self._is_page(origin):
            return True
        try:
            name = urlsplit(origin).hostname
        except ValueError:
            return False
        return name is not None and self._is_allowed(name)

    def _is_page(self, origin: str) -> bool:
        return any(fits(pattern, origin.lower()) for pattern in self._pages)


def _foreign(who: str, setting: str) -> Refused:
    what = (
        f"This gateway has no keys, so it does not answer to {who}. Configure virtual keys, or add"
        f" the name to `{setting}`."
    )
    return Refused(403, "permission", what)
