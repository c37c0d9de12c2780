"""Anthropic's threads: conversations that the API holds under the ids of its replies.

A request with `thread: {"type": "create"}` is held under the id of its reply. One that continues it
sends only new messages; system and tools are those of the thread. Each reply can be continued once:
a second request gets an error that makes the SDK send the whole history again. Sources: anthropic
2.8.0 (Python), types/thread_*_error_details.py and lib/threads/_thread_state.py; the sentences of
the errors are those of the types.

A request with `compaction` is answered with a signed summary, which is checked when it comes back.
"""

from typing import Any

from msgspec import Struct

from canonicall.facts.target import Target
from canonicall.testing.doors.door import State, list_of
from canonicall.testing.exchange import SimRequest
from canonicall.testing.failure import Failure
from canonicall.testing.seals import digest, read_seal
from canonicall.wire.error_body import ErrorBody

THREAD, COMPACTION = "thread", "compaction"
_BETAS = {THREAD: "message-threads-2026-08-12", COMPACTION: "compact-2026-09-04"}
"""What the header `anthropic-beta` has to name for a field: lib/threads/_thread_state.py, and
lib/tools/_beta_runner.py, `compact_before_next_turn`."""
_CREATE_ONLY = ("system", "tools")
# Reported: output_config has to stay the same; lib/threads/_params.py: no turn overrides it.
_FINGERPRINT = ("output_config",)
_INVALID = "invalid_request_error"
_NOT_FOUND = (
    "No usable Thread state was found for `previous_message_id`. Replay the full conversation with"
    ' `thread: {"type": "create"}` to start a new Thread.'
)
_CONTINUED = (
    "The response that `previous_message_id` names has already been continued, and each response"
    " can be continued only once. Continue from the Thread's most recent response `id`."
)
_MISMATCH = (
    "A field that must stay the same across a Thread's turns differs from the value stored with"
    " the Thread; differing field(s): {names}. Send the stored values, or replay the full"
    ' conversation with `thread: {{"type": "create"}}` to change them.'
)
_NOTHING = "`messages` holds no `user` or `assistant` content to summarize or adopt."
_INCOMPLETE = "The compaction request ends on an `assistant` turn that is not finished."
_UNSIGNED = "The `compaction` block's `signature` does not verify."
_EDITED = "The `compaction` block's `content` differs from the text its `signature` recorded."


class Thread(Struct):
    """A conversation up to one reply."""

    fields: dict[str, Any]
    """The fields that the thread was created with and later turns cannot change."""
    messages: list[Any]
    is_paused: bool
    is_continued: bool = False


class MessagesState(State):
    """The threads of one simulator, by the id of the last reply of each."""

    def __init__(self, *, is_lenient: bool) -> None:
        self._is_lenient = is_lenient
        self._threads: dict[str, Thread] = {}

    def opened(self, body: dict[str, Any], request: SimRequest, target: Target) -> dict[str, Any]:
        """`body` with the turns that the API holds; a failure where it cannot be threaded."""
        # Hosts that only speak the format have neither threads nor summaries.
        if self._is_lenient or THREAD not in target.fields.request:
            return body
        betas = [one.strip() for one in request.headers.get("anthropic-beta", "").split(",")]
        for field, beta in _BETAS.items():
            if body.get(field) is not None and beta not in betas:
                raise _refused(f"{field}: Extra inputs are not permitted")
        whole = self._whole(body) if body.get(THREAD) is not None else body
        if whole.get(COMPACTION) is not None:
            _need_something_to_sum_up(whole)
        return whole

    def check(self, whole: dict[str, Any], target: Target) -> None:
        if not self._is_lenient and COMPACTION in target.fields.request:
            _need_own_summaries(whole, target)

    def _whole(self, body: dict[str, Any]) -> dict[str, Any]:
        asked = body[THREAD]
        rest = {name: value for name, value in body.items() if name != THREAD}
        kind = asked.get("type") if isinstance(asked, dict) else None
        if kind == "create":
            return rest
        if kind != "continue":
            what = f"thread: Input tag '{kind}' found using 'type' does not match any of the"
            raise _refused(f"{what} expected tags: 'create', 'continue'")
        id = asked.get("previous_message_id")
        if not isinstance(id, str):
            raise _refused("thread.continue.previous_message_id: Field required")
        return self._continued(rest, id)

    def _continued(self, body: dict[str, Any], id: str) -> dict[str, Any]:
        thread = self._threads.get(id)
        if thread is None:
            raise Failure(404, ErrorBody(_NOT_FOUND, "not_found_error", "thread_not_found"))
        for name in _CREATE_ONLY:
            if body.get(name) is not None:
                raise _refused(f"{name}: cannot be sent when a thread is continued")
        if thread.is_continued:
            raise _refused(_CONTINUED, "thread_already_continued")
        changed = [name for name in _FINGERPRINT if body.get(name) != thread.fields.get(name)]
        if changed:
            words = _MISMATCH.format(names=", ".join(changed))
            raise _refused(words, "thread_fingerprint_mismatch")
        new = list_of(body, "messages")
        if not new and not thread.is_paused:
            raise _refused("messages: at least one message is required")
        return {**body, **thread.fields, "messages": [*thread.messages, *new]}

    def keep(self, asked: dict[str, Any], whole: dict[str, Any], made: dict[str, Any]) -> None:
        """Hold a threaded conversation under the id of its reply."""
        thread = asked.get(THREAD)
        if not isinstance(thread, dict) or self._is_lenient:
            return
        before = self._threads.get(str(thread.get("previous_message_id")))
        if before is not None and thread.get("type") == "continue":
            before.is_continued = True
        reason = made["stop_reason"]
        said = [{"role": "assistant", "content": made["content"]}]
        held = [] if reason == COMPACTION else whole.get("messages", [])
        names = (*_CREATE_ONLY, *_FINGERPRINT)
        fields = {name: whole[name] for name in names if whole.get(name) is not None}
        paused = reason in ("pause_turn", COMPACTION)
        self._threads[made["id"]] = Thread(fields, [*held, *said], paused)


def _refused(words: str, code: str = "") -> Failure:
    return Failure(400, ErrorBody(words, _INVALID, code))


def _need_something_to_sum_up(body: dict[str, Any]) -> None:
    """A failure where a conversation cannot be summed up."""
    messages = [one for one in list_of(body, "messages") if isinstance(one, dict)]
    spoken = [one for one in messages if one.get("role") in ("user", "assistant")]
    if not any(one.get("content") for one in spoken):
        raise _refused(_NOTHING, "compaction_nothing_to_summarize")
    last = spoken[-1]
    kinds = [one.get("type") for one in list_of(last, "content") if isinstance(one, dict)]
    if last.get("role") == "assistant" and "tool_use" in kinds:
        raise _refused(_INCOMPLETE, "compaction_incomplete_turn")


def _need_own_summaries(body: dict[str, Any], target: Target) -> None:
    """A failure where a signed summary is not as it was made."""
    for message in list_of(body, "messages"):
        for block in list_of(message, "content"):
            is_summary = isinstance(block, dict) and block.get("type") == COMPACTION
            if not is_summary or not block.get("signature"):
                continue
            seal = read_seal(block["signature"])
            if seal is None or seal.domain != target.domain:
                raise _refused(_UNSIGNED, "compaction_signature_invalid")
            if seal.content != digest(block.get("content")):
                raise _refused(_EDITED, "compaction_content_mismatch")
