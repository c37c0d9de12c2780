"""What operators ask of the gateway: whether it is well, what it counts, and the admin endpoints.

    GET  /healthz                                the process answers
    GET  /readyz                                 it takes requests: 503 while it drains
    GET  /metrics                                for Prometheus
    GET  /canonicall/admin/keys                  virtual keys, without their hashes
    POST /canonicall/admin/keys/{name}/revoke    refuse one from now on
    GET  /canonicall/admin/limits                what each key has spent of them
    GET  /canonicall/admin/config                the settings, without secrets
    POST /canonicall/admin/reload                read them again
    GET  /canonicall/admin/breakers              which providers rest, and why
    GET  /canonicall/admin/reports               what was changed in the last requests
    GET  /canonicall/admin/reports/{id}          the same of one request
    POST /canonicall/admin/discover              find out how an endpoint calls tools

The admin endpoints want an admin key. Where no key is configured at all, this machine may use
them, but no page in a browser on it, and nobody whom a proxy on it speaks for.
"""

import math
from collections.abc import Awaitable, Callable
from ipaddress import ip_address
from typing import Any, Protocol, TypeAlias

import msgspec
from msgspec import Struct

from canonicall.errors import CanonicallError
from canonicall.gateway.config import Settings, shown_settings
from canonicall.gateway.exchange import HttpRequest, HttpResponse, Refused
from canonicall.gateway.governance.gate import Gate
from canonicall.gateway.governance.keys import shown_key
from canonicall.gateway.governance.metrics import CONTENT_TYPE, Metrics

_ADMIN = "/canonicall/admin/"
_MOST_REPORTS = 1000
# Browsers send `origin` with what a page asks for; proxies tell for whom they speak.
_NOT_FROM_HERE = ("origin", "x-forwarded-for", "forwarded", "x-real-ip", "via")


class DiscoveryWanted(Struct, frozen=True, forbid_unknown_fields=True):
    """What an admin wants to know of."""

    url: str
    model: str = ""
    """Else the first one that the endpoint lists."""
    key: str = ""
    """The key of the endpoint; it is in nothing that is answered."""
    format: str = ""
    """The wire format, where the endpoint speaks several."""
    name: str = ""
    """What the provider is to be called; else after its host."""


Answer: TypeAlias = "Callable[[HttpRequest, App], Awaitable[HttpResponse]]"


class App(Protocol):
    """What is needed of the gateway."""

    @property
    def settings(self) -> Settings:
        """Those that hold now."""
        ...

    @property
    def gate(self) -> Gate:
        """The one that lets in now."""
        ...

    @property
    def metrics(self) -> Metrics | None:
        """None where they are not kept."""
        ...

    @property
    def is_ending(self) -> bool:
        """Whether it ends, and takes nothing new."""
        ...

    def now(self) -> float:
        """Seconds since 1970."""
        ...

    async def store_problem(self) -> str:
        """Why what must be kept cannot be kept; empty if it can."""
        ...

    async def reread(self) -> Any:
        """Read the settings again: what to tell of it, as JSON. Raises `CanonicallError`."""
        ...

    async def keep_revoked(self, hash: str) -> None:
        """Remember that a key is revoked, for the next start and for other workers."""
        ...

    def breakers(self) -> Any:
        """The state of each provider's breaker and keys, as JSON."""
        ...

    async def reports(self, most: int) -> Any:
        """The last reports, as JSON."""
        ...

    async def report(self, id: str) -> Any | None:
        """The report of one request, as JSON; None where there is none."""
        ...

    async def discover(self, wanted: DiscoveryWanted) -> Any:
        """What an endpoint is like, as JSON. Raises `CanonicallError`."""
        ...


async def answer(request: HttpRequest, app: App) -> HttpResponse | None:
    """The answer to an operator; None where the path is none of these."""
    if request.path not in _ROUTES and not request.path.startswith(_ADMIN):
        return None
    try:
        method, answered = _ROUTES.get(request.path) or _admin_route(request, app)
        if request.method in _allowed(method):
            return await answered(request, app)
    except Refused as refused:
        return _refusal(refused)
    wrong = Refused(405, "method_not_allowed", f"{request.path} wants {method}.")
    return _refusal(wrong, allow=method)


def _admin_route(request: HttpRequest, app: App) -> tuple[str, Answer]:
    """Whoever may not ask is not told what there is, either."""
    _let_in(request, app)
    path = request.path
    if path in _ADMIN_ROUTES:
        return _ADMIN_ROUTES[path]
    if path.startswith(f"{_ADMIN}keys/") and path.endswith("/revoke"):
        return "POST", _revoke
    if path.startswith(f"{_ADMIN}reports/"):
        return "GET", _report
    raise Refused(404, "not_found", f"There is nothing at {path}.")


def _allowed(method: str) -> tuple[str, ...]:
    return ("GET", "HEAD") if method == "GET" else (method,)


def _let_in(request: HttpRequest, app: App) -> None:
    """Nothing, or `Refused`. An admin's questions count against no limit."""
    if not app.settings.keys:
        if not _is_from_here(request):
            what = "Without keys, the admin endpoints are for this machine alone."
            help = "Configure a key with admin = true, and show it."
            raise Refused(403, "permission", f"{what} {help}")
        return
    shown = shown_key(request.headers, request.query)
    key = app.gate.identify(shown, app.now())
    if key is None:
        raise Refused(401, "authentication", "A key with admin = true is needed.")
    if not key.settings.admin:
        what = f"The key {key.name!r} does not open the admin endpoints."
        raise Refused(403, "permission", f"{what} One with admin = true does.")


def is_operator(request: HttpRequest, settings: Settings, gate: Gate, now: float) -> bool:
    """Whether a request may use the admin endpoints."""
    if not settings.keys:
        return _is_from_here(request)
    try:
        key = gate.identify(shown_key(request.headers, request.query), now)
    except Refused:
        return False
    return key is not None and key.settings.admin


def _is_from_here(request: HttpRequest) -> bool:
    """Whether a program on this machine asks, and no page or proxy on it for somebody else.

    A page can make a name of its own lead to loopback; then the host it asks for is that name.
    """
    if any(name in request.headers for name in _NOT_FROM_HERE):
        return False
    host = request.headers.get("host", "localhost")
    name = host.rpartition(":")[0] if host.rpartition("]")[2].count(":") == 1 else host
    return _is_loopback(request.client) and (name == "localhost" or _is_loopback(name.strip("[]")))


def _is_loopback(address: str) -> bool:
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    mapped = getattr(parsed, "ipv4_mapped", None)
    return bool((mapped or parsed).is_loopback)


async def _health(request: HttpRequest, app: App) -> HttpResponse:
    del request, app
    return HttpResponse.json({"status": "alive"})


async def _ready(request: HttpRequest, app: App) -> HttpResponse:
    del request
    problems = ["draining"] if app.is_ending else []
    if problem := await app.store_problem():
        problems.append(f"the store cannot be written: {problem}")
    if problems:
        return HttpResponse.json({"status": "not ready", "why": problems}, 503)
    return HttpResponse.json({"status": "ready"})


async def _metrics(request: HttpRequest, app: App) -> HttpResponse:
    del request
    if app.metrics is None:
        help = "They need the package prometheus-client: pip install 'canonicall[server]'"
        raise Refused(501, "not_available", f"No metrics are kept. {help}")
    return HttpResponse(200, {"content-type": CONTENT_TYPE}, app.metrics.text())


async def _keys(request: HttpRequest, app: App) -> HttpResponse:
    del request
    return HttpResponse.json({"keys": app.gate.shown_keys(app.now())})


async def _revoke(request: HttpRequest, app: App) -> HttpResponse:
    name = request.path.removeprefix(f"{_ADMIN}keys/").removesuffix("/revoke")
    hash = app.gate.revoke(name)
    if hash is None:
        raise Refused(404, "not_found", f"No key is called {name!r}.")
    await app.keep_revoked(hash)
    return HttpResponse.json({"key": name, "state": "revoked"})


async def _limits(request: HttpRequest, app: App) -> HttpResponse:
    del request
    return HttpResponse.json({"keys": await app.gate.spending(app.now())})


async def _config(request: HttpRequest, app: App) -> HttpResponse:
    del request
    return HttpResponse.json(shown_settings(app.settings, app.gate.shown_keys(app.now())))


async def _reload(request: HttpRequest, app: App) -> HttpResponse:
    del request
    try:
        told = await app.reread()
    except CanonicallError as error:
        what = f"Nothing was changed: {error}"
        raise Refused(422, "invalid_settings", what) from None
    return HttpResponse.json({"reloaded": True, "told": told})


async def _breakers(request: HttpRequest, app: App) -> HttpResponse:
    del request
    return HttpResponse.json({"breakers": app.breakers()})


async def _reports(request: HttpRequest, app: App) -> HttpResponse:
    given = request.query.get("most", "50")
    if not given.isascii() or not given.isdigit() or len(given) > 9:
        raise Refused(400, "refused", "`most` must be a number of reports.")
    return HttpResponse.json({"reports": await app.reports(min(int(given), _MOST_REPORTS))})


async def _report(request: HttpRequest, app: App) -> HttpResponse:
    id = request.path.removeprefix(f"{_ADMIN}reports/")
    found = await app.report(id)
    if found is None:
        raise Refused(404, "not_found", f"There is no report of the request {id!r}.")
    return HttpResponse.json(found)


async def _discover(request: HttpRequest, app: App) -> HttpResponse:
    """An admin may ask about any address, those of the own network among them."""
    try:
        wanted = msgspec.json.decode(request.body, type=DiscoveryWanted)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        what = f"The body has to be a JSON object with `url`: {error}"
        raise Refused(400, "malformed", what) from None
    try:
        return HttpResponse.json(await app.discover(wanted))
    except CanonicallError as error:
        raise Refused(422, "not_discovered", str(error)) from None


def _refusal(refused: Refused, **headers: str) -> HttpResponse:
    if refused.retry_after is not None:
        headers["retry_after"] = str(math.ceil(refused.retry_after))
    body = {"error": {"type": refused.kind, "message": refused.message}}
    return HttpResponse.json(body, refused.status, **headers)


_ROUTES: dict[str, tuple[str, Answer]] = {
    "/healthz": ("GET", _health),
    "/readyz": ("GET", _ready),
    "/metrics": ("GET", _metrics),
}
_ADMIN_ROUTES: dict[str, tuple[str, Answer]] = {
    f"{_ADMIN}keys": ("GET", _keys),
    f"{_ADMIN}limits": ("GET", _limits),
    f"{_ADMIN}config": ("GET", _config),
    f"{_ADMIN}reload": ("POST", _reload),
    f"{_ADMIN}breakers": ("GET", _breakers),
    f"{_ADMIN}reports": ("GET", _reports),
    f"{_ADMIN}discover": ("POST", _discover),
}
