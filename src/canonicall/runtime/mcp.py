"""MCP servers at work: a connection that is held open, and the tools behind it.

    async with McpServer.stdio("my-server", ["--verbose"]) as server:
        agent = Agent(model, "openai", tools=[await server.tools(prefix="my_")])

All calls go through one session. A call is sent at most once: where the connection died before, it
is made anew and the call sent; once a call is on its way, nobody knows what it did, and the tool
answers with an error that says so. Other calls, and other servers, do not notice.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from msgspec.structs import replace

from canonicall.runtime.mcp_connection import Connection, McpConnectionError, NotSent, Open
from canonicall.runtime.mcp_transports import check_sdk, http_transport, stdio_transport
from canonicall.tools.context import ToolContext
from canonicall.tools.mcp import tools_from_mcp
from canonicall.tools.toolset import Toolset

_MOST_PAGES = 1000
"""A list of tools whose pages never end is cut here."""


class McpServer:
    """One MCP server. Use it with `async with`: leaving it ends the server that it started."""

    def __init__(
        self,
        name: str,
        open: Open,
        *,
        mode: str = "auto",
        patience: float = 30.0,
        on_change: Callable[[], None] | None = None,
    ) -> None:
        """
        `mode`: how the SDK finds out which revision the server speaks. `patience`: seconds to
        wait for a connection. `on_change`: called when the server says that its tools changed.
        """
        check_sdk()
        self.name = name
        self.changed = False
        """Whether the tools are not any more what `tools` gave last, as far as the server tells."""
        self._open = open
        self._mode = mode
        self._patience = patience
        self._on_change = on_change
        self._connection: Connection | None = None
        self._connecting = asyncio.Lock()
        self._is_closed = False

    @classmethod
    def stdio(
        cls,
        command: str,
        args: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        **options: Any,
    ) -> "McpServer":
        """A server that is a program: it is started, and talked to by its input and output.

        It inherits a few harmless variables of the environment; `env` is added to them.
        """
        return cls(command, lambda: stdio_transport(command, tuple(args), env), **options)

    @classmethod
    def http(
        cls, url: str, headers: Mapping[str, str] | None = None, **options: Any
    ) -> "McpServer":
        """A server that is reached by streamable HTTP."""
        return cls(url, lambda: http_transport(url, headers), **options)

    async def __aenter__(self) -> Self:
        await self._connected()
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End the connection, and the program if one was started. Calls that run end with it."""
        self._is_closed = True
        async with self._connecting:
            if self._connection is not None:
                await self._connection.close()

    async def tools(
        self,
        *,
        prefix: str = "",
        trusted: bool = False,
        timeout: float | None = None,  # noqa: ASYNC109  for the scheduler
    ) -> Toolset:
        """The tools that the server offers now.

        `prefix` goes before every name, to tell servers apart. What a server says of itself is
        believed if it is `trusted` (see `tools_from_mcp`). `timeout`: seconds for each call.
        """
        connection = await self._connected()
        self.changed = False
        connection.listen()
        listed: list[Any] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await connection.list_tools(cursor)
            listed += page.tools
            cursor = page.next_cursor
            if cursor is None:
                break
        made = tools_from_mcp(listed, self._call, trusted=trusted)
        timed = (replace(tool, timeout=timeout) for tool in made)
        return Toolset.of(Toolset(findings=made.findings), *timed).prefixed(prefix)

    async def _call(self, name: str, arguments: dict[str, Any], context: ToolContext) -> Any:
        """Run one call; the scheduler that cancels it has it cancelled at the server as well."""
        running = asyncio.current_task()
        if running is not None:
            context.on_cancel(running.cancel)
        connection = await self._connected()
        try:
            return await connection.call(name, arguments, context.report)
        except NotSent:
            connection = await self._connected()
            return await connection.call(name, arguments, context.report)

    async def _connected(self) -> Connection:
        """The connection; a new one where there is none, or none any more."""
        async with self._connecting:
            if self._is_closed:
                raise McpConnectionError(self.name, "it was closed.")
            old = self._connection
            if old is not None and old.is_alive:
                return old
            if old is not None:
                await old.close()
                # Whatever started anew may offer other tools.
                self._has_changed()
            self._connection = None
            self._connection = await Connection.made(
                self.name, self._open, self._mode, self._patience, self._has_changed
            )
            if old is not None:
                self._connection.listen()
            return self._connection

    def _has_changed(self) -> None:
        self.changed = True
        if self._on_change is not None:
            self._on_change()
