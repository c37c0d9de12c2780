"""THE list of passes: everything that happens to a request between its canonical form and a body.

Four stages, each with one signature. A pass changes one thing, says so in the findings of the goal,
and returns what it was given where there is nothing to change. The order is a rule of its own: each
entry has the reason for its place.

- request: `READ` puts it into terms that all targets share, `FITTED` into those of one target.
- history: `Renderer` makes turns of the conversation (its own order is in `transcript/render.py`),
  then `RENDERED` fits request and turns to each other. A format may have rules that no other has:
  its `PASSES` follow.
- encoding: the encoder of the format writes what was decided. It decides nothing itself.
- body: `WRITTEN` looks at the names and values that only the finished body has.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from canonicall.codec.body_fields import (
    kept_here,
    right_kinds_only,
    with_whole_state,
    without_refused,
)
from canonicall.request import Request
from canonicall.transcript.cache_marks import fitted_marks
from canonicall.transcript.offer import (
    declared_tools,
    distinct_tools,
    known_choice,
    known_fields_only,
    narrowed_offer,
    no_tools_for_none,
    renamed_tools,
    sayable_choice,
    strict_as_taken,
    unforced_while_thinking,
    ungrouped,
    unmixed_tools,
    unreasoned_with_tools,
)
from canonicall.transcript.params import (
    plain_request,
    right_kinds,
    streamed,
    thinking_as_taken,
    with_model,
    without_refused_params,
)
from canonicall.transcript.policy import Goal, Pass
from canonicall.transcript.schemas import fitted_output, fitted_schemas
from canonicall.transcript.turns import HistoryPass

RequestPass: TypeAlias = Callable[[Request, Goal], Request]
BodyPass: TypeAlias = Callable[[dict[str, Any], Request, Goal], dict[str, Any]]

READ: tuple[Pass[RequestPass], ...] = (
    Pass("plain values", plain_request, "First: no later pass meets what JSON cannot write."),
    Pass("kept state", kept_here, "Before any repair: a delta must not be completed elsewhere."),
    Pass("groups", ungrouped, "Before tools are counted or named: a group stands for several."),
)
"""What is asked, in terms that all targets share. Findings name places of what this gives."""

FITTED: tuple[Pass[RequestPass], ...] = (
    Pass("model", with_model, "The model of the target is the one that is asked."),
    Pass("kinds", right_kinds, "Before values are compared with what the target takes."),
    Pass("stream", streamed, "It depends on nothing but the host."),
    Pass("thinking", thinking_as_taken, "Before the choice: some calls cannot be forced with it."),
    Pass("refused parameters", without_refused_params, "After thinking, which may be one of them."),
    Pass("output", fitted_output, "Before the tools: strict schemas share limits with its own."),
    Pass("distinct tools", distinct_tools, "Before anything looks a tool up by its name."),
    Pass("known choice", known_choice, "While all tools are there that it can name."),
    Pass("unmixed tools", unmixed_tools, "Before the offer is narrowed to what may be called."),
    Pass("allowed tools", narrowed_offer, "It says by the offer what the choice cannot say."),
    Pass("no tools", no_tools_for_none, "So does this; the history may still demand some."),
    Pass("fields", known_fields_only, "When it is known which tools are left."),
    Pass("declarations", declared_tools, "After all that takes tools away."),
    Pass("forced calls", unforced_while_thinking, "When thinking and offer are decided."),
    Pass("strict marks", strict_as_taken, "Before schemas are fitted: strict ones have rules."),
    Pass("silent tools", unreasoned_with_tools, "When it is known whether there are tools."),
    Pass("schemas", fitted_schemas, "After output and strict marks, whose limits they share."),
    Pass("choice", sayable_choice, "Last: what is left of the choice, beside what is offered."),
)
"""What is asked, as the target takes it."""

RENDERED: tuple[Pass[HistoryPass], ...] = (
    Pass("names", renamed_tools, "When all calls of the history have their names."),
    Pass("cache marks", fitted_marks, "When the turns are final: their marks count before tools'."),
)
"""Request and turns together."""

WRITTEN: tuple[Pass[BodyPass], ...] = (
    Pass("kinds of fields", right_kinds_only, "Before refusals, which compare values."),
    Pass("refused fields", without_refused, "When no other field is added or removed."),
    Pass("whole state", with_whole_state, "Last: whatever was taken out, a delta needs it."),
)
"""The finished body."""
