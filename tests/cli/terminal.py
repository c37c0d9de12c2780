"""A real pseudo-terminal with the command line in it, for tests of what people see and press."""

import os
import pty
import re
import select
import signal
import sys

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]")
_READY = "\x1b[?2004h"
"""What prompt_toolkit writes when it begins to read a line."""
_PATIENCE = 40
CTRL_C, CTRL_D, ALT_ENTER, ENTER = "\x03", "\x04", "\x1b\r", "\r"


class Terminal:
    """The command line with these arguments, as a process in a terminal of its own."""

    def __init__(self, *arguments, env):
        self._pid, self._fd = pty.fork()
        if self._pid == 0:
            command = [sys.executable, "-m", "canonicall.cli.entry", *arguments]
            os.execve(sys.executable, command, {**os.environ, **env})  # noqa: S606
        self._seen = ""
        self._from = 0

    def wait_for(self, text):
        """All that is shown until `text` is, from where the last wait ended."""
        while (at := self._seen.find(text, self._from)) < 0:
            if not self._more():
                raise AssertionError(f"{text!r} never came:\n{self._seen[self._from :]}")
        shown = self._seen[self._from : at + len(text)]
        self._from = at + len(text)
        return plain(shown)

    def prompt(self):
        """What is shown until a line can be typed."""
        return self.wait_for(_READY)

    def type(self, keys):
        os.write(self._fd, keys.encode())

    def answer(self, line):
        """Wait until a line can be typed, and type it; what was shown before."""
        shown = self.prompt()
        self.type(line + ENTER)
        return shown

    def end(self):
        """Read to the end; the exit code and what was shown since the last wait."""
        while self._more():
            pass
        _, status = os.waitpid(self._pid, 0)
        self._pid = 0
        return os.waitstatus_to_exitcode(status), plain(self._seen[self._from :])

    def kill(self):
        """End the process without a chance to do anything about it."""
        if self._pid:
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
            self._pid = 0

    def close(self):
        self.kill()
        os.close(self._fd)

    def _more(self):
        ready, _, _ = select.select([self._fd], [], [], _PATIENCE)
        if not ready:
            raise AssertionError(f"nothing more came:\n{self._seen[self._from :]}")
        try:
            piece = os.read(self._fd, 65536)
        except OSError:
            # Linux tells so that the other side is closed.
            return False
        self._seen += piece.decode(errors="replace")
        return bool(piece)


def plain(shown):
    """What is shown, without what only moves the cursor or sets colours."""
    return _ESCAPES.sub("", shown).replace("\r", "")
