"""What a request continues that a provider keeps: how a delta differs from a whole request.

Such a request is judged by what is in it. What it lacks may be on the server: the first message,
the call of a result, instructions, tools. So nothing is said at its beginning, the seam, and a
result there may answer a call that only the provider knows. Everything after the seam is judged as
in any request.

The table is the judge's own: what renders and encodes reads `canonicall.deltas`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from canonicall.facts.target import Target
from canonicall.verify.node import Node
from canonicall.verify.pairing import Answer, Call
from canonicall.verify.violation import Violation, refuse

REFERENCE = "item_reference"
PROMPT_ARN = re.compile(r"arn:[^:]*:bedrock:[^:]*:[^:]*:prompt/.+")
PROFILE = "the profile of the provider"


def _is_there(value: Any) -> bool:
    return bool(value)


def _is_object(value: Any) -> bool:
    return isinstance(value, dict) and bool(value)


def _goes_on(value: Any) -> bool:
    """`{"type": "create"}` begins a thread, and comes with all that there is."""
    if not isinstance(value, dict):
        return False
    return value.get("type") == "continue" or bool(value.get("previous_message_id"))


def _is_prompt(value: Any) -> bool:
    return isinstance(value, str) and PROMPT_ARN.fullmatch(value) is not None


# openai: responses/response_create_params.py. anthropic: beta/beta_thread_continue_params.py.
# google-genai: GenerateContentConfig. botocore: bedrock-runtime, ConverseRequest.
FIELDS: dict[str, dict[str, Callable[[Any], bool]]] = {
    "openai-responses": {
        "previous_response_id": _is_there,
        "conversation": _is_there,
        "prompt": _is_object,
    },
    "anthropic": {"thread": _goes_on},
    "gemini": {"cachedContent": _is_there, "cached_content": _is_there},
    "bedrock": {"modelId": _is_prompt, "promptVariables": _is_object},
}


def references(root: Node, format: str) -> list[str]:
    """The fields of a request that refer to what a provider keeps."""
    return [name for name, is_one in FIELDS.get(format, {}).items() if is_one(root.get(name))]


def is_delta(root: Node, format: str) -> bool:
    """Whether a request continues something by one of its fields."""
    return bool(references(root, format))


def names_items(root: Node) -> bool:
    """Whether an item of the input refers to one that is stored; it need not say its type."""
    items = root.get("input")
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict):
            is_bare = bool(item.get("id")) and item.keys() <= {"type", "id"}
            if item.get("type") == REFERENCE or (is_bare and not item.get("type")):
                return True
    return False


def state_violations(root: Node, target: Target) -> Iterator[Violation]:
    """References to what this provider does not keep."""
    if target.kept_state is None:
        return
    for name in references(root, target.format):
        usual = "cachedContent" if name == "cached_content" else name
        if usual not in target.kept_state:
            yield refuse("state_not_kept", root.at(name), source=PROFILE)
    if target.format == "openai-responses" and REFERENCE not in target.kept_state:
        for item in root.nodes("input") if isinstance(root.get("input"), list) else ():
            if names_items(Node({"input": [item.fields]})):
                yield refuse("state_not_kept", item.where, source=PROFILE)


def limits_of_report(root: Node, format: str) -> str:
    """What a report on a request does not cover; "" for a whole one."""
    found = [root.at(name) for name in references(root, format)]
    if format == "openai-responses" and names_items(root):
        found.append(REFERENCE)
    if not found:
        return ""
    return (
        f"The request continues what the provider keeps ({', '.join(found)}): only what is in the"
        " request is judged."
    )


def calls_on_server(answers: Iterable[Answer]) -> tuple[Call, ...]:
    """The calls that results at the seam may answer: each id once."""
    return tuple(Call(id, "", "") for id in dict.fromkeys(one.call_id for one in answers))


def before_replies(roles: Sequence[str], reply: str) -> int:
    """How many turns precede the first that the model wrote: those can follow stored ones."""
    return roles.index(reply) if reply in roles else len(roles)
