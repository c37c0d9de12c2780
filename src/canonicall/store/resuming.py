"""Sessions that outlive their process: opened, or opened again after a crash at any point."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from time import monotonic
from typing import Unpack

from canonicall.agent.counters import Tally
from canonicall.agent.inputs import CallEnded
from canonicall.agent.pending import waiting_calls
from canonicall.blocks import Entry, Message
from canonicall.conversation import Conversation
from canonicall.outcome import Outcome
from canonicall.runtime.journal import Begun
from canonicall.runtime.model import Model
from canonicall.runtime.options import SessionOptions, refuse_unknown
from canonicall.runtime.scheduler import Scheduler
from canonicall.runtime.session import Session
from canonicall.store.counters import CounterTable
from canonicall.store.database import Chain
from canonicall.store.sessions import SessionStore, Stored, StoredJournal
from canonicall.tools.toolset import Toolset

_NEVER_BEGUN = "the process ended before it started"
_NOT_SUPPLIED = "the process ended before its result was supplied"
_CUT_OFF = "the process ended while it was running"
_OPTIONS = [name for name in SessionOptions.__annotations__ if name not in ("scheduler", "keep")]


async def open_session(  # noqa: PLR0913  each is a choice of its own
    store: SessionStore,
    id: str,
    model: Model,
    target: str,
    tools: Toolset | None = None,
    *,
    now: Callable[[], float],
    instructions: str = "",
    keeps_waiting: bool = False,
    **options: Unpack[SessionOptions],
) -> Session:
    """The session of this id, begun where there is none, then with `instructions`.

    A call without an end gets the one that is true: its result if the journal has it, `unknown` if
    it had started, `not_run` if it had not. Nothing is run again. With `keeps_waiting` calls that
    waited for a decision or for a result from outside are left open for `Session.resume`.

    Nothing keeps others from opening it too, here or in another process: the first to write goes
    on with it, and for the others it is a StoreError, before a tool is run.

    `options` are those of a session. It has its own scheduler and its own `keep`: both write to the
    store, and so does what its tally counts (`canonicall.store.counters`).
    """
    refuse_unknown(options, _OPTIONS, "open_session")
    known = {one.id for one in await store.list()}
    if id not in known:
        await store.create(Stored(id, target, created=now()))
    conversation = (await store.load(id)).conversation if id in known else Conversation()

    chain = Chain()
    options["tally"] = await _stored_tally(store, options.get("tally") or Tally(), now)

    def keep(first: int, entries: Sequence[Entry]) -> Awaitable[object]:
        return store.append(id, first, entries, now(), chain)

    journal = store.journal(id, chain)
    first = len(conversation)
    if instructions and not conversation.entries:
        conversation.system(instructions)
    await settle(conversation, journal, keeps_waiting=keeps_waiting)
    if len(conversation) > first:
        await keep(first, conversation.entries[first:])
    tools = tools or Toolset()
    clock = options.get("clock", monotonic)
    options["scheduler"] = Scheduler(tools, journal=journal, clock=clock)
    options["keep"] = keep
    return Session(model, target, tools, conversation=conversation, **options)


async def _stored_tally(store: SessionStore, tally: Tally, now: Callable[[], float]) -> Tally:
    """`tally`, whose counts are added to those of the store from now on."""
    table = CounterTable(store.database)
    await table.prepare(now())
    loop = asyncio.get_running_loop()

    def write() -> None:
        table.add(tally.take(), now())

    def write_soon() -> None:
        loop.call_soon(write)

    tally.on_news = write_soon
    return tally


async def settle(
    conversation: Conversation, journal: StoredJournal, *, keeps_waiting: bool = False
) -> None:
    """Give every open call the end that the journal knows.

    Of what waits for a result from outside it knows nothing: that may have happened.
    """
    waiting = waiting_calls(conversation)
    for one in conversation.ledger.open:
        _, need = waiting.get(one.id, (None, None))
        if need is not None and keeps_waiting:
            continue
        if need == "external":
            conversation.close(one.id, Outcome.UNKNOWN, why=_NOT_SUPPLIED)
        else:
            # Written first: a process that is alive after all does not start it any more.
            not_run = CallEnded(one.id, outcome=Outcome.NOT_RUN, why=_NEVER_BEGUN)
            begun = await journal.forgo(not_run)
            _end(conversation, one.id, begun or Begun(one.id, not_run))


def _end(conversation: Conversation, call_id: str, begun: Begun) -> None:
    if begun.ended is None:
        conversation.close(call_id, Outcome.UNKNOWN, why=_CUT_OFF)
    elif begun.ended.result is not None:
        conversation.append(Message("tool", (begun.ended.result,)))
    else:
        ended = begun.ended
        outcome = ended.outcome or Outcome.UNKNOWN
        conversation.close(call_id, outcome, why=ended.why, partial_output=ended.partial)
