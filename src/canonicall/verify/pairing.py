"""Which result answers which call, where results are messages of their own.

A step is an assistant message with calls and the results that follow it with nothing between.
Ids are compared inside a step only: providers reuse them from one step to the next.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct, field

MOST_NAMED = 20
"""Each call without a result names all of its message: of many, a sentence names the first."""


class Call(Struct, frozen=True):
    """A call as the body has it."""

    id: str
    name: str
    where: str


class Answer(Struct, frozen=True):
    """A result as the body has it."""

    call_id: str
    where: str
    name: str = ""


class Said(Struct, frozen=True):
    """What one message says about calls."""

    where: str
    calls: tuple[Call, ...] = ()
    answer: Answer | None = None


class Step(Struct):
    """Calls of one message and the results at once behind it."""

    where: str
    calls: tuple[Call, ...]
    answers: list[Answer] = field(default_factory=list)
    late: list[Answer] = field(default_factory=list)
    """Results that come behind something else, up to the next step."""


class Broken(Struct, frozen=True):
    """One broken pair: its code, its place, and the ids a provider names with it."""

    code: str
    where: str
    ids: tuple[str, ...]

    @property
    def names(self) -> str:
        """The ids as a sentence lists them."""
        return listed(self.ids)


def listed(ids: Sequence[str]) -> str:
    """Ids in a sentence: the first of them, and how many more there are."""
    rest = len(ids) - MOST_NAMED
    return ", ".join(ids) if rest <= 0 else f"{', '.join(ids[:MOST_NAMED])} and {rest} more"


class _Waiting:
    """The calls of a step that have no result yet.

    Calls wait in lines, one for each id and one for all. Each call is taken from a line once, so
    the work is linear in the calls, whichever way their results come.
    """

    def __init__(self, calls: Sequence[Call]) -> None:
        self._open = dict(enumerate(calls))
        self._lines: dict[str, list[int]] = {"": list(range(len(calls) - 1, -1, -1))}
        for at in self._lines[""]:
            if id := calls[at].id:
                self._lines.setdefault(id, []).append(at)

    def take(self, id: str) -> Call | None:
        """The first call with this id, or the first of all where there is none to look for."""
        line = self._lines.get(id)
        while line:
            call = self._open.pop(line.pop(), None)
            if call is not None:
                return call
        return None

    def rest(self) -> list[Call]:
        return list(self._open.values())


def broken_pairs(messages: Iterable[Said]) -> Iterator[Broken]:
    """Everything wrong between the calls and the results of a conversation."""
    step: Step | None = None
    is_adjacent = False
    for said in messages:
        if said.answer is not None and step is None:
            yield Broken("orphan_result_sent", said.where, (said.answer.call_id,))
        elif said.answer is not None and step is not None:
            (step.answers if is_adjacent else step.late).append(said.answer)
        elif said.calls:
            if step is not None:
                yield from step_faults(step)
            step, is_adjacent = Step(said.where, said.calls), True
        else:
            is_adjacent = False
    if step is not None:
        yield from step_faults(step)


def step_faults(step: Step) -> Iterator[Broken]:
    """What is wrong inside one step. A result without an id answers the first open call."""
    if not step.late and _is_whole(step):
        return
    yield from _twin_calls(step.calls)
    waiting = _Waiting(step.calls)
    answered: set[str] = set()
    for answer in step.answers:
        call = waiting.take(answer.call_id)
        if call is not None:
            answered.add(call.id)
        elif answer.call_id and answer.call_id in answered:
            yield Broken("duplicate_result_sent", answer.where, (answer.call_id,))
        else:
            yield Broken("orphan_result_sent", answer.where, (answer.call_id,))
    yield from _unanswered(waiting.rest(), step.late)


def _is_whole(step: Step) -> bool:
    """Each call has an id of its own, and the results come in the order of the calls."""
    ids = [call.id for call in step.calls]
    return ids == [one.call_id for one in step.answers] and len(set(ids)) == len(ids)


def _twin_calls(calls: Iterable[Call]) -> Iterator[Broken]:
    seen: set[str] = set()
    for call in calls:
        if call.id and call.id in seen:
            yield Broken("duplicate_call_id", call.where, (call.id,))
        seen.add(call.id)


def _unanswered(calls: list[Call], late: list[Answer]) -> Iterator[Broken]:
    ids = tuple(call.id for call in calls)
    places = {answer.call_id: answer.where for answer in late}
    for call in calls:
        if call.id and call.id in places:
            yield Broken("results_not_adjacent", places.pop(call.id), ids)
        else:
            yield Broken("missing_result", call.where, ids)
    for id, where in places.items():
        yield Broken("orphan_result_sent", where, (id,))
