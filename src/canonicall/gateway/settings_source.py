"""Where settings come from, so that they can be read again while they are in use."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from canonicall.errors import CanonicallError
from canonicall.gateway.settings import Settings

Tell: TypeAlias = Callable[[str, str], None]
"""Is told what happens while a gateway runs: one word for programs, one line for people."""

WATCH_SECONDS = 1.0
"""How often a file that is watched is looked at."""
REFUSED = "reload_refused"
RELOADED = ("reloaded", "The settings were read again and are in use.")
DRAINING = ("draining", "Ending: requests under way may finish. Again to end at once.")
_FIXED = ("host", "port", "workers")


class SettingsSource:
    """The settings in use, and the way to get newer ones."""

    def __init__(self, load: Callable[[], Settings], *, file: str | Path | None = None) -> None:
        """`load` reads them, and raises one of our errors where they are unusable."""
        self._load = load
        self._file = None if file is None else Path(file)
        self._seen: tuple[int, ...] = ()
        self._seen = self._stamp()
        self.settings = load()

    def renew(self, tell: Tell) -> bool:
        """Read them again. Unusable ones are told about, and the old ones stay in use."""
        self._seen = self._stamp()
        try:
            newer = self._load()
        except (CanonicallError, OSError) as error:
            tell(REFUSED, f"The settings stay as they were: {error}")
            return False
        changed = [
            name
            for name in _FIXED
            if getattr(newer.server, name) != getattr(self.settings.server, name)
        ]
        if changed:
            tell("restart_needed", f"{', '.join(changed)}: changed only by a restart.")
        self.settings = newer
        return True

    def has_changed(self) -> bool:
        """Whether the file is another one than the last time it was read."""
        return self._stamp() != self._seen

    def _stamp(self) -> tuple[int, ...]:
        if self._file is None:
            return ()
        try:
            found = self._file.stat()
        except OSError:
            # An editor may take it away before the new one is in its place.
            return self._seen
        return (found.st_mtime_ns, found.st_size, found.st_ino)
