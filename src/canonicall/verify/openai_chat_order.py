"""The order of roles that Chat Completions and its relatives accept."""

from collections.abc import Iterator

from canonicall.facts.target import Target
from canonicall.verify.node import Node
from canonicall.verify.violation import Violation, refuse

INSTRUCTIONS = {"system", "developer"}
MISTRAL = "mistral-common: protocol/instruct/validator.py"
TEMPLATES = "chat templates that want strict turns"


def order_violations(messages: list[Node], target: Target) -> Iterator[Violation]:
    roles = [message.text("role") for message in messages]
    yield from _transitions(messages, roles, target)
    yield from _instructions(messages, roles, target)
    yield from _start(messages, roles, target)
    yield from _end(messages, target)


def _transitions(messages: list[Node], roles: list[str], target: Target) -> Iterator[Violation]:
    is_short = target.ids.style == "short"
    if target.user_after_results and not is_short and not target.merge_roles:
        return
    for last, message, before, role in zip(messages, messages[1:], roles, roles[1:], strict=False):
        if is_short and last.get("prefix") is True:
            error = "Assistant message with prefix True must be last message"
            yield refuse("bad_role_order", last.where, error, source=MISTRAL)
        error = f"Unexpected role '{role}' after role '{before}'"
        if (before, role) == ("tool", "user") and not target.user_after_results:
            yield refuse("user_after_tool", message.where, error, source=MISTRAL)
        if is_short and role == "system" and before in {"assistant", "tool"}:
            yield refuse("bad_role_order", message.where, error, source=MISTRAL)
        if target.merge_roles and role == before and role in {"user", "assistant"}:
            error = "Conversation roles must alternate user/assistant/user/assistant/..."
            yield refuse("roles_do_not_alternate", message.where, error, source=TEMPLATES)


def _instructions(messages: list[Node], roles: list[str], target: Target) -> Iterator[Violation]:
    # Mistral takes them behind a user message; where not, `_transitions` says.
    if target.system_later or target.ids.style == "short":
        return
    said = False
    for message, role in zip(messages, roles, strict=True):
        if role not in INSTRUCTIONS:
            said = True
        elif said:
            error = "System message must be at the beginning."
            yield refuse("misplaced_instructions", message.where, error, source=TEMPLATES)


def _start(messages: list[Node], roles: list[str], target: Target) -> Iterator[Violation]:
    if target.ids.style == "short" and len(roles) == 1 and roles[0] not in {"user", "system"}:
        error = "Conversation must start with a user message or system message"
        yield refuse("must_start_with_user", messages[0].where, error, source=MISTRAL)
    if not target.starts_with_user:
        return
    first = next((at for at, role in enumerate(roles) if role not in INSTRUCTIONS), None)
    if messages and (first is None or roles[first] != "user"):
        where = messages[first or 0].where
        error = "The messages parameter is illegal. Please check the documentation."
        yield refuse("must_start_with_user", where, error, source="Z.ai error 1214")


def _end(messages: list[Node], target: Target) -> Iterator[Violation]:
    if not target.ends_with_user or not messages:
        return
    last = messages[-1]
    if last.get("role") == "assistant" and not last.get("prefix") and not last.get("tool_calls"):
        error = "Expected last role User or Tool (or Assistant with prefix) for serving but got "
        error += "assistant"
        yield refuse("must_end_with_user", last.where, error, source=MISTRAL)
