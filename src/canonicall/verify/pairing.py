"""Which result answers which call, where results are messages of their own.

A step is an assistant message with calls and the results that follow it with nothing between.
Ids are compared inside a step only: providers reuse them from one step to the next.
"""

from collections.abc import Iterable, Iterator

from msgspec import Struct, field


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
    yield from _twin_calls(step.calls)
    open_calls = list(step.calls)
    answered: set[str] = set()
    for answer in step.answers:
        call = _answered(open_calls, answer)
        if call is not None:
            open_calls.remove(call)
            answered.add(call.id)
        elif answer.call_id and answer.call_id in answered:
            yield Broken("duplicate_result_sent", answer.where, (answer.call_id,))
        else:
            yield Broken("orphan_result_sent", answer.where, (answer.call_id,))
    yield from _unanswered(open_calls, step.late)


def _answered(calls: Iterable[Call], answer: Answer) -> Call | None:
    return next((one for one in calls if not answer.call_id or one.id == answer.call_id), None)


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
