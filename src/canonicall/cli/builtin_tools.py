"""Tools for a first try: look at files, calculate, tell the time, and run a command if allowed."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from canonicall.cli.arithmetic import calculate
from canonicall.cli.folder import Folder
from canonicall.cli.shell_tool import shell_tool
from canonicall.tools.functions import tool
from canonicall.tools.toolset import Toolset

_NOTHING = "(nothing)"


def _now() -> datetime:
    return datetime.now(UTC).astimezone()


def builtin_tools(root: Path, *, now: Callable[[], datetime] = _now) -> Toolset:
    """The built-in tools for this folder."""
    folder = Folder(root)

    @tool(read_only=True)
    def list_files(path: str = ".") -> str:
        """List what files there are.

        Args:
            path: A folder, relative to the working folder.
        """
        return "\n".join(folder.listed(path)) or _NOTHING

    @tool(read_only=True)
    def read_file(path: str, first_line: Annotated[int, Meta(ge=1)] = 1) -> str:
        """Read a text file.

        Args:
            path: The file, relative to the working folder.
            first_line: Where to begin, for long files.
        """
        return "\n".join(folder.lines(path, first_line)) or _NOTHING

    @tool(read_only=True)
    def search_files(text: Annotated[str, Meta(min_length=1)]) -> str:
        """Search all files for lines with a text.

        Args:
            text: What to look for, whatever the case.
        """
        return "\n".join(folder.hits(text)) or _NOTHING

    @tool(read_only=True)
    def calculator(expression: str) -> str:
        """Calculate the value of an arithmetic expression.

        Args:
            expression: For example "2 * (3 + 4) ** 2" or "sqrt(2)".
        """
        return str(calculate(expression))

    @tool(read_only=True, polling=True)
    def clock() -> str:
        """Tell the date and the time of day."""
        return now().strftime("%A, %Y-%m-%d %H:%M:%S %z")

    return Toolset.of(list_files, read_file, search_files, calculator, clock, shell_tool(root))
