"""What the Converse API of Bedrock refuses, before and instead of the model behind it."""

from collections.abc import Iterator
from typing import Any

from canonicall.facts.target import Target
from canonicall.facts.vocabulary import vocabulary
from canonicall.verify.bedrock_constraints import (
    media_violations,
    name_wanted,
    one_member,
    one_of,
    status_violations,
    unknown_members,
    unmet,
)
from canonicall.verify.bedrock_documents import document_violations, misplaced_media
from canonicall.verify.bedrock_settings import CONVERSE, setting_violations
from canonicall.verify.lexical import id_fault, is_tool_name
from canonicall.verify.node import Node, dotted
from canonicall.verify.pairing import Answer, Call, Step, step_faults
from canonicall.verify.stored_state import (
    before_replies,
    calls_on_server,
    is_delta,
    state_violations,
)
from canonicall.verify.violation import Violation, refuse

BLOCKS = vocabulary("bedrock").blocks
MEDIA = {"image": "image", "document": "document", "video": "video", "audio": "audio"}

UNREAD = (
    "This model doesn't support the {kind} content block that you provided. Update the content "
    "block and try again."
)


def violations(body: dict[str, Any], target: Target) -> Iterator[Violation]:
    root = Node(body)
    messages = root.nodes("messages")
    is_open = is_delta(root, target.format)
    yield from state_violations(root, target)
    if not messages and not is_open:
        error = "A conversation must have at least one message. Try again with a conversation that "
        error += "has one."
        yield refuse("empty_input", "$.messages", error, source=CONVERSE)
    yield from _order(messages, target, is_open=is_open)
    for message in messages:
        yield from _message(message, target)
    yield from document_violations(messages)
    yield from _pairs(messages, is_open=is_open)
    yield from setting_violations(root, messages, target)


def _order(messages: list[Node], target: Target, *, is_open: bool) -> Iterator[Violation]:
    """`is_open`: messages of a stored prompt may precede these."""
    roles = [message.text("role") for message in messages]
    if roles and roles[0] == "assistant" and target.starts_with_user and not is_open:
        error = (
            "A conversation must start with a user message. Try again with a conversation that "
            "starts with a user message."
        )
        yield refuse("must_start_with_user", messages[0].where, error, source=CONVERSE)
    if (
        roles
        and roles[-1] == "assistant"
        and target.ends_with_user
        and not _of(messages[-1], "toolUse")
    ):
        error = (
            "This model does not support assistant message prefill. "
            "The conversation must end with a user message."
        )
        yield refuse("must_end_with_user", messages[-1].where, error, source=CONVERSE)
    for message, before, role in zip(messages[1:], roles, roles[1:], strict=False):
        if role == before and target.merge_roles:
            error = (
                "A conversation must alternate between user and assistant roles. Make sure the "
                "conversation alternates between user and assistant roles and try again."
            )
            yield refuse("roles_do_not_alternate", message.where, error, source=CONVERSE)


def _of(message: Node, kind: str) -> list[Node]:
    """The contents of the blocks of one kind."""
    return [block.node(kind) for block in message.nodes("content") if block.has(kind)]


def _message(message: Node, target: Target) -> Iterator[Violation]:
    yield from unknown_members(message, ("role", "content"), "message", target)
    role = message.text("role")
    if role not in {"user", "assistant", "system"}:
        error = unmet(message.at("role"), one_of(("user", "assistant", "system")))
        yield refuse("unknown_role", message.at("role"), error, source=CONVERSE)
    blocks = message.nodes("content")
    if not blocks:
        error = (
            f"The content field in the Message object at {dotted(message.where)} is empty. Add a "
            "ContentBlock object to the content field and try again."
        )
        yield refuse("empty_message", message.where, error, source="earendil-works/pi#3443")
    for block in blocks:
        yield from _block(block, role, target)
    yield from _blank_texts(blocks)
    yield from _company(message, blocks, target)


def _block(block: Node, role: str, target: Target) -> Iterator[Violation]:
    kinds = [kind for kind in BLOCKS if block.has(kind)]
    if len(kinds) != 1:
        yield from one_member(block, BLOCKS)
        return
    yield from unknown_members(block, BLOCKS, "part", target)
    if kinds == ["toolUse"]:
        yield from _call(block.node("toolUse"), role, target)
    elif kinds == ["toolResult"]:
        yield from _result(block.node("toolResult"), target)
    elif kinds[0] in MEDIA:
        yield from media_violations(kinds[0], block.node(kinds[0]), target)
        if role == "assistant":
            yield from misplaced_media(kinds[0], block)
        elif MEDIA[kinds[0]] not in target.media:
            error = UNREAD.format(kind=kinds[0])
            yield refuse("bad_part", block.where, error, source="recorded traffic")
    elif kinds == ["reasoningContent"]:
        yield from _thought(block, role, target)


def _thought(block: Node, role: str, target: Target) -> Iterator[Violation]:
    thought = block.node("reasoningContent")
    yield from unknown_members(thought, ("reasoningText", "redactedContent"), "part", target)
    yield from unknown_members(thought.node("reasoningText"), ("text", "signature"), "part", target)
    if role == "user" or target.reasoning == "none":
        error = (
            "User messages cannot contain reasoning content. Please remove the reasoning content "
        )
        error += "and try again."
        yield refuse("reasoning_refused", block.where, error, source=CONVERSE)


def _blank_texts(blocks: list[Node]) -> Iterator[Violation]:
    """White space beside other content is accepted (recorded); alone, or empty, it is not."""
    for block in blocks:
        text = block.text("text") if block.has("text") else "other"
        if not text or (not text.strip() and len(blocks) == 1):
            yield _blank(block)


def _blank(block: Node) -> Violation:
    error = (
        f"The text field in the ContentBlock object at {dotted(block.where)} is blank. Add text to "
        "the text field, and try again."
    )
    return refuse("blank_text", block.where, error, source=CONVERSE)


def _call(call: Node, role: str, target: Target) -> Iterator[Violation]:
    yield from _id(call, target)
    yield from unknown_members(call, target.fields.call, "call", target)
    if role != "assistant":
        error = "User messages cannot contain tool uses."
        yield refuse("calls_in_wrong_role", call.where, error, source=CONVERSE)
    if not is_tool_name(call.text("name"), target.names):
        error = unmet(call.at("name"), name_wanted(call.text("name"), target.names))
        yield refuse("bad_tool_name", call.at("name"), error, source=CONVERSE)
    if not isinstance(call.get("input"), dict):
        error = (
            f"The format of the value at {dotted(call.at('input'))} is invalid. Provide a json "
            "object for the field and try again."
        )
        yield refuse("arguments_not_object", call.at("input"), error, source=CONVERSE)


def _id(node: Node, target: Target) -> Iterator[Violation]:
    id, rule = node.text("toolUseId"), target.ids
    if code := id_fault(id, rule):
        wanted = f"Member must satisfy regular expression pattern: {rule.pattern}"
        if code == "call_id_too_long":
            wanted = f"Member must have length less than or equal to {rule.max_length}"
        error = unmet(node.at("toolUseId"), wanted)
        yield refuse(code, node.at("toolUseId"), error, source=CONVERSE)


def _result(result: Node, target: Target) -> Iterator[Violation]:
    yield from _id(result, target)
    yield from unknown_members(result, target.fields.result, "result", target)
    parts = result.nodes("content")
    if not parts and result.get("status") == "error":
        error = f"The content field at {dotted(result.where)} cannot be empty when status value is "
        error += "error."
        source = "aws-samples/sample-multi-agent-orchestration-chat-on-agentcore#15"
        yield refuse("empty_result", result.where, error, source=source)
    elif not parts and not target.empty_results:
        error = f"The content field at {dotted(result.where)} is empty. Add content and try again."
        yield refuse("empty_result", result.where, error, source=CONVERSE)
    if result.has("status") and not target.result_error_flag:
        error = "This model doesn't support the status field. Remove status and try again."
        yield refuse("unknown_field", result.at("status"), error, source=CONVERSE)
    yield from status_violations(result)
    for part in parts:
        if part.has("text") and not part.text("text").strip() and not target.empty_results:
            yield _blank(part)
        if part.has("json") and not isinstance(part.get("json"), dict):
            error = f"The format of the value at {dotted(part.at('json'))} is invalid. Provide a "
            error += "json object for the field and try again."
            yield refuse("bad_result_content", part.where, error, source="sigoden/aichat#1542")
        for kind, family in MEDIA.items():
            if not part.has(kind):
                continue
            yield from media_violations(kind, part.node(kind), target)
            if family not in target.result_media:
                error = _unfit(kind, result, target)
                yield refuse("bad_result_content", part.where, error, source=CONVERSE)


def _unfit(kind: str, result: Node, target: Target) -> str:
    """What is said of media in a result: by the service, or by a model that checks for itself."""
    if "nova" in target.model.lower():  # Recorded: pydantic/pydantic-ai, nova-2-lite.
        place = dotted(result.where).removesuffix(".toolResult").replace(".", "/")
        return (
            f"The model returned the following errors: Malformed input request: #/{place}: "
            "extraneous key [toolResult] is not permitted, please reformat your input and try "
            "again."
        )
    return UNREAD.format(kind=kind)


def _company(message: Node, blocks: list[Node], target: Target) -> Iterator[Violation]:
    """What may stand beside what in one message."""
    results = [block for block in blocks if block.has("toolResult")]
    others = [
        block for block in blocks if not block.has("toolResult") and not block.has("cachePoint")
    ]
    if results and others and target.results == "own_user_message":
        error = "Conversation blocks and tool result blocks cannot be provided in the same turn."
        yield refuse("results_not_alone", message.where, error, source=CONVERSE)
    elif results and not target.documents_beside_results:
        for block in (block for block in others if block.has("document") or block.has("video")):
            error = "Conversation blocks and tool result blocks cannot be provided in the same "
            yield refuse("results_not_alone", block.where, f"{error}turn.", source=CONVERSE)
    documents = [block for block in blocks if block.has("document")]
    if documents and not any(block.has("text") for block in blocks):
        error = "A text block is required in a message that contains a document block."
        yield refuse("document_without_text", documents[0].where, error, source=CONVERSE)


def _pairs(messages: list[Node], *, is_open: bool) -> Iterator[Violation]:
    roles = [message.text("role") for message in messages]
    seam = before_replies(roles, "assistant") if is_open else 0
    pairs = zip([None, *messages], [*messages, None], strict=True)
    for at, (before, message) in enumerate(pairs):
        uses = _uses(before) if before is not None else []
        results = _of(message, "toolResult") if message is not None else []
        if message is not None and message.get("role") == "assistant":
            served = {use.text("toolUseId") for use in _uses(message, of_server=True)}
            results = [one for one in results if one.text("toolUseId") not in served]
        where = message.where if message is not None else f"$.messages[{len(messages)}]"
        answers = [Answer(result.text("toolUseId"), result.where) for result in results]
        calls = tuple(Call(use.text("toolUseId"), use.text("name"), use.where) for use in uses)
        step = Step(where, calls_on_server(answers) if at < seam else calls, answers)
        for broken in step_faults(step):
            error = _pair_error(broken.code, f"{dotted(where)}.content", broken.names)
            yield refuse(broken.code, broken.where, error, source="BerriAI/litellm#20047")


def _uses(message: Node, *, of_server: bool = False) -> list[Node]:
    """The calls of an assistant message. A call that the provider runs (`ToolUseType`) has its
    result in the same message (recorded: nova_grounding); the caller answers the others."""
    uses = _of(message, "toolUse") if message.get("role") == "assistant" else []
    return [use for use in uses if (use.get("type") == "server_tool_use") is of_server]


def _pair_error(code: str, place: str, ids: str) -> str:
    match code:
        case "missing_result":
            return f"Expected toolResult blocks at {place} for the following Ids: {ids}"
        case "duplicate_result_sent":
            return f"The toolResult blocks at {place} contain duplicate Ids: {ids}"
        case "duplicate_call_id":
            return f"The toolUse blocks at {place} contain duplicate Ids: {ids}"
        case _:
            return (
                f"The number of toolResult blocks at {place} exceeds the number of toolUse blocks "
                "of previous turn."
            )
