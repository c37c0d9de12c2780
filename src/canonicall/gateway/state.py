"""What one set of settings amounts to while it is served. A reload makes another one; requests that
have begun go on with theirs."""

from collections.abc import Sequence

from canonicall.client.transport import Transport
from canonicall.gateway.backs import Backs
from canonicall.gateway.keeping import Keeping
from canonicall.gateway.routing import Routes, Switched
from canonicall.gateway.settings import Settings
from canonicall.runtime.middleware import Chain, ToolMiddleware


class State:
    """Routes, backs and middleware of one set of settings."""

    def __init__(
        self,
        settings: Settings,
        transport: Transport,
        keeping: Keeping,
        *,
        default: str = "",
        environ: dict[str, str] | None = None,
        middleware: Sequence[ToolMiddleware] = (),
    ) -> None:
        self.settings = settings
        self.keeping = keeping
        self.backs = Backs(settings, transport, environ=environ)
        self.routes = Routes(settings.models, default=default)
        self.switched = Switched()
        self.middleware = tuple(middleware)
        self.middleware_chain = Chain(self.middleware)
        self.waits_for_replies = any(
            type(one).process_response is not ToolMiddleware.process_response
            for one in self.middleware
        )
        """Whether somebody has to see whole replies before the client does."""
        self.open_requests = 0
