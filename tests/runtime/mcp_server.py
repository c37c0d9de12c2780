"""A server of the official SDK for the tests: `mcp_server.py LOG [PORT [json]]`.

Without a port it talks by its input and output. With `json` it answers in one piece. What happens to its calls is written to LOG.
"""

import asyncio
import os
import sys
from itertools import count
from pathlib import Path

import uvicorn
from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError

PIXEL = b"\x89PNG\r\n\x1a\n"
NUMBERS = count()
LOG = Path(sys.argv[1])
OUTPUT = os.dup(1)
"""The SDK has it for itself later on."""
server = MCPServer("for tests")


def write(line: str) -> None:
    with LOG.open("a", encoding="utf-8") as log:
        log.write(line + "\n")


@server.tool()
def echo(text: str) -> str:
    """Says it again."""
    write(f"echo {text}")
    return text


@server.tool()
def picture() -> Image:
    """An image."""
    return Image(data=PIXEL, format="png")


@server.tool()
def weather(city: str) -> dict[str, int]:
    """Figures."""
    return {city: 21}


@server.tool()
def fail() -> str:
    """Does not work."""
    raise ToolError("the disk is full")


@server.tool()
async def flood(data: str, megabytes: int) -> str:
    """Writes this to its output without an end, and never answers."""
    for _ in range(megabytes):
        os.write(OUTPUT, data.encode("latin-1") * (1024 * 1024 // len(data)))
    await asyncio.sleep(3600)
    return "done"


@server.tool()
def pid() -> int:
    """Which process this is."""
    return os.getpid()


@server.tool()
async def slow(seconds: float, context: Context, label: str = "") -> str:
    """Takes its time, and says so."""
    await context.report_progress(1, 2, "half")
    write(f"started {label}")
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        write(f"cancelled {label}")
        raise
    return "done"


@server.tool()
async def grow(context: Context) -> str:
    """Has more tools from now on."""
    server.add_tool(pid, name=f"another_{next(NUMBERS)}")
    await context.notify_tools_changed()
    await context.session.send_tool_list_changed()
    return "grown"


if __name__ == "__main__":
    write(f"pid {os.getpid()}")
    if len(sys.argv) > 2:
        app = server.streamable_http_app(json_response="json" in sys.argv)
        uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[2]), log_level="error")
    else:
        server.run("stdio")
