"""Calls and results of the Messages API: blocks that have to stand in two turns next to each other.

Messages of one role in a row are one turn: the API merges them (reference of `messages`). Ids are
unique inside a turn; a later turn may use them again, which was recorded as accepted.
"""

from collections.abc import Iterator

from msgspec import Struct

from canonicall.facts.target import Target
from canonicall.verify.node import Node, dotted
from canonicall.verify.pairing import Answer, Call, Step, listed, step_faults
from canonicall.verify.stored_state import before_replies, calls_on_server
from canonicall.verify.violation import Violation, refuse

HANDLING = "platform.claude.com: handle-tool-calls"
SERVER_CALLS = {"server_tool_use", "mcp_tool_use"}


class Turn(Struct):
    """Messages of one role in a row, as the API reads them."""

    role: str
    where: str
    blocks: list[Node]

    def of_type(self, *types: str) -> list[Node]:
        return [block for block in self.blocks if block.get("type") in types]


def turns_of(messages: list[Node]) -> list[Turn]:
    turns: list[Turn] = []
    for message in messages:
        role = message.text("role")
        if role == "system" and is_silent(message):
            continue
        if not turns or turns[-1].role != role:
            turns.append(Turn(role, message.where, []))
        turns[-1].blocks += blocks(message)
    return turns


def is_silent(message: Node) -> bool:
    """Whether a message only sets the effort: it may stand anywhere, and nothing is read there."""
    if message.get("content") or message.get("role") != "system":
        return False
    return bool(message.node("output_config").fields)


def blocks(message: Node) -> list[Node]:
    """The content as blocks: a string is one text block, and an empty string is none."""
    content = message.get("content")
    if isinstance(content, str):
        text = {"type": "text", "text": content}
        return [Node(text, message.at("content"))] if content else []
    return message.nodes("content")


def pair_violations(
    turns: list[Turn], tools: list[Node], target: Target, *, is_open: bool
) -> Iterator[Violation]:
    """`is_open`: calls that precede the first turn, and tools, may be kept by the provider."""
    seam = before_replies([turn.role for turn in turns], "assistant") if is_open else 0
    yield from _pairs(turns, seam)
    yield from _server_pairs(turns, is_open=is_open)
    if not is_open or tools:
        yield from _server_tools(turns, tools, target)


def _pairs(turns: list[Turn], seam: int) -> Iterator[Violation]:
    """`seam`: how many turns may answer calls that only the provider knows."""
    before = Turn("", "$.messages", [])
    for at, turn in enumerate([*turns, Turn("", "$.messages", [])]):
        calls = tuple(
            Call(one.text("id"), one.text("name"), one.where)
            for one in before.of_type("tool_use")
            if before.role == "assistant"
        )
        results = turn.of_type("tool_result") if turn.role != "assistant" else []
        answers = [Answer(one.text("tool_use_id"), one.where) for one in results]
        if at < seam:
            calls = calls_on_server(answers)
        for broken in step_faults(Step(before.where, calls, answers)):
            error = _pair_error(broken.code, broken.where, broken.ids)
            yield refuse(broken.code, broken.where, error, source=HANDLING)
        yield from _results_first(turn, answers)
        yield from _calls_last(turn)
        yield from _own_results(turn)
        if at >= seam:
            yield from _toolsets(before, turn)
        before = turn


def _pair_error(code: str, where: str, ids: tuple[str, ...]) -> str:
    names = listed(ids)
    if code == "missing_result":
        message = dotted(where).split(".content")[0]
        return (
            f"{message}: `tool_use` ids were found without `tool_result` blocks immediately after: "
            f"{names}. Each `tool_use` block must have a corresponding `tool_result` block in the "
            "next message."
        )
    if code == "duplicate_call_id":
        return f"{dotted(where).split('.content')[0]}.content: `tool_use` ids must be unique"
    if code == "duplicate_result_sent":
        return (
            f"{dotted(where)}: each tool_use must have a single result. "
            f"Found multiple `tool_result` blocks with id: {names}"
        )
    return (
        f"{dotted(where)}: unexpected `tool_use_id` found in `tool_result` blocks: {names}. "
        "Each `tool_result` block must have a corresponding `tool_use` block in the previous "
        "message."
    )


def _results_first(turn: Turn, answers: list[Answer]) -> Iterator[Violation]:
    head = {block.where for block in turn.blocks[: len(answers)]}
    late = [answer for answer in answers if answer.where not in head]
    if late:
        ids = tuple(answer.call_id for answer in late)
        error = _pair_error("missing_result", turn.where, ids)
        source = f"{HANDLING}; NousResearch/hermes-agent#65369"
        yield refuse("results_not_first", late[0].where, error, source=source)


def _calls_last(turn: Turn) -> Iterator[Violation]:
    """Text behind a call parts it from its result: recorded as refused (anomalyco/opencode).

    Where thoughts stand between calls the message is one Claude wrote so, to be sent back as it is.
    """
    calls = turn.of_type("tool_use")
    if turn.role != "assistant" or not calls:
        return
    behind = turn.blocks[turn.blocks.index(calls[0]) :]
    kinds = {block.get("type") for block in behind}
    texts = [block for block in behind if block.get("type") == "text"]
    if texts and kinds.isdisjoint(("thinking", "redacted_thinking")):
        error = _pair_error("missing_result", turn.where, (calls[0].text("id"),))
        source = "anomalyco/opencode: recorded refusal of text behind tool_use"
        yield refuse("calls_not_last", texts[0].where, error, source=source)


def _own_results(turn: Turn) -> Iterator[Violation]:
    """The assistant calls and does not answer."""
    for block in turn.of_type("tool_result") if turn.role == "assistant" else ():
        message = dotted(block.where).partition(".content")[0]
        error = f"{message}: `tool_result` blocks can only be in `user` messages"
        yield refuse("orphan_result_sent", block.where, error, source=HANDLING)


def _toolsets(before: Turn, turn: Turn) -> Iterator[Violation]:
    """The result of a call of a toolset names the toolset as well."""
    named = {one.text("id"): one.text("toolset_name") for one in before.of_type("tool_use")}
    for block in turn.of_type("tool_result"):
        if block.text("toolset_name") != named.get(block.text("tool_use_id"), ""):
            source = "anthropic 2.8.0, types/tool_result_block_param.py: toolset_name"
            yield refuse("missing_field", block.at("toolset_name"), source=source)


def _server_pairs(turns: list[Turn], *, is_open: bool) -> Iterator[Violation]:
    """A provider's own call waits for its result while user messages hold nothing but results."""
    waiting: dict[str, Node] = {}
    for at, turn in enumerate(turns):
        if turn.role == "user" and len(turn.of_type("tool_result")) < len(turn.blocks):
            for id, call in waiting.items():
                error = (
                    f"{dotted(call.where)}: `{call.get('name')}` tool use with id `{id}` was found "
                    f"without a corresponding `{call.get('name')}_tool_result` block"
                )
                yield refuse("server_call_unanswered", call.where, error, source=HANDLING)
            waiting = {}
        if turn.role != "assistant":
            continue
        for block in turn.blocks:
            if str(block.get("type")) in SERVER_CALLS:
                waiting[block.text("id")] = block
            elif str(block.get("type")).endswith("_tool_result"):
                is_known = waiting.pop(block.text("tool_use_id"), None) is not None
                # The call may precede the first turn.
                if not is_known and (at or not is_open):
                    yield _server_orphan(block)


def _server_tools(turns: list[Turn], tools: list[Node], target: Target) -> Iterator[Violation]:
    """A provider's own call that waits needs its tool again, and some need it for ever."""
    names = {tool.text("name") for tool in tools if tool.has("name")}
    blocks = [block for turn in turns for block in turn.blocks]
    done = {
        block.text("tool_use_id")
        for block in blocks
        if str(block.get("type")).endswith("_tool_result")
    }
    for call in blocks:
        if call.get("type") != "server_tool_use":
            continue
        name = call.text("name")
        if name in target.unreplayed:
            source = "the profile of the provider: it does not have this tool"
            yield refuse("bad_part", call.where, source=source)
            continue
        is_needed = call.text("id") not in done or name in target.replayed_if_offered
        # One tool may run under several names: `bash_code_execution` is of `code_execution`.
        if is_needed and not any(name.endswith(one) for one in names):
            source = f"{HANDLING}; pydantic-ai 2.66.0, of the advisor"
            yield refuse("tools_missing", call.where, source=source)


def _server_orphan(block: Node) -> Violation:
    kind, id = block.get("type"), block.text("tool_use_id")
    error = (
        f"{dotted(block.where)}: unexpected `tool_use_id` found in `{kind}` blocks: {id}. Each "
        f"`{kind}` block must have a corresponding `server_tool_use` block before it."
    )
    return refuse("orphan_result_sent", block.where, error, source=HANDLING)
