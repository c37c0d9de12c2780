"""The options of a session, and an error for those that do not exist.

`Session` and `Agent` have a keyword for every option. What passes options on, such as
`Agent.session`, takes them as `Unpack[SessionOptions]`, so that type checkers know them there too.
"""

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from difflib import get_close_matches
from functools import wraps
from inspect import signature
from typing import ParamSpec, TypeAlias, TypedDict, TypeVar

from canonicall.agent.counters import Tally
from canonicall.agent.limits import RunLimits
from canonicall.agent.progress import LoopPolicy
from canonicall.blocks import Entry
from canonicall.decisions import WhilePending
from canonicall.guard.budget import CorrectionBudget
from canonicall.request import Params
from canonicall.runtime.approving import Approver
from canonicall.runtime.middleware import ToolMiddleware
from canonicall.runtime.observer import Observer
from canonicall.runtime.scheduler import Scheduler

Keeper: TypeAlias = Callable[[int, Sequence[Entry]], Awaitable[object] | None]
"""Stores entries that were written, the first of them with this number. What it gives back is
awaited before any listener hears of them, or of anything after them."""

_P = ParamSpec("_P")
_R = TypeVar("_R")


class SessionOptions(TypedDict, total=False):
    """What a session can be given besides its model, target, tools and conversation."""

    scheduler: Scheduler | None
    """What runs the calls; a new one where none is given."""
    approve: Approver | None
    """Decides about calls that need approval, before anybody else is asked."""
    keep: Keeper | None
    """Stores the entries of the conversation as they are written."""
    middleware: Iterable[ToolMiddleware]
    """Sees requests, replies, calls and results, in order."""
    observer: Observer | None
    """Hears of runs, such as telemetry."""
    keeps_cut_words: bool
    """Whether what the model had said when it was cancelled, or failed, stays."""
    clock: Callable[[], float]
    """Gives seconds; limits and `Session.stats` go by it."""
    limits: RunLimits | None
    """How far one run may go."""
    budget: CorrectionBudget | None
    """How often the model may correct calls that were refused."""
    params: Params | None
    """Temperature, token limit and other parameters of every request."""
    loops: LoopPolicy | None
    """When a run counts as going in circles."""
    while_pending: WhilePending
    """What becomes of calls that wait when the user says something else."""
    standing_decisions: bool
    """Whether what was decided about later calls counts."""
    tally: Tally | None
    """Counts calls for each provider."""


def known_keywords(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """`function`, which refuses a keyword that it does not have and suggests the nearest."""
    names = [name for name in signature(function).parameters if name != "self"]
    owner = function.__qualname__.removesuffix(".__init__")

    @wraps(function)
    def called(*args: _P.args, **keywords: _P.kwargs) -> _R:
        refuse_unknown(keywords, names, owner)
        return function(*args, **keywords)

    return called


def refuse_unknown(given: Iterable[str], known: Collection[str], owner: str) -> None:
    """Raise a `TypeError` for the first option that `owner` does not have."""
    for name in given:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            help = f"Did you mean {near[0]!r}?" if near else f"There are: {', '.join(known)}."
            raise TypeError(f"{owner} has no option {name!r}. {help}")
