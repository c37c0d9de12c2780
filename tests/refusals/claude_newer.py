"""What the Messages API refuses of instructions among the messages, of summaries and of cache marks."""

from typing import Any

from refusals.claude import (
    MARK,
    STRING,
    USER,
    asked,
    claude,
    closed,
    result,
    said,
    text,
    tool,
    use,
)
from refusals.rows import Refusal

NEW = "claude-opus-5"
ONE_TURN = {"clear_at": "next_user_message"}
LOW = {"output_config": {"effort": "low"}}
LATE = MARK | {"ttl": "2h"}
REMOVED = {"type": "tool_removal", "tool": {"type": "tool_reference", "name": "look"}}
# As the simulator of Claude signs this text (canonicall.testing.seals).
SIGNATURE = "c2ltMXxbImFudGhyb3BpYyIsImNsYXVkZS1vcHVzLTUiLCJiN2YzOWM4MmM3NDAxNTI3IiwiIl0="
SIGNED = {"type": "compaction", "content": "We said hello.", "signature": SIGNATURE}
# What the API writes by itself stands behind what it sums up, and has no signature.
UNSIGNED = {"type": "compaction", "content": "We said hello.", "encrypted_content": "c29tZQ=="}
LIFETIME = r"cache_control\.ephemeral\.ttl: Input should be '5m' or '1h'"
TURN_SCOPED = r"a turn-scoped system message \(clear_at: 'next_user_message'\)"


def new(words: str, *messages: dict[str, Any], **more: Any) -> Refusal:
    return claude(words, *messages, model=NEW, **more)


def told(content: Any = "Be brief.", **more: Any) -> dict[str, Any]:
    return {"role": "system", "content": content, **more}


INSTRUCTIONS = {
    "a mark on instructions for one turn": new(
        rf"messages\.1\.content\.0: cache_control is not permitted on {TURN_SCOPED}",
        USER, told([text(cache_control=MARK)], **ONE_TURN),
    ),
    "a mark on instructions without words": new(
        r"messages\.1\.cache_control: Extra inputs are not permitted",
        USER, told([], cache_control=MARK, **LOW),
    ),
    "instructions for one turn that set the effort": new(
        rf"messages\.1: output_config is not permitted on {TURN_SCOPED}",
        USER, told(**ONE_TURN, **LOW),
    ),
    "instructions for one turn that take a tool away": new(
        r"messages\.1: a turn-scoped system message supports text blocks only",
        USER, told([text(), REMOVED], **ONE_TURN),
    ),
    "instructions for a time that is not known": new(
        r"messages\.1\.clear_at: Input should be 'next_user_message' or 'never'",
        USER, told(clear_at="tomorrow"),
    ),
    "a time for words of the user": new(
        r"messages\.0\.clear_at: clear_at is only permitted on role 'system' messages",
        USER | {"clear_at": "never"},
    ),
    "an effort for words of the user": new(
        r"messages\.0\.output_config: output_config is only permitted on role 'system' messages",
        USER | LOW,
    ),
    "instructions that say nothing": new(
        r"messages\.1: all messages must have non-empty content", USER, told([], output_config={})
    ),
    "instructions for one turn of an old model": claude(
        r"role 'system' is not supported on this model",
        USER, told(**ONE_TURN), said(text("So.")), USER,
    ),
    "instructions before everything": new(r"", told(), USER),
    "words beside an effort behind the assistant": new(
        r"", USER, said(text("So.")), told([], **LOW), told(), USER
    ),
}  # fmt: skip
SUMMARIES = {
    "a signed summary behind what it sums up": new(
        r"messages\.1\.content\.0: `compaction` block must be sent first, in place of the messages "
        r"it summarizes; remove those messages",
        USER, said(SIGNED), USER,
    ),
    "a signed summary behind other words": new(
        r"messages\.0\.content\.1: `compaction` block must be sent first", asked(text(), SIGNED)
    ),
    "two signed summaries": new(
        r"more than one `compaction` block with content", said(SIGNED), USER, said(SIGNED), USER
    ),
    "two signed summaries at the beginning": new(
        r"more than one `compaction` block with content", said(SIGNED, SIGNED), USER
    ),
    "an empty summary": new(
        r"compaction", USER, said(UNSIGNED | {"content": ""}, text("So.")), USER
    ),
    "a summary as the SDK dumps it": new(
        r"messages\.0\.content\.0\.compaction\.citations: Extra inputs are not permitted",
        said(SIGNED | {"citations": None, "text": None}), USER,
    ),
}  # fmt: skip
SUMMARIZE = {"compaction": {"type": "summarize"}}
REQUESTED = {
    "a summary that is asked for, and one at a threshold": new(
        r"context_management", context_management={"edits": []}, **SUMMARIZE
    ),
    "a summary with a sequence to stop at": new(
        r"stop_sequences", stop_sequences=["x"], **SUMMARIZE
    ),
    "a summary by a schema": new(
        r"output_config\.format",
        output_config={
            "effort": "low",
            "format": {"type": "json_schema", "schema": closed(a=STRING)},
        },
        **SUMMARIZE,
    ),
    "a summary with a forced call": new(r"tool_choice", tool_choice={"type": "any"}, **SUMMARIZE),
}
MARKS = {
    "a lifetime that is not known": claude(
        rf"messages\.0\.content\.0\.text\.{LIFETIME}", asked(text(cache_control=LATE))
    ),
    "a lifetime of a tool that is not known": claude(LIFETIME, tools=[tool(cache_control=LATE)]),
    "a lifetime of instructions that is not known": claude(
        rf"system\.0\.{LIFETIME}", system=[text(cache_control=LATE)]
    ),
    "a lifetime for all that is not known": claude(LIFETIME, cache_control=LATE),
    "a lifetime in seconds": claude(LIFETIME, asked(text(cache_control=MARK | {"ttl": 300}))),
    "a mark of a kind that is not known": claude(
        r"cache_control: Input tag 'persistent' found using 'type' does not match any of the "
        r"expected tags: 'ephemeral'",
        asked(text(cache_control={"type": "persistent"})),
    ),
    "a mark of no kind": claude(
        r"cache_control: Unable to extract tag", asked(text(cache_control={"ttl": "1h"}))
    ),
    "an unknown field of a mark": claude(
        r"text\.cache_control\.ephemeral\.priority: Extra inputs are not permitted",
        asked(text(cache_control=MARK | {"priority": 1})),
    ),
}
CONTENT = {
    "a failed result that is empty": claude(
        r"messages\.2\.content\.0\.tool_result: content cannot be empty if `is_error` is true",
        USER, said(use()), asked(result(content="", is_error=True)),
    ),
    "a failed result without content": claude(
        r"content cannot be empty if `is_error` is true",
        USER, said(use()), asked(result(content=None, is_error=True)),
    ),
    "very many messages": claude(
        r"messages: List should have at most 100000 items",
        messages=[USER, {"role": "assistant", "content": "So."}] * 50_000 + [USER],
    ),
}  # fmt: skip
ROWS = {**INSTRUCTIONS, **SUMMARIES, **REQUESTED, **MARKS, **CONTENT}
ACCEPTED = {
    "a mark on instructions that stay": new(
        "", USER, told([text(cache_control=MARK)], clear_at="never")
    ),
    "instructions for one turn": new("", USER, told(**ONE_TURN), said(text("So.")), USER),
    "instructions for one turn, one behind the other": new(
        "", USER, told(**ONE_TURN), told([text()], **ONE_TURN)
    ),
    "instructions that set the effort as well": new("", USER, told(**LOW)),
    "an effort before everything": new("", told([], **LOW), USER),
    "an effort behind the assistant": new("", USER, said(text("So.")), told([], **LOW), USER),
    "an effort between a call and its result": new(
        "", USER, said(use()), told([], **LOW), asked(result())
    ),
    "a signed summary of the assistant's first": new("", said(SIGNED), USER),
    "a signed summary of the user's first": new("", asked(SIGNED, text())),
    "a signed summary before words of the assistant": new(
        "", said(SIGNED), said(text("So.")), USER
    ),
    "two summaries that nobody asked for": new(
        "", USER, said(UNSIGNED, text("So.")), USER, said(UNSIGNED, text("So.")), USER
    ),
    "a summary that failed": new("", USER, said(UNSIGNED | {"content": None}, text("So.")), USER),
    "a summary that is asked for": new("", tool_choice={"type": "auto"}, **SUMMARIZE),
    "a mark on a summary": new("", said(SIGNED | {"cache_control": MARK}), USER),
    "a lifetime of five minutes": claude("", asked(text(cache_control=MARK | {"ttl": "5m"}))),
    "a mark for all requests": claude("", system=[text(cache_control=MARK | {"scope": "global"})]),
    "an empty result": claude("", USER, said(use()), asked(result(content=""))),
    "an empty result that is no failure": claude(
        "", USER, said(use()), asked(result(content="", is_error=False))
    ),
}  # fmt: skip
