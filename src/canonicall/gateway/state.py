"""What one set of settings amounts to while it is served. A reload makes another one; requests that
have begun go on with theirs."""

from msgspec import Struct

from canonicall.client.transport import Transport
from canonicall.gateway.backs import Backs
from canonicall.gateway.call_counts import CallCounts
from canonicall.gateway.config import Settings
from canonicall.gateway.governance.gate import Gate
from canonicall.gateway.governance.origins import Origins
from canonicall.gateway.keeping import Keeping
from canonicall.gateway.memory import Memory
from canonicall.gateway.routing import Routes, Switched
from canonicall.runtime.middleware import Chain, ToolMiddleware


class Lasting(Struct, frozen=True, kw_only=True):
    """What stays the same through all reloads."""

    keeping: Keeping
    counts: CallCounts
    default: str = ""
    environ: dict[str, str] = {}
    middleware: tuple[ToolMiddleware, ...] = ()


class State:
    """Routes, backs and middleware of one set of settings."""

    def __init__(
        self,
        settings: Settings,
        transport: Transport,
        lasting: Lasting,
        *,
        old: "State | None" = None,
    ) -> None:
        """`old`: the state whose place this one takes; what keys have spent there counts here."""
        self.settings = settings
        self.keeping = lasting.keeping
        self.counts = lasting.counts
        self.tally = lasting.counts.tally
        self.gate = Gate(
            settings.keys,
            open_to_all=not settings.keys,
            share=settings.server.workers,
            revoked=lasting.keeping.revoked,
        )
        if old is not None:
            self.gate.after(old.gate)
        self.origins = Origins(settings)
        self.backs = Backs(settings, transport, environ=lasting.environ)
        if old is not None:
            # Where an address or a key has changed, it is worth asking again.
            before = old.settings.providers
            same = {name for name, one in settings.providers.items() if before.get(name) == one}
            self.backs.breakers.remember(old.backs.breakers, same)
        self.routes = Routes(settings.models, default=lasting.default)
        self.switched: Switched = old.switched if old is not None else Switched()
        self.middleware = lasting.middleware
        self.memory: Memory = old.memory if old is not None else Memory()
        self.middleware_chain = Chain(self.middleware)
        self.waits_for_replies = any(
            type(one).process_response is not ToolMiddleware.process_response
            for one in self.middleware
        )
        """Whether somebody has to see whole replies before the client does."""
        self.open_requests = 0
