"""Who may speak in the Messages API, and what instructions among the messages may hold.

An entry of role "system" may last for one turn (`clear_at`), or say nothing and set the effort
(`output_config`). Such an entry without words may stand anywhere: `turns_of` does not see it.
"""

from collections.abc import Iterator

from canonicall.facts.target import Target
from canonicall.verify.anthropic_pairs import Turn
from canonicall.verify.node import Node, dotted
from canonicall.verify.violation import Violation, refuse

MESSAGES = "platform.claude.com: messages API reference"
ERRORS = "platform.claude.com: errors"
INSTRUCTIONS = "platform.claude.com: mid-conversation-system-messages"
PROBED = "live answer of the API, reported 2026-10"
ONE_TURN = "next_user_message"
# Instructions hold words, and say which tools are there from now on.
CONTENT = ("text", "tool_addition", "tool_removal")
TAGS = ", ".join(f"'{kind}'" for kind in CONTENT)
CONTENT_SOURCE = "anthropic 2.8.0, types/beta/beta_system_message_param.py"
SCOPED = f"(clear_at: '{ONE_TURN}')"


def role_violations(messages: list[Node], target: Target) -> Iterator[Violation]:
    for message in messages:
        role = message.text("role")
        if role == "system":
            yield from _entry(message, target)
        elif role not in {"user", "assistant"}:
            error = f"{dotted(message.at('role'))}: Input should be 'user' or 'assistant'"
            yield refuse("unknown_role", message.at("role"), error, source=MESSAGES)
        elif "clear_at" in message.fields or "output_config" in message.fields:
            yield from _only_of_instructions(message)


def _entry(message: Node, target: Target) -> Iterator[Violation]:
    """What instructions hold is looked at where unknown fields of messages are refused as well."""
    if not target.system_later:
        error = f"{dotted(message.where)}: role 'system' is not supported on this model"
        yield refuse("misplaced_instructions", message.where, error, source=ERRORS)
    elif "message" in target.fields.closed:
        is_scoped = message.get("clear_at") == ONE_TURN
        yield from _of_one_turn(message) if is_scoped else _lasting(message)


def _lasting(message: Node) -> Iterator[Violation]:
    if message.get("clear_at") not in (None, "never"):
        where = message.at("clear_at")
        error = f"{dotted(where)}: Input should be '{ONE_TURN}' or 'never'"
        yield refuse("parameter_unsupported", where, error, source=INSTRUCTIONS)
    content = message.get("content")
    for block in message.nodes("content") if isinstance(content, list) else ():
        if block.get("type") not in CONTENT:
            error = f"{dotted(block.where)}: Input tag '{block.get('type')}' found using 'type' "
            error += f"does not match any of the expected tags: {TAGS}"
            yield refuse("bad_part", block.where, error, source=CONTENT_SOURCE)


def _of_one_turn(message: Node) -> Iterator[Violation]:
    """What lasts for one turn is text, and nothing of it is ever read from a cache."""
    place = dotted(message.where)
    if message.has("output_config"):
        error = f"{place}: output_config is not permitted on a turn-scoped system message {SCOPED}"
        yield refuse("unknown_field", message.at("output_config"), error, source=INSTRUCTIONS)
    content = message.get("content")
    for block in message.nodes("content") if isinstance(content, list) else ():
        if block.get("type") != "text":
            error = f"{place}: a turn-scoped system message supports text blocks only {SCOPED}"
            yield refuse("bad_part", block.where, error, source=INSTRUCTIONS)
        elif block.has("cache_control"):
            error = f"{dotted(block.where)}: cache_control is not permitted on a turn-scoped system"
            error += f" message {SCOPED}"
            yield refuse("cache_mark_misplaced", block.where, error, source=INSTRUCTIONS)


def _only_of_instructions(message: Node) -> Iterator[Violation]:
    sources = {"clear_at": INSTRUCTIONS, "output_config": PROBED}
    for name, source in sources.items():
        if message.has(name):
            where = message.at(name)
            error = f"{dotted(where)}: {name} is only permitted on role 'system' messages"
            yield refuse("unknown_field", where, error, source=source)


def place_violations(turns: list[Turn], *, is_open: bool) -> Iterator[Violation]:
    """Instructions follow a user turn, and precede an assistant turn or the end. `is_open`:
    what precedes the first turn is not known."""
    roles = [turn.role for turn in turns]
    for at, turn in enumerate(turns):
        if turn.role != "system":
            continue
        before = turns[at - 1] if at else None
        is_behind_server = (
            before is not None
            and bool(before.blocks)
            and str(before.blocks[-1].get("type")).endswith("_tool_result")
        )
        follows = is_open if before is None else before.role == "user" or is_behind_server
        precedes = roles[at + 1 : at + 2] in ([], ["assistant"])
        if not (follows and precedes):
            yield refuse("bad_role_order", turn.where, source=INSTRUCTIONS)
