"""`unexplained`: the differences between two bodies that no finding names.

`EXPLANATIONS` says which findings can explain a kind of difference, by their codes:

- `code`: one finding explains one difference of the kind, so three texts need three findings.
- `code:name`: the finding has to name it, in its place or in its sentence. `{name}` is the
  parameter, field or tool of the difference. What a finding names, it explains wherever it is.
- `code@`: one finding explains what came in one message.
- `code*`: the finding is about a whole, such as all tools, and explains all that belongs to it.
"""

import re
from collections import defaultdict
from collections.abc import Iterable

from canonicall.findings import Finding
from canonicall.verify.comparison.differences import Difference

_DROPPED = ("param_dropped:{name}", "fields_dropped:{name}")
_SCHEMA = ("schema_reworded", "schema_weakened", "schema_narrowed")
_ARGUMENTS = ("arguments_wrapped", "arguments_unwrapped", "arguments_disagree", "call_converted")
_UNGROUPED = "tools_ungrouped*"
_REPLACED = "lone_surrogate*"
_WITH_RESULT = ("orphan_not_sent*", "result_not_sent*")
"""What goes with a result that is not sent."""

EXPLANATIONS: dict[str, tuple[str, ...]] = {
    "text_missing": ("blank_dropped", "block_dropped", _REPLACED),
    "text_added": (
        _REPLACED,
        *("bridge_added", "ending_added", "words_added", "media_dropped", "media_moved"),
        *("thinking_as_text", "server_tool_dropped", "orphan_not_sent"),
    ),
    "text_role_changed": ("instruction_as_user@",),
    "thinking_missing": ("thinking_dropped", "thinking_as_text"),
    "thinking_added": ("placeholder_added",),
    "signature_missing": ("opaque_dropped", "fields_dropped", "block_dropped"),
    "signature_added": ("placeholder_added",),
    "signature_changed": ("placeholder_added",),
    "media_missing": ("media_dropped", *_WITH_RESULT),
    "media_moved": ("media_moved", "instruction_as_user"),
    "server_missing": ("server_tool_dropped", "block_dropped", "opaque_dropped"),
    "part_missing": ("block_dropped", "media_dropped", "empty_part", "partial_call", *_WITH_RESULT),
    "speaker_missing": ("fields_dropped:name", "speaker_renamed"),
    "speaker_added": ("speaker_renamed",),
    "call_missing": ("call_twice",),
    "call_changed": (*_ARGUMENTS, _REPLACED),
    "result_missing": (
        *("orphan_not_sent", "result_not_sent", "duplicate_result", "conflicting_result"),
    ),
    "result_added": ("result_made_up",),
    "result_changed": (
        *("media_dropped", "media_moved", "block_dropped", "stand_in_replaced", "result_worded"),
        *(_UNGROUPED, _REPLACED),
    ),
    "result_paired": (
        "matched_by_position",
        "matched_by_spelling",
        "result_before_call",
        "result_made_up",
    ),
    "result_moved": ("results_moved*", "result_before_call", "result_in_wrong_role"),
    "order_changed": ("text_before_calls*", "instruction_moved@", "media_moved"),
    "tool_missing": ("tool_dropped", "choice_weakened*"),
    "tool_added": ("tool_stubs_added*", _UNGROUPED),
    "tool_renamed": ("tool_renamed:{name}", _UNGROUPED, "fields_dropped:namespace", _REPLACED),
    "description_changed": (_REPLACED,),
    "tool_kind_changed": ("tool_converted",),
    "schema_changed": (*_SCHEMA, "fields_dropped:format"),
    "strict_changed": ("strict_dropped", "param_dropped:strict"),
    "parameter_missing": (*_DROPPED, "param_changed:{name}"),
    "parameter_changed": ("param_changed:{name}", "param_dropped:{name}"),
    "parameter_added": ("param_added:{name}", "param_changed:{name}"),
    "field_missing": _DROPPED,
    "field_changed": (*_DROPPED, "param_changed:{name}", "param_added:{name}"),
    "field_added": ("param_added:{name}", "param_changed:{name}"),
}
_OF_PARAMETERS: dict[str, tuple[str, ...]] = {
    "tool_choice": ("choice_weakened*", "tool_stubs_added*"),
    "parallel": ("choice_weakened*",),
    "output": tuple(f"{code}:output" for code in _SCHEMA),
}
"""What explains a difference of these parameters besides."""
_ALSO_CALLED = {
    "output": ("response_format", "format", "output_config", "responseMimeType", "outputConfig"),
    "reasoning": ("effort", "budget", "thinking", "reasoning_effort", "think"),
    "max_tokens": ("max_completion_tokens", "max_output_tokens", "maxOutputTokens", "maxTokens"),
    "stop": ("stop_sequences", "stopSequences"),
    "seed": ("random_seed",),
    "top_p": ("topP", "p"),
    "top_k": ("topK", "k"),
}
"""The names that parameters have in the formats."""


def unexplained(
    differences: Iterable[Difference], report: Iterable[Finding]
) -> tuple[Difference, ...]:
    """The differences that no finding of the report explains."""
    findings = tuple(report)
    used: defaultdict[str, dict[int, str]] = defaultdict(dict)
    return tuple(one for one in differences if not _is_explained(one, findings, used[one.kind]))


def _is_explained(one: Difference, findings: tuple[Finding, ...], used: dict[int, str]) -> bool:
    """`used`: the findings that explain a difference of this kind already, and of which message."""
    entries = EXPLANATIONS.get(one.kind, ())
    if one.kind.startswith("parameter"):
        entries += _OF_PARAMETERS.get(one.name, ())
    for entry in entries:
        code, _, named = entry.partition(":")
        is_whole, by_message = code.endswith("*"), code.endswith("@")
        message = _message_of(one.came) if by_message else one.came
        for at, finding in enumerate(findings):
            if finding.code != code.rstrip("*@") or (named and not _names(finding, one, named)):
                continue
            if named or is_whole or (by_message and used.get(at) == message):
                return True
            if at not in used:
                used[at] = message
                return True
    return False


def _message_of(path: str) -> str:
    found = re.match(r"\$\.\w+(\[\d+\])?", path)
    return found[0] if found else path


def _names(finding: Finding, one: Difference, named: str) -> bool:
    """Whether a finding names what an entry demands."""
    said = f"{finding.where} {finding.why}"
    if named != "{name}":
        return re.search(rf"\b{named}\b", said) is not None
    if one.kind.startswith("tool"):
        return one.name in said or repr(one.name)[1:-1] in said
    path = (one.came or one.went).removeprefix("$.")
    names = (one.name, path.rpartition(".")[2], *_ALSO_CALLED.get(one.name, ()))
    if any(re.search(rf"\b{re.escape(name)}\b", said) for name in names):
        return True
    # An object that is named is named with all that it holds.
    listed = {name.rstrip(".") for name in re.findall(r"[\w.]+", finding.why)}
    parts = path.split(".")
    return any(".".join(parts[:count]) in listed for count in range(1, len(parts)))
