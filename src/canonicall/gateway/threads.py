"""Anthropic's threads: `thread` names a reply, and the request has only what follows it.

A thread keeps its `system` and `tools`, and `output_config` has to stay the same; a continuation
brings the rest of the request anew. Each reply can be continued any number of times, by any target.
A summary that was asked for takes the place of all that was said before it.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from canonicall.gateway.config import StoreSettings
from canonicall.gateway.exchange import Refused
from canonicall.gateway.keeping import Keeping
from canonicall.gateway.opaque import is_packed
from canonicall.gateway.storage import too_long
from canonicall.gateway.turn_tree import MESSAGE, Line, Storing, Whole

FORMAT = "anthropic"
FIELD = "thread"
_KINDS = ("create", "continue")
_FIXED = ("system", "tools")
"""What a thread keeps and no continuation repeats (anthropic 2.8.0, lib/threads)."""
_FINGERPRINT = ("output_config",)
"""What a continuation repeats as it was (types/thread_fingerprint_mismatch_error_details.py). Which
fields these are is not documented: this is the one that no turn of the SDK can change
(types/beta/thread_send_params.py)."""
_ATTRIBUTION = "x-anthropic-billing-header:"
"""Claude Code 2.1.278 and later sends this one block of `system` with each continuation."""
_COMPACTION = "compaction"
_UNFINISHED = ("pause_turn", _COMPACTION)
"""The stop reasons after which a continuation may bring no message."""
_MARK = "cache_control"
_HOLD_BLOCKS = ("content", "source", "tool", "definition", "tool_references")
"""The fields whose blocks may have a mark (`lib/threads/_thread_state.py`)."""


async def whole_message(
    body: dict[str, Any], keeping: Keeping, limits: StoreSettings, *, owner: str
) -> Whole:
    """`body` with the messages of the thread that it continues."""
    thread = body.get(FIELD)
    if thread is None:
        return Whole(body)
    rest = {name: value for name, value in body.items() if name != FIELD}
    said = body.get("messages")
    messages = said if isinstance(said, list) else []
    kind = thread.get("type") if isinstance(thread, dict) else None
    if kind not in _KINDS:
        expected = ", ".join(repr(one) for one in _KINDS)
        what = (
            f"thread: Input tag {kind!r} found using 'type' does not match any of the expected"
            f" tags: {expected}"
        )
        raise Refused(400, "malformed", what)
    if kind == "create":
        fields = {name: body[name] for name in (*_FIXED, *_FINGERPRINT) if name in body}
        return Whole(rest, storing=Storing(kind=MESSAGE, input=messages, fields=fields))
    before = await _found(thread.get("previous_message_id"), keeping, owner)
    _refuse_too_long(before, messages, limits)
    stored = before.first.get("fields", {})
    fixed = _fixed(body, {name: stored[name] for name in _FIXED if name in stored})
    _refuse_changed(body, stored)
    if not messages and before.last["response"].get("stop_reason") not in _UNFINISHED:
        raise Refused(400, "malformed", "messages: at least one message is required")
    history = [_unmarked(one) for one in _messages(before)]
    storing = Storing(kind=MESSAGE, input=messages, after=before)
    return Whole({**rest, **fixed, "messages": [*history, *messages]}, storing=storing)


def unsupported() -> Refused:
    """The answer where no thread is kept: clients send the whole conversation then."""
    what = (
        "thread: this gateway stores no conversations, and the model is not asked at Anthropic."
        " Send the full conversation without `thread`."
    )
    more = {"unsupported": ["inference_hooks"]}
    return Refused(400, "unsupported", what, code="thread_unsupported_request", details=more)


async def _found(id: Any, keeping: Keeping, owner: str) -> Line:
    if not isinstance(id, str) or not id:
        raise Refused(400, "malformed", "thread.continue.previous_message_id: Field required")
    found = await keeping.turns.line(MESSAGE, id, owner=owner)
    if found is None:
        raise _not_found(id)
    return found


def _not_found(id: str) -> Refused:
    what = (
        f"No usable Thread state was found for `previous_message_id` {id}. Replay the full"
        ' conversation with `thread: {"type": "create"}` to start a new Thread.'
    )
    return Refused(404, "not_found", what, code="thread_not_found")


def _refuse_too_long(before: Line, messages: list[Any], limits: StoreSettings) -> None:
    passed = too_long(before, len(msgspec.json.encode(messages)), limits)
    if passed == "turns":
        # A client that replays the whole conversation goes on in a new thread.
        raise _not_found(before.last["response"].get("id", ""))
    if passed == "bytes":
        what = f"Request exceeds the maximum size: a thread has at most {limits.max_bytes} bytes."
        raise Refused(413, "too_large", what)


def _fixed(body: Mapping[str, Any], stored: Mapping[str, Any]) -> dict[str, Any]:
    """`system` and `tools` as the thread has them."""
    system = body.get("system")
    attribution = _attribution(system)
    repeated = [
        name for name in _FIXED if body.get(name) and not (name == "system" and attribution)
    ]
    if repeated:
        named = " and ".join(f"`{name}`" for name in repeated)
        what = f"thread: {named} cannot be sent with `continue`: the Thread keeps its own."
        raise Refused(400, "malformed", what)
    fixed = dict(stored)
    if attribution and isinstance(fixed.get("system"), list):
        own = [one for one in fixed["system"] if not _is_attribution(one)]
        fixed["system"] = [*attribution, *own]
    return fixed


def _refuse_changed(body: Mapping[str, Any], stored: Mapping[str, Any]) -> None:
    changed = [f"`{name}`" for name in _FINGERPRINT if body.get(name) != stored.get(name)]
    if not changed:
        return
    what = (
        "A field that must stay the same across a Thread's turns differs from the value stored with"
        f" the Thread: {', '.join(changed)}. Send the stored values, or replay the full"
        ' conversation with `thread: {"type": "create"}` to change them.'
    )
    raise Refused(400, "malformed", what, code="thread_fingerprint_mismatch")


def _attribution(system: Any) -> list[Any]:
    """The blocks of `system`, where they say nothing to the model."""
    if isinstance(system, list) and all(map(_is_attribution, system)):
        return system
    return []


def _is_attribution(block: Any) -> bool:
    text = block.get("text") if isinstance(block, dict) else None
    return isinstance(text, str) and text.startswith(_ATTRIBUTION)


def _messages(before: Line) -> list[Any]:
    made: list[Any] = []
    for turn in before.turns:
        said = turn["response"].get("content", [])
        if any(map(_replaces, said)):
            made.clear()
        else:
            made += turn["input"]
        made.append({"role": "assistant", "content": said})
    return made


def _replaces(block: Any) -> bool:
    """Whether a block is a summary that was asked for. One that the API wrote at a threshold is
    not signed; it stands behind what it sums up."""
    if not isinstance(block, dict) or block.get("type") != _COMPACTION or not block.get("content"):
        return False
    return bool(block.get("signature")) or is_packed(block.get("encrypted_content"))


def _unmarked(value: Any) -> Any:
    """Messages without their marks for the cache: each was set for the request that sent it first,
    and a request takes only a few of them."""
    if isinstance(value, list):
        return [_unmarked(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        name: _unmarked(one) if name in _HOLD_BLOCKS else one
        for name, one in value.items()
        if name != _MARK
    }
