"""A response body of the Chat Completions API, to and from canonical form.

The reply's native fields keep what has no canonical meaning, each where it stood: `body`, `choice`,
`message`, the `other_choices`, and the `finish_reason` where no canonical word leads back to it.
Only annotations stay with the message, because they belong to its words.
"""

from typing import Any

from msgspec.structs import replace

from canonicall.blocks import Block, Message, Native, Origin, Thinking, ToolCall, Unknown
from canonicall.findings import Action, Fault, Finding
from canonicall.reply import ERROR, REFUSAL, STOP, Reply
from canonicall.wire.finishing import finish_findings, finish_told, is_kept, runs_calls
from canonicall.wire.openai_chat import FORMAT, TARGET
from canonicall.wire.openai_chat.audio import encode_audio
from canonicall.wire.openai_chat.calls import encode_reply_call
from canonicall.wire.openai_chat.errors import decode_error
from canonicall.wire.openai_chat.finish import (
    decode_finish,
    decode_usage,
    encode_finish,
    encode_usage,
    meaning_of,
)
from canonicall.wire.openai_chat.messages import (
    ASSISTANT_FIELDS,
    as_made,
    content_blocks,
    decode_assistant_blocks,
    encode_beside,
)
from canonicall.wire.openai_chat.native import field_of, native_of, own_fields, rest_of
from canonicall.wire.openai_chat.parts import encode_content, is_refusal
from canonicall.wire.openai_chat.reasoning import encode_reply_reasoning
from canonicall.wire.reading import list_at, object_at, text_at

RESPONSE_ID = "chatcmpl-canonicall"
_BODY_FIELDS = ("id", "object", "model", "choices", "usage")
_CHOICE_FIELDS = ("index", "message", "finish_reason")
_NOTHING_SAID: dict[str, Any] = {"role": "assistant", "content": None, "refusal": None}
_FIRST = "$.choices[0]"


def decode_response(
    body: dict[str, Any], *, origin: Origin | None = None, domain: str | None = None
) -> Reply:
    """The canonical reply in `body`. An error inside a 200 is a reply that ended with it."""
    findings: list[Finding] = []
    choices = [
        object_at(choice, f"$.choices[{index}]")
        for index, choice in enumerate(list_at(body.get("choices"), "$.choices"))
    ]
    choice = choices[0] if choices else {}
    said = choices if _is_split(choices) else choices[:1]
    domain = TARGET.domain if domain is None else domain
    blocks = tuple(
        block
        for index, one in enumerate(said)
        for block in decode_assistant_blocks(
            _message_in(one, index), f"$.choices[{index}].message", domain, findings
        )
    )
    finish, kept = _decode_ending(body, choice, blocks, findings)
    annotations = _message_in(choice).get("annotations")
    message = Message(
        "assistant",
        blocks,
        origin=_origin(body, origin),
        finish=finish,
        native=Native(FORMAT, {"annotations": annotations}) if annotations else None,
    )
    findings += _choice_findings(choices, said)
    native = _decode_rest(body, choice) | {
        "other_choices": choices[len(said) :],
        "finish_reason": kept,
    }
    native = {name: field for name, field in native.items() if field}
    usage = decode_usage(object_at(_usage_in(body, choice) or {}, "$.usage"))
    return Reply(message, usage, tuple(findings), native_of(native))


def encode_response(reply: Reply) -> dict[str, Any]:
    """The body a client of the Chat Completions API expects."""
    native = own_fields(reply.native)
    origin = reply.message.origin or Origin()
    choice = {
        "index": 0,
        "message": _NOTHING_SAID | encode_message(reply.message) | native.get("message", {}),
        "logprobs": None,
        "finish_reason": encode_ending(reply, native.get("finish_reason")),
    }
    body: dict[str, Any] = {
        "id": origin.response_id or RESPONSE_ID,
        "object": "chat.completion",
        "created": 0,
        "model": origin.model,
        "choices": [choice | native.get("choice", {}), *native.get("other_choices", ())],
    }
    if reply.usage is not None:
        body["usage"] = encode_usage(reply.usage)
    body |= native.get("body", {})
    return body


def _origin(body: dict[str, Any], origin: Origin | None) -> Origin:
    origin = origin or Origin(provider=TARGET.provider, format=FORMAT)
    return replace(
        origin,
        model=origin.model or text_at(body.get("model"), "$.model"),
        response_id=origin.response_id or text_at(body.get("id"), "$.id"),
    )


def _message_in(choice: dict[str, Any], index: int = 0) -> dict[str, Any]:
    return object_at(choice.get("message") or {}, f"$.choices[{index}].message")


def _is_split(choices: list[dict[str, Any]]) -> bool:
    """Whether the choices are one reply: the first announces calls that only a later one has.

    Copilot splits replies of Claude like that (HKUDS/nanobot#1555, ericc-ch/copilot-api#81).
    """
    if len(choices) < 2 or choices[0].get("finish_reason") != "tool_calls":
        return False
    has_calls = [bool(_message_in(one, n).get("tool_calls")) for n, one in enumerate(choices)]
    return not has_calls[0] and any(has_calls)


def _choice_findings(
    choices: list[dict[str, Any]], said: list[dict[str, Any]]
) -> tuple[Finding, ...]:
    where = "$.choices"
    if len(said) > 1:
        why = f"One reply came in {len(said)} choices; they were joined."
        return (Finding("split_reply", where, Action.CHANGED, why, Fault.INPUT),)
    if len(choices) > 1:
        why = f"The response has {len(choices)} choices; the first is the message."
        return (Finding("more_choices", where, Action.SET_ASIDE, why, Fault.INPUT),)
    return ()


def _decode_rest(body: dict[str, Any], choice: dict[str, Any]) -> dict[str, Any]:
    known = _BODY_FIELDS if body.get("created") else (*_BODY_FIELDS, "created")
    return {
        "body": rest_of(body, known),
        "choice": rest_of(choice, _CHOICE_FIELDS),
        "message": rest_of(_message_in(choice), (*ASSISTANT_FIELDS, "annotations")),
    }


def _usage_in(body: dict[str, Any], choice: dict[str, Any]) -> Any:
    """`usage`, or where hosts put it: Groq into `x_groq`, Kimi's streams into the choice."""
    groq, in_choice = body.get("x_groq"), choice.get("usage")
    return (
        body.get("usage")
        or (groq.get("usage") if isinstance(groq, dict) else None)
        or (in_choice if isinstance(in_choice, dict) else None)
    )


def _decode_ending(
    body: dict[str, Any],
    choice: dict[str, Any],
    blocks: tuple[Block, ...],
    findings: list[Finding],
) -> tuple[str, str]:
    """The canonical finish, and the wire's word where it has to be remembered."""
    where = f"{_FIRST}.finish_reason"
    raw = text_at(choice.get("finish_reason"), where)
    native = choice.get("native_finish_reason")
    calls = runs_calls(blocks)
    finish = decode_finish(raw, calls, native if isinstance(native, str) else None)
    known = meaning_of(raw)
    findings += finish_findings(raw, known, finish, where)
    if known and native is not None and finish != decode_finish(raw, calls):
        why = f"The host says {raw!r}, the model's own provider {native!r}; the latter counts."
        findings.append(Finding("finish_corrected", where, Action.CHANGED, why, Fault.INPUT))
    if finish in ("", STOP) and any(map(is_refusal, blocks)):
        finish = REFUSAL
    error = body.get("error") or choice.get("error")
    if error or (not choice and decode_error(body).message):
        said = decode_error({"error": error} if error else body).message
        why = f"The response carries an error: {said}"
        findings.append(Finding("error_in_reply", "$", Action.KEPT, why, Fault.INPUT))
        finish = ERROR
    elif not choice:
        why = "The response has no choices."
        findings.append(Finding("reply_missing", "$.choices", Action.KEPT, why, Fault.INPUT))
    return finish, raw if is_kept(raw, known, finish, encode_finish(finish)) else ""


def encode_ending(reply: Reply, kept: str | None) -> str | None:
    """The wire's word: of those that lead back to the canonical one, OpenAI's first."""
    finish = finish_told(reply.message)
    if reply.finish == REFUSAL and any(map(is_refusal, reply.message.blocks)):
        return "stop"
    if any(field_of(call) == "function_call" for call in reply.calls):
        return "function_call"
    word = encode_finish(finish)
    leads_back = word is not None and meaning_of(word) == finish
    return kept if kept and meaning_of(kept) == finish and not leads_back else word


def encode_message(message: Message) -> dict[str, Any]:
    """The message of a response. Calls that a provider ran itself are none of the client's."""
    blocks = tuple(as_made(block) for block in message.blocks if not _is_foreign(block))
    thoughts = [block for block in blocks if isinstance(block, Thinking)]
    chunks = [thought for thought in thoughts if field_of(thought) == "content"]
    content = encode_content(content_blocks(blocks, chunks), TARGET)
    wire: dict[str, Any] = {"role": "assistant", "content": content or None}
    wire |= encode_reply_reasoning(thoughts) | encode_beside(blocks) | encode_audio(blocks)
    made = [block for block in blocks if isinstance(block, ToolCall)]
    calls = [call for call in made if field_of(call) != "function_call"]
    if calls:
        wire["tool_calls"] = [encode_reply_call(call) for call in calls]
    for call in made:
        if field_of(call) == "function_call":
            wire["function_call"] = encode_reply_call(call)["function"]
    return wire | own_fields(message.native)


def _is_foreign(block: Block) -> bool:
    """Whether a block means something to another format only."""
    if isinstance(block, Unknown):
        return block.native is None or block.native.format != FORMAT
    return isinstance(block, ToolCall) and block.kind == "server"
