"""What a gateway is told to do, as frozen values, and what an admin is shown of it.

Everything has a default: a gateway without any settings serves on loopback and knows no model.
"""

from typing import Any, Literal

from msgspec import Struct, to_builtins

from canonicall.client.endpoints import is_loopback
from canonicall.client.redaction import redacted_text
from canonicall.client.secrets import HIDDEN, Secret
from canonicall.client.transport import Timeouts
from canonicall.framing.limits import DEFAULT_LIMITS, ReplyLimits
from canonicall.store.places import shown
from canonicall.syntax.recovery import Recover

_NOTICE_SECONDS = 5.0


class Section(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A part of the file: a name that is not known is an error, never ignored."""


class ProviderSettings(Section, frozen=True, kw_only=True):
    """One back: a provider of the registry, or a host of one's own that behaves like one."""

    profile: str = ""
    """The profile whose rules hold; empty where the section is named like it."""
    format: str = ""
    """The wire format spoken, where the profile has several; empty for its usual one."""
    base_url: str = ""
    base_urls: dict[str, str] = {}
    """The addresses of its other formats, where the profile has those of their own."""
    keys: tuple[Secret, ...] = ()
    """Several are used in turn; one that is refused or used up rests."""
    headers: dict[str, str] = {}
    values: dict[str, str] = {}
    """What fills `{region}`, `{resource}` and the like in the address."""
    proxy: str | None = None
    timeouts: Timeouts | None = None
    recover: Literal["", "off", "known", "always"] = ""
    """Whether calls are read from the text of its replies; empty: as `repair.recover` says."""
    sends_trace: bool = False
    """Whether its host is told which trace a request belongs to."""


class Choice(Section, frozen=True, kw_only=True):
    """One of the targets that share the requests for a model."""

    target: str
    """`provider:model`, where the provider is a section or a profile."""
    weight: float = 1.0


class ModelSettings(Section, frozen=True, kw_only=True):
    """A name that clients ask for, and who answers."""

    choices: tuple[Choice, ...] = ()
    """One of them is taken for a session, by weight, and kept."""
    fallbacks: tuple[str, ...] = ()
    """Asked in this order where the choice brings no reply."""


class KeySettings(Section, frozen=True, kw_only=True):
    """A virtual key that clients show. Only its hash is kept."""

    hash: str
    """`sha256:` and the hexadecimal digest of the key."""
    models: tuple[str, ...] = ("*",)
    """The names of models it may ask for; `*` stands for anything."""
    expires: str = ""
    """A day or moment in ISO 8601; empty for never."""
    revoked: bool = False
    admin: bool = False
    """Whether the admin endpoints may be used with it."""
    requests_per_minute: int = 0
    tokens_per_minute: int = 0
    concurrent: int = 0
    """How many requests at once; like all limits, 0 is none."""


class ServerSettings(Section, frozen=True, kw_only=True):
    """Where and how it is served."""

    host: str = "127.0.0.1"
    port: int = 8400
    workers: int = 1
    open: bool = False
    """Whether anybody may ask from another machine, without a virtual key."""
    allowed_hosts: tuple[str, ...] = ()
    """The names by which a gateway without keys is asked, beside loopback and its own address. `*`
    stands for anything."""
    allowed_origins: tuple[str, ...] = ()
    """The origins of web pages that may ask and read the replies, such as
    `https://app.example.com`. `*` stands for anything."""
    max_body_bytes: int = 64 * 1024 * 1024
    max_body_depth: int = 200
    max_head_bytes: int = 64 * 1024
    """Bytes of the first line and the headers of a request."""
    max_headers: int = 200
    max_connections: int = 2000
    """Open connections of one worker. Beyond that the one that has been idle longest is closed; if
    none is idle, only `/healthz` and `/readyz` are answered."""
    head_seconds: float = 15.0
    """How long a client may take to send the first line and the headers of a request."""
    body_seconds: float = 300.0
    """How long a client may take to send the body."""
    idle_seconds: float = 75.0
    """How long a connection is kept open for the next request. Clients that let go earlier never
    write into a connection that is being closed."""
    read_seconds: float = 300.0
    """How long a client may leave unread what it is sent."""
    keep_alive_seconds: float = 10.0
    """After so long a silence of the model, a client that streams gets a sign of life."""
    notice_seconds: float | None = None
    """How long `/readyz` answers 503 after SIGTERM while requests are still taken, so that load
    balancers stop sending them. If not set: 5 if other machines can connect, else 0."""
    drain_seconds: float = 30.0
    """How long requests may go on after the port is closed."""

    @property
    def notice(self) -> float:
        """`notice_seconds`, or what it means if it is not set."""
        if self.notice_seconds is not None:
            return self.notice_seconds
        return 0.0 if is_loopback(self.host) else _NOTICE_SECONDS


class RepairSettings(Section, frozen=True, kw_only=True):
    """What the gateway may change on the way."""

    strict: bool = False
    """Refuse what would have to be repaired, for all requests; a header asks for it in one."""
    recover: Recover = "known"
    """Read calls that a model printed as text: never, where it is known to print them, always."""
    arguments: Literal["repair", "report", "off"] = "repair"
    """What is done about arguments that do not fit their schema. In streams they are reported."""
    continue_streams: bool = True
    """Where a stream breaks off in its words, another attempt goes on with them."""


class LogSettings(Section, frozen=True, kw_only=True):
    """The request log: one JSON line for each request."""

    file: str = "-"
    """A path; `-` for standard error, empty for none."""
    bodies: bool = False
    """Whether bodies are written too, with what looks like a key taken out."""
    refused: str = ""
    """A folder for requests that a provider refuses, one file each; empty for none."""


class StoreSettings(Section, frozen=True, kw_only=True):
    """Where conversations, reports and opaque state are kept."""

    enabled: bool = True
    """Whether the conversations of clients are kept: responses, threads, conversations. Without,
    what refers to one is left to the provider that has it, or refused."""
    path: str = ""
    """An SQLite file, or the URL of a PostgreSQL database; empty for memory."""
    days: float = 30.0
    """What is older is forgotten; a conversation as a whole, by what was said last."""
    max_turns: int = 10_000
    """The most turns that one conversation has; like all limits, 0 is none."""
    max_bytes: int = 64 * 1024 * 1024
    """The most bytes of them."""


class PromptMessage(Section, frozen=True, kw_only=True):
    """One message of a stored prompt; `{{name}}` in it is replaced by a value of the request."""

    content: str
    role: Literal["developer", "system", "user", "assistant"] = "developer"


class PromptVersion(Section, frozen=True, kw_only=True):
    """A prompt as it was at one time."""

    messages: tuple[PromptMessage, ...] = ()
    model: str = ""
    """The model that answers where the request names none."""


class PromptSettings(Section, frozen=True, kw_only=True):
    """A prompt that clients of OpenAI's Responses refer to by its id."""

    versions: dict[str, PromptVersion] = {}
    default: str = ""
    """The version that is meant where the request names none; empty for the last one."""


class Settings(Section, frozen=True, kw_only=True):
    """All of it."""

    server: ServerSettings = ServerSettings()
    profiles: tuple[str, ...] = ()
    """Files with profiles of further providers, as `canonicall discover -o` writes them; in a file
    of settings, as seen from its folder."""
    providers: dict[str, ProviderSettings] = {}
    models: dict[str, ModelSettings] = {}
    """By the name clients ask for, in which `*` stands for anything; the first that fits counts."""
    keys: dict[str, KeySettings] = {}
    """Virtual keys by a name for people. Without any, every key is taken, on loopback only."""
    prompts: dict[str, PromptSettings] = {}
    """Stored prompts by their ids."""
    replies: ReplyLimits = DEFAULT_LIMITS
    """The most that is read of one reply."""
    repair: RepairSettings = RepairSettings()
    log: LogSettings = LogSettings()
    store: StoreSettings = StoreSettings()


def fits(pattern: str, name: str) -> bool:
    """Whether `name` is what `pattern` says, in which `*` stands for anything.

    Each part between two stars is taken where it first occurs: no other choice can do better, so
    there is nothing to try again, whatever a client calls its model.
    """
    first, *parts = pattern.split("*")
    if not parts:
        return name == pattern
    last = parts.pop()
    end = len(name) - len(last)
    if not name.startswith(first) or not name.endswith(last) or end < len(first):
        return False
    at = len(first)
    for part in parts:
        found = name.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True


def shown_settings(settings: Settings, keys: list[dict[str, Any]]) -> dict[str, Any]:
    """Settings as an admin is shown them: all but what is secret. `keys`: the same of the keys."""
    return {
        "server": to_builtins(settings.server),
        "profiles": list(settings.profiles),
        "providers": {name: _shown_provider(one) for name, one in settings.providers.items()},
        "models": to_builtins(settings.models),
        "keys": keys,
        "prompts": to_builtins(settings.prompts),
        "replies": to_builtins(settings.replies),
        "repair": to_builtins(settings.repair),
        "log": to_builtins(settings.log),
        "store": to_builtins(settings.store) | {"path": shown(settings.store.path)},
    }


def _shown_provider(provider: ProviderSettings) -> dict[str, Any]:
    """Headers and values may hold anything; their names are enough to find a mistake."""
    known = to_builtins(provider, enc_hook=_hidden)
    for field in ("headers", "values"):
        known[field] = dict.fromkeys(known[field], HIDDEN)
    for field in ("base_url", "proxy"):
        known[field] = known[field] and redacted_text(known[field])
    return dict(known)


def _hidden(value: Any) -> str:
    if not isinstance(value, Secret):
        raise NotImplementedError
    return HIDDEN
