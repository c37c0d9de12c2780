"""The console script `canonicall`, and `python -m canonicall.cli.entry`.

This module imports nothing that the base install lacks: without the `cli` extra the command still
starts, and says what to install.
"""

import io
import sys
from contextlib import suppress

from canonicall.cli.overview import overview

_EXTRA = ("click", "prompt_toolkit", "rich")
_MISSING = (
    "canonicall: the command line needs the packages click, prompt_toolkit and rich."
    " Install them with: pip install 'canonicall[cli]'"
)


def main() -> None:
    """Run the command line and exit with its code."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that has no such letter shows its number.
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")
    if sys.argv[1:] in (["--help"], ["-h"]):
        # Nobody should wait for a list. One that cannot be written is told about below.
        with suppress(OSError):
            sys.stdout.write(overview() + "\n")
            sys.stdout.flush()
            return
    try:
        from canonicall.cli.verbs import cli  # noqa: PLC0415  # click may not be installed

        cli.main(prog_name="canonicall")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _EXTRA:
            raise
        sys.exit(_MISSING)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
