"""Where an API may be, given the address that a person has: an address in, places to try out.

People paste what they have: a host, the base that a client is given, or the whole address of one
request. Every format is looked for at the places its clients would use.
"""

from collections.abc import Iterator
from urllib.parse import urlsplit

from msgspec import Struct

from canonicall.errors import CanonicallError, UnknownName
from canonicall.facts.endpoint import AWS, BEARER, Endpoint, format_endpoint
from canonicall.facts.target import FORMATS

_ENDINGS = {"cohere": "/v2/chat"}
"""How the address of a request ends, where its path alone is too common to tell."""
_ORDER = (
    *("openai-chat", "anthropic", "gemini", "ollama", "cohere", "openai-responses"),
    "bedrock",
)
"""A host that speaks several formats is asked in the first of them that answers."""


class DiscoveryError(CanonicallError):
    """Nothing can be found out. `help` says what to do."""

    def __init__(self, what: str, *, where: str, help: str) -> None:
        self.what = what
        self.where = where
        self.help = help
        super().__init__(f"{where}: {what} {help}")


class Place(Struct, frozen=True):
    """One format at one base address, with one way to show a key."""

    format: str
    base: str
    auth: str

    @property
    def endpoint(self) -> Endpoint:
        return format_endpoint(self.format)

    @property
    def models_url(self) -> str:
        """Where the models are listed; empty where they are not."""
        path = format_endpoint(self.format).models_path
        return self.base + path if path else ""

    def headers(self, key: str) -> dict[str, str]:
        """What every request has: the format's own headers, and the key."""
        headers = {"content-type": "application/json", **self.endpoint.headers}
        if key and self.auth == BEARER:
            headers["authorization"] = f"Bearer {key}"
        elif key:
            headers[self.auth] = key
        return headers


def places(url: str, format: str = "") -> list[Place]:
    """The places to try for an address, the likeliest first; with `format` only those of it."""
    if format and format not in FORMATS:
        raise UnknownName("wire format", format, FORMATS)
    address = checked(url)
    named, base = _without_path(address)
    wanted = [format] if format else [named] if named else list(_ORDER)
    return [
        Place(one, there, _auth(one))
        for one in wanted
        for there in dict.fromkeys(_bases(one, base, is_whole=bool(named)))
    ]


def with_other_auth(place: Place) -> Place | None:
    """The same place with the key shown as most hosts want it; None where it is so already."""
    return None if place.auth == BEARER else Place(place.format, place.base, BEARER)


def checked(url: str) -> str:
    """An address that can be asked, without query and closing slash."""
    try:
        parts = urlsplit(url.strip())
        host, _ = parts.hostname, parts.port
    except ValueError:
        parts, host = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not host:
        help = "Give the whole address, for example https://api.example.com/v1."
        raise DiscoveryError("this is no address of an API.", where=url, help=help)
    if parts.username or parts.password:
        help = "Name the variable that holds it instead."
        raise DiscoveryError("a key does not belong in the address.", where=host, help=help)
    return f"{parts.scheme}://{parts.netloc}{parts.path}".rstrip("/")


def provider_name(url: str) -> str:
    """A provider's name for an address: its host, and the port where it has one."""
    parts = urlsplit(url)
    return (parts.hostname or "").strip(".-_").replace(":", "-") + (
        f"-{parts.port}" if parts.port else ""
    )


def _auth(format: str) -> str:
    auth = format_endpoint(format).auth
    return BEARER if auth == AWS else auth


def _without_path(address: str) -> tuple[str, str]:
    """The format whose request path an address ends with, and what stands before it."""
    for format in _ORDER:
        endpoint = format_endpoint(format)
        if endpoint.names_model:
            # Whatever the model is called: the words behind it tell the format.
            opening, ending = endpoint.path.split("{model}")
            head, found, _ = address.rpartition(opening)
            if found and address.endswith(ending):
                return format, head
        elif address.endswith(_ENDINGS.get(format, endpoint.path)):
            return format, address.removesuffix(endpoint.path)
    return "", address


def _bases(format: str, base: str, *, is_whole: bool) -> Iterator[str]:
    path = urlsplit(base).path
    version = format_endpoint(format).version
    if is_whole:
        yield base
    elif version:
        # A version at the end is one already; whose it is shows when it is asked.
        if not path.endswith(version):
            yield base + version
        yield base
    else:
        yield base.removesuffix("/v1")
        yield base
