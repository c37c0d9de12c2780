"""What a refusal teaches about the format of the reply: which one cannot be asked for."""

from typing import Any

from canonicall.facts.lessons import lessons, pattern
from canonicall.facts.target import Refusal, Target


def less_output(words: str, target: Target) -> dict[str, Any]:
    """The fields of `target` to ask with once more; none where an error is about something else.

    Any object stands in for a schema, and nothing for any object. Beside tools it is left out, and
    without tools it is asked for again.
    """
    if pattern("output").search(words) is None:
        return {}
    fields = lessons().reading.output_fields.get(target.format, ())
    if pattern("beside_tools").search(words) is not None and fields:
        refused = (Refusal(field=one, beside="tools", error=words) for one in fields)
        return {"refusals": (*target.refusals, *refused)}
    return {"output_modes": ("object",) if len(target.output_modes) > 1 else ()}
