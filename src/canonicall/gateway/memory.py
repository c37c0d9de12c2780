"""What is remembered of sessions, so that a request costs what is new in it.

Clients send their whole conversation every time. For sessions that were served lately, what was
read and rendered of it is at hand; a request that goes on differently simply costs more. Nothing
depends on it: another worker, or this one after a restart, makes the same bytes.
"""

from collections import OrderedDict

from canonicall.client.encoder import Renderings
from canonicall.conversation import Conversation
from canonicall.facts.target import Target
from canonicall.rereading import Rereader
from canonicall.transcript.render import Renderer

_MOST_SESSIONS = 256
_MOST_BYTES = 32 * 1024 * 1024
"""Of request bodies; what is made of them takes several times as much."""
_TARGETS_KEPT = 3


class Remembered(Renderings):
    """One session: what was read of it, and what was made of that for its targets."""

    def __init__(self, format: str) -> None:
        super().__init__()
        self.reader = Rereader(format)
        self.size = 0
        self._renderers: OrderedDict[Target, Renderer] = OrderedDict()
        self._last: Renderer | None = None

    def _renderer(self, conversation: Conversation, target: Target) -> Renderer:
        """The one renderer of a target: it finds out itself what it knows of a conversation."""
        del conversation
        last = self._last
        if last is not None and last.target is target:
            # Nearly always; to look a target up takes a while.
            return last
        found = self._last = self._renderers.pop(target, None) or Renderer(target)
        self._renderers[target] = found
        if len(self._renderers) > _TARGETS_KEPT:
            self._renderers.popitem(last=False)
        return found


class Memory:
    """The sessions that were served lately."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[tuple[str, str], Remembered] = OrderedDict()
        self._size = 0

    def of(self, session: str, format: str, size: int) -> Remembered:
        """What is remembered of a session; its request now has `size` bytes."""
        key = (session, format)
        found = self._sessions.pop(key, None) or Remembered(format)
        self._sessions[key] = found
        self._size += size - found.size
        found.size = size
        while len(self._sessions) > _MOST_SESSIONS or (
            self._size > _MOST_BYTES and len(self._sessions) > 1
        ):
            _, gone = self._sessions.popitem(last=False)
            self._size -= gone.size
        return found
