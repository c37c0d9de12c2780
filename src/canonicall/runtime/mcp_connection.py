"""The life of one connection to an MCP server, from its handshake to its end.

The SDK wants a connection to be closed by the task that opened it, and calls come from many. So a
task of its own holds it, and everybody else only talks through it.
"""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from canonicall.errors import CanonicallError
from canonicall.runtime.mcp_transports import FATE, OUTPUT, Fate, Output

if TYPE_CHECKING:
    from mcp import Client

Open: TypeAlias = Callable[[], AbstractAsyncContextManager[tuple[Any, Any]]]
"""Opens the two streams of a connection."""


class McpError(CanonicallError):
    """An MCP server answered with an error: it does not know the tool, or cannot run it."""

    def __init__(self, server: str, what: str) -> None:
        self.server = server
        self.what = what
        super().__init__(f"MCP server {server}: {what}")


class McpConnectionError(McpError):
    """A server that cannot be talked to, or not any more."""


class NotSent(McpConnectionError):
    """The call never reached the server's tools: sending it again is safe."""


class Connection:
    """One connection. Made by `made`; ended by `close`, or by the server."""

    def __init__(self, name: str, on_change: Callable[[], None]) -> None:
        self._name = name
        self._on_change = on_change
        self._client: Client
        self._closing = asyncio.Event()
        self._has_ended = False
        self._failure = ""
        self._holder: asyncio.Task[None]
        self._listener: asyncio.Task[None] | None = None

    @classmethod
    async def made(
        cls, name: str, open: Open, mode: str, patience: float, on_change: Callable[[], None]
    ) -> "Connection":
        """A connection after its handshake. Raises `McpConnectionError`."""
        one = cls(name, on_change)
        ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        one._holder = asyncio.ensure_future(one._hold(open, mode, ready))
        try:
            await asyncio.wait(
                (one._holder, ready), timeout=patience, return_when="FIRST_COMPLETED"
            )
            if ready.done():
                one._client = ready.result()
                return one
            why = "it did not answer in time." if not one._holder.done() else _why(one._holder)
            why = f"{one._failure}." if one._failure else why
        except asyncio.CancelledError:
            await one._abandoned()
            raise
        await one._abandoned()
        raise McpConnectionError(name, f"there is no connection: {why}")

    @property
    def is_alive(self) -> bool:
        """Whether calls can be sent, as far as anybody has noticed."""
        return not self._has_ended and not self._holder.done()

    async def close(self) -> None:
        """End it, and wait until everything behind it has ended, even if nobody wants to wait."""
        self._closing.set()
        await _to_its_end(self._holder)

    def listen(self) -> None:
        """Hear of changes from now on, if the server tells of them and nobody listens yet."""
        if self._listener is None or self._listener.done():
            self._listener = asyncio.ensure_future(self._heard())

    async def list_tools(self, cursor: str | None) -> Any:
        """One page of the list."""
        from mcp import MCPError  # noqa: PLC0415  an extra

        try:
            return await self._client.list_tools(cursor=cursor)
        except MCPError as error:
            why = self._failure or error
            raise McpConnectionError(self._name, f"its tools cannot be listed: {why}.") from error
        except (ValueError, RuntimeError) as error:
            what = f"its list of tools cannot be read ({type(error).__name__})."
            raise McpError(self._name, what) from error

    async def call(
        self, tool: str, arguments: dict[str, Any], report: Callable[[Any], None]
    ) -> Any:
        """What the server answers. Cancelling this tells the server to stop."""
        from mcp import MCPError  # noqa: PLC0415  an extra

        async def progressed(progress: float, total: float | None, message: str | None) -> None:
            told = {"progress": progress, "total": total, "message": message}
            report({name: value for name, value in told.items() if value is not None})

        if not self.is_alive:
            raise NotSent(self._name, "the connection ended before the call was sent.")
        fate = Fate()
        before = FATE.set(fate)
        try:
            return await self._client.call_tool(tool, arguments, progress_callback=progressed)
        except MCPError as error:
            if fate.not_sent:
                self._has_ended = True
                raise NotSent(self._name, f"the call could not be sent: {error}.") from error
            if _is_closed(error) or not self.is_alive:
                raise McpConnectionError(
                    self._name,
                    f"the call has no answer ({self._failure or error})."
                    " What it did is not known; it was not sent again.",
                ) from error
            raise McpError(self._name, f"{tool}: {error}.") from error
        except (ValueError, RuntimeError) as error:
            # The SDK checks what a server answers, and refuses it so.
            what = f"the answer of {tool} cannot be read ({type(error).__name__})."
            raise McpError(self._name, what) from error
        finally:
            FATE.reset(before)

    async def _hold(self, open: Open, mode: str, ready: "asyncio.Future[Client]") -> None:
        from mcp import Client  # noqa: PLC0415  an extra

        try:
            async with Client(
                self._watched(open), mode=mode, message_handler=self._told, cache=None
            ) as client:
                if not ready.done():
                    ready.set_result(client)
                await self._closing.wait()
                await self._stop_listening()
        finally:
            self._has_ended = True
            await self._stop_listening()

    @asynccontextmanager
    async def _watched(self, open: Open) -> Any:
        """The streams, with an eye on the end of what comes in."""
        OUTPUT.set(None)
        async with open() as (incoming, outgoing):
            yield _Watched(incoming, OUTPUT.get() or Output(), self._ended), outgoing

    def _ended(self, failure: str) -> None:
        """Nothing comes any more: what is behind the connection ends as well."""
        self._has_ended = True
        self._failure = self._failure or failure
        self._closing.set()

    async def _told(self, message: Any) -> None:
        """Servers up to 2025-11-25 tell of changes by a notification."""
        if getattr(message, "method", "") == "notifications/tools/list_changed":
            self._on_change()

    async def _heard(self) -> None:
        """Servers since 2026-07-28 tell those who listen. One that is lost may have missed some."""
        from mcp.client.subscriptions import ListenNotSupportedError  # noqa: PLC0415  an extra

        tools = self._client.server_capabilities.tools
        if tools is None or not tools.list_changed:
            return
        try:
            async with self._client.listen(tools_list_changed=True) as changes:
                async for _ in changes:
                    self._on_change()
        except (ListenNotSupportedError, TimeoutError):
            return
        except Exception:  # noqa: BLE001  # however it was lost, changes may be missed from now on
            self._on_change()

    async def _stop_listening(self) -> None:
        if self._listener is not None:
            self._listener.cancel()
            await asyncio.wait((self._listener,))

    async def _abandoned(self) -> None:
        self._closing.set()
        self._holder.cancel()
        await _to_its_end(self._holder)


class _Watched:
    """A stream that tells when it has ended; it does so where the output behind it fails."""

    def __init__(self, stream: Any, output: Output, ended: Callable[[str], None]) -> None:
        self._stream = stream
        self._output = output
        self._ended = ended

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __aiter__(self) -> "_Watched":
        return self

    async def __anext__(self) -> Any:
        try:
            message = await self._stream.__anext__()
        except BaseException:
            self._ended("")
            raise
        if self._output.failure:
            self._ended(self._output.failure)
            raise StopAsyncIteration
        return message

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *exception: object) -> Any:
        return await self._stream.__aexit__(*exception)


async def _to_its_end(task: "asyncio.Task[None]") -> None:
    """Wait for a task that is ending. Whoever is cancelled meanwhile is so afterwards."""
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError as error:
            cancelled = error
    if not task.cancelled():
        # What broke the connection was told to the calls that it broke.
        task.exception()
    if cancelled is not None:
        raise cancelled


def _is_closed(error: Any) -> bool:
    from mcp_types import CONNECTION_CLOSED  # noqa: PLC0415  an extra

    return bool(error.code == CONNECTION_CLOSED)


def _why(task: "asyncio.Task[None]") -> str:
    """Why a connection was not made, in words; groups of exceptions say nothing themselves."""
    error = None if task.cancelled() else task.exception()
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}" if error is not None else "it ended at once."
