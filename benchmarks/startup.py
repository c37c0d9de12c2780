"""How long a command keeps a person waiting before it does anything.

Both sides are processes of their own that find their modules compiled, as an installed package's
are. `--help` loads no verb and no rich; what it costs beyond `import click` is ours.
"""

import os
import subprocess
import sys
from tempfile import TemporaryDirectory

from measuring import Ratio, Side, compare

_CANONICALL = ("-m", "canonicall.cli.entry")


def ratios() -> list[Ratio]:
    """Start-up against Python alone, and against Python with click."""
    with TemporaryDirectory() as compiled:
        kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTHONDONT")}
        env = {**kept, "PYTHONPYCACHEPREFIX": compiled}

        def process(*arguments: str) -> Side:
            command = [sys.executable, *arguments]
            return Side(
                lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=env),  # noqa: S603  # ours
                1,
            )

        nothing, click = process("-c", "pass"), process("-c", "import click")
        shown = process(*_CANONICALL, "--help")
        verb = process(*_CANONICALL, "check", "--help")
        return [
            compare("canonicall --help : python -c pass", shown, nothing, goal=3),
            compare("import click : python -c pass", click, nothing),
            compare("canonicall --help : import click", shown, click, goal=1.5),
            compare("canonicall check --help : python -c pass", verb, nothing),
        ]
