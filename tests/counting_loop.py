"""Cancelling at every await point: an event loop that counts its turns."""

import asyncio


class CountingLoop(asyncio.SelectorEventLoop):
    """An event loop that does something before its nth turn: between two awaits of a run."""

    def __init__(self, at):
        super().__init__()
        self.at, self.turns, self.act = at, 0, None

    def _run_once(self):
        self.turns += 1
        if self.turns == self.at and self.act is not None:
            self.act()
        super()._run_once()
