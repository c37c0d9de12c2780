"""What can be done in a chat beside talking: the commands that begin with a slash."""

import asyncio
from collections.abc import Awaitable, Callable
from difflib import get_close_matches

from canonicall.cli.desk import Desk
from canonicall.cli.model_choice import target_name
from canonicall.cli.talking import Ended, Talk
from canonicall.facts.registry import get_target
from canonicall.runtime.session import Session

_SHOWN = 20
COMMANDS = {
    "/model": "PROVIDER:MODEL or sim: ask another model from now on; alone: who is asked",
    "/tools": "the tools that are offered",
    "/stats": "figures of this session: turns, calls, tokens, times",
    "/sessions": "the sessions that are stored",
    "/resume": "ID: go on with another session",
    "/fork": "go on in a copy; this session stays as it is",
    "/help": "this list",
    "/quit": "end the talk; so does Ctrl-D",
}
"""Each with what it takes and does."""


class Room:
    """Where the talk is: one session at a time, opened when something is said in it."""

    def __init__(self, desk: Desk, talk: Talk, id: str, target: str) -> None:
        self.desk = desk
        self.id = id
        self.target = target
        self.talk = talk
        self.session: Session | None = None
        self._overhearing: asyncio.Future[None] | None = None

    def remark(self, text: str) -> None:
        """Something to know."""
        self.talk.listener.remark(text)

    async def say(self, text: str) -> Ended:
        """Say something in the session."""
        session = self.session or await self._opened(text)
        return await self.talk.say(session, text)

    async def take_up(self) -> Ended | None:
        """Go on with calls that waited for approval when the session was left, if somebody can
        give it now; else they are over when something is said."""
        waiting = await self.desk.waiting(self.id)
        if not waiting or not self.talk.approvals.can_allow:
            return None
        session = await self._opened("", keeps_waiting=True)
        self.remark(f"Waiting for approval since the session was left: {len(waiting)}.")
        return await self.talk.resume(session)

    async def _opened(self, title: str, *, keeps_waiting: bool = False) -> Session:
        approve = self.talk.approvals.at_once
        session = await self.desk.open(
            self.id, self.target, title, approve, keeps_waiting=keeps_waiting
        )
        self.session = session
        self._overhearing = asyncio.ensure_future(self.talk.overhear(session))
        self.remark(f"session: {self.id}")
        return session

    async def use(self, target: str) -> None:
        """Another model, from the next message on; the conversation stays."""
        get_target(target)
        self.target = target
        if self.session is not None:
            self.session.use(target)
            await self.desk.store.retarget(self.id, target)

    async def enter(self, id: str, target: str) -> None:
        """Go on in another session."""
        await self.leave()
        self.id, self.target = id, target

    async def leave(self) -> None:
        """Close the session; it can be opened again."""
        if self.session is not None:
            await self.session.close()
            self.session = None
        if self._overhearing is not None:
            await self._overhearing
            self._overhearing = None


class Commands:
    """Does what a line with a slash says."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._actions: dict[str, Callable[[str], Awaitable[None]]] = {
            "/model": self._model,
            "/tools": self._tools,
            "/stats": self._stats,
            "/sessions": self._sessions,
            "/resume": self._resume,
            "/fork": self._fork,
            "/help": self._help,
        }

    def is_one(self, text: str) -> bool:
        """Whether a line is a command. With a space in front it is something to say."""
        return text.startswith("/")

    async def do(self, text: str) -> bool:
        """Do it; whether the talk goes on."""
        name, _, given = text.strip().partition(" ")
        if name == "/quit":
            return False
        action = self._actions.get(name)
        if action is None:
            near = get_close_matches(name, COMMANDS, n=1)
            hint = f"Did you mean {near[0]}?" if near else "/help shows what there is."
            self._room.remark(f"There is no command {name}. {hint}")
        else:
            await action(given.strip())
        return True

    async def _model(self, given: str) -> None:
        room = self._room
        wanted = target_name(given) if given else room.target
        told = room.desk.model.told(wanted)
        if given:
            await room.use(wanted)
        room.remark(f"{room.target} is asked. {told}")

    async def _tools(self, given: str) -> None:
        del given
        for one in self._room.desk.tools:
            asked = "" if one.approval == "never" else " (needs approval)"
            self._room.remark(f"{one.name}{asked}: {one.description}")
        if not self._room.desk.tools:
            self._room.remark("No tools are offered.")

    async def _stats(self, given: str) -> None:
        del given
        if self._room.session is None:
            self._room.remark("Nothing has been said in this session yet.")
        else:
            self._room.talk.listener.stats(self._room.session.stats)

    async def _sessions(self, given: str) -> None:
        del given
        stored = await self._room.desk.store.list()
        for one in stored[:_SHOWN]:
            here = "* " if one.id == self._room.id else "  "
            self._room.remark(f"{here}{one.id}  {one.target}  {one.title}")
        if len(stored) > _SHOWN:
            self._room.remark(f"and {len(stored) - _SHOWN:,} more: canonicall sessions")
        if not stored:
            self._room.remark("No session is stored yet.")

    async def _resume(self, given: str) -> None:
        if not given:
            self._room.remark("Say which: /resume ID. /sessions shows them.")
            return
        stored = await self._room.desk.store.get(given)
        await self._room.enter(stored.id, stored.target)
        self._room.remark(f"{stored.entries} entries of {stored.id} are there again.")
        await self._room.take_up()

    async def _fork(self, given: str) -> None:
        del given
        room = self._room
        if room.session is None and await room.desk.stored(room.id) is None:
            room.remark("Nothing has been said in this session yet.")
            return
        before = room.id
        await room.enter(await room.desk.fork(before, room.target), room.target)
        room.remark(f"{room.id} goes on from {before}.")
        await room.take_up()

    async def _help(self, given: str) -> None:
        del given
        for name, about in COMMANDS.items():
            self._room.remark(f"{name:<10} {about}")
        self._room.remark("A line that begins with a space is said as it is.")
