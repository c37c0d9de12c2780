"""What a talk is held with: the model, the tools and the stored sessions.

Sessions are kept in `$XDG_DATA_HOME/canonicall/sessions.db`, unless another file or a database is
named. Close the desk, and all that was said is on the disk.
"""

import os
import secrets
import time
from pathlib import Path
from typing import Any

from canonicall.agent.limits import RunLimits
from canonicall.agent.pending import waiting_calls
from canonicall.blocks import ToolCall
from canonicall.cli.model_choice import OFFLINE, ModelChoice
from canonicall.cli.session_options import Answer, Wanted
from canonicall.cli.tool_choice import choose_tools
from canonicall.errors import CanonicallError
from canonicall.runtime.session import Session
from canonicall.store.database import Database
from canonicall.store.resuming import open_session
from canonicall.store.sessions import SessionStore, Stored

_LONGEST_TITLE = 60


class NothingToResume(CanonicallError):
    """No session is stored."""


def store_path(given: str | None) -> str:
    """The file with the sessions, or the URL of the database."""
    if given is not None:
        return given
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return str(Path(data) / "canonicall" / "sessions.db")


def new_id() -> str:
    """A name for a session: when it began, and something that tells two of one second apart."""
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}"


class Desk:
    """Opens sessions as the command line wants them."""

    def __init__(self, wanted: Wanted) -> None:
        self.wanted = wanted
        self.tools = choose_tools(wanted.tools)
        self.model = ModelChoice(
            script=wanted.script,
            pause=wanted.pause,
            address=wanted.address,
            save_refused=wanted.save_refused,
        )
        self._database = Database(store_path(wanted.store))
        self.store = SessionStore(self._database)

    def close(self) -> None:
        """Write what is still to be written."""
        self._database.close()

    def notes(self, target: str, answer: Answer) -> list[str]:
        """What a person should know before anything is said."""
        notes = [self.model.told(target)]
        if answer == "deny" and any(one.approval != "never" for one in self.tools):
            notes.append("Calls that need approval are denied; --yes allows them.")
        return notes

    async def stored(self, id: str) -> Stored | None:
        """What is known of a session; None where there is none of this name."""
        return next((one for one in await self.store.list() if one.id == id), None)

    async def first(self) -> tuple[str, str]:
        """The session to begin with, and whom to ask in it."""
        wanted = self.wanted
        known: Stored | None = None
        if wanted.resume:
            known = next(iter(await self.store.list()), None)
            if known is None:
                raise NothingToResume("no session is stored yet: begin one without --resume.")
        elif wanted.session:
            known = await self.stored(wanted.session)
        id = known.id if known else wanted.session or new_id()
        return id, wanted.model or (known.target if known else OFFLINE)

    async def waiting(self, id: str) -> tuple[ToolCall, ...]:
        """The calls that wait for approval in a stored session that nobody has open."""
        if await self.stored(id) is None:
            return ()
        conversation = (await self.store.load(id)).conversation
        calls = waiting_calls(conversation).values()
        return tuple(call for call, need in calls if need == "approval")

    async def open(
        self, id: str, target: str, title: str, approve: Any, *, keeps_waiting: bool = False
    ) -> Session:
        """A session, begun where there is none of this name.

        `keeps_waiting`: calls that wait for somebody go on waiting; else they were not run.
        """
        known = await self.stored(id)
        if known is None:
            await self.store.create(Stored(id, target, _one_line(title), created=time.time()))
        elif known.target != target:
            await self.store.retarget(id, target)
        turns = self.wanted.limit_turns
        return await open_session(
            self.store,
            id,
            self.model,
            target,
            self.tools,
            now=time.time,
            instructions=self.wanted.system,
            limits=RunLimits() if turns is None else RunLimits(turns=turns),
            approve=approve,
            keeps_waiting=keeps_waiting,
            # What was allowed once for good is not, where every call is to be denied.
            standing_decisions=not self.wanted.deny,
        )

    async def fork(self, id: str, target: str) -> str:
        """A copy of a session, to go on in another direction; its name."""
        original = await self.store.get(id)
        twin = Stored(new_id(), target, original.title, parent=id, created=time.time())
        await self.store.fork(id, twin)
        return twin.id


def _one_line(text: str) -> str:
    # The one letter that PostgreSQL does not take.
    words = " ".join(text.replace("\0", " ").split())
    return words if len(words) <= _LONGEST_TITLE else f"{words[: _LONGEST_TITLE - 3]}..."
