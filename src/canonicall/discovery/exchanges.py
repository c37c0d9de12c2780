"""What was asked, and what it brought: one exchange, and the fields that refusals have taught."""

from typing import Any

from msgspec import Struct

from canonicall.client.learning import UNKNOWN, change_for
from canonicall.discovery.answer import Answer, Kind, Told, told_in
from canonicall.discovery.draft import Draft
from canonicall.discovery.statement import Evidence
from canonicall.verify.explainer import explain


class Learned(Struct, frozen=True):
    """A field of the target that a refusal has taught."""

    field: str
    value: Any
    evidence: Evidence


class Exchange(Struct, frozen=True):
    """A request and its answer."""

    draft: Draft
    answer: Answer
    kind: Kind
    evidence: Evidence

    @property
    def told(self) -> Told | None:
        """The reply, where there is one."""
        if self.kind != "taken":
            return None
        return told_in(self.answer, self.draft.target, stream=self.draft.stream)


def codes_of(exchange: Exchange) -> list[str]:
    """What a refusal is called, the likeliest first; empty where nobody knows."""
    error = exchange.answer.error(exchange.draft.target.format)
    told = explain(error.native or error.message)
    return [entry.code for entry in told.entries]


def lesson_of(exchange: Exchange) -> dict[str, Any]:
    """The fields that a refusal of the plain request teaches."""
    if exchange.kind != "refused":
        return {}
    draft = exchange.draft
    error = exchange.answer.error(draft.target.format)
    change, _ = change_for(error.native, error.message, draft.body, draft.target)
    return {} if change is None or change.code == UNKNOWN else change.fields
