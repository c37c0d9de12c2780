"""Deltas: requests that continue what a provider keeps, and do not hold it.

In: a parsed body and its format. Out: the fields by which it refers to state on a server. What such
a body lacks may be there: the first message, the call that a result answers, instructions, tools.
So a delta is never completed or repaired as if it were whole, and it can only be sent to the
provider that keeps the rest. Which of these fields a provider serves is in `Target.kept_state`.

APIs of this kind whose bodies are not read at all are in `other_state_api`. `verify` has its own
table.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import Struct

ITEM_REFERENCE = "item_reference"
"""An item of the Responses API that names a stored one. It is no field of the body."""


def _is_set(value: Any) -> bool:
    return bool(value)


def _is_object(value: Any) -> bool:
    return isinstance(value, dict) and bool(value)


def _continues_thread(value: Any) -> bool:
    """A thread that is created begins with a whole request."""
    is_named = _is_object(value) and bool(value.get("previous_message_id"))
    return is_named or (_is_object(value) and value.get("type") == "continue")


def _is_prompt_resource(value: Any) -> bool:
    """The ARN of a prompt in the place of a model: `arn:aws:bedrock:REGION:ACCOUNT:prompt/ID`."""
    return isinstance(value, str) and value.startswith("arn:") and ":prompt/" in value


class Reference(Struct, frozen=True):
    """A field that refers to kept state."""

    names: tuple[str, ...]
    """The spellings of the field, the usual one first."""
    is_one: Callable[[Any], bool] = _is_set


REFERENCES: Mapping[str, tuple[Reference, ...]] = {
    # openai SDK, types/responses/response_create_params.py.
    "openai-responses": (
        Reference(("previous_response_id",)),
        Reference(("conversation",)),
        Reference(("prompt",), _is_object),
    ),
    # anthropic SDK, types/beta/beta_thread_continue_params.py.
    "anthropic": (Reference(("thread",), _continues_thread),),
    # google-genai, types.py: GenerateContentConfig.cached_content.
    "gemini": (Reference(("cachedContent", "cached_content")),),
    # botocore, bedrock-runtime: ConverseRequest.
    "bedrock": (
        Reference(("modelId",), _is_prompt_resource),
        Reference(("promptVariables",), _is_object),
    ),
}
"""The fields of each format that refer to kept state; formats that are not listed have none."""


def state_fields(body: Mapping[str, Any], format: str) -> dict[str, Any]:
    """The fields of `body` that refer to kept state, under their usual names."""
    found: dict[str, Any] = {}
    for reference in REFERENCES.get(format, ()):
        for name in reference.names:
            if reference.is_one(body.get(name)):
                found[reference.names[0]] = body[name]
                break
    return found


def state_names(body: Any, format: str) -> tuple[str, ...]:
    """By what `body` refers to kept state; () where it is whole."""
    if not isinstance(body, dict):
        return ()
    names = tuple(state_fields(body, format))
    has_references = format == "openai-responses" and any(True for _ in referenced_items(body))
    return (*names, ITEM_REFERENCE) if has_references else names


def referenced_items(body: Mapping[str, Any]) -> Iterator[str]:
    """The ids of the stored items that a request of the Responses API names."""
    items = body.get("input")
    for item in items if isinstance(items, list) else ():
        # Nearly all items are large: a reference has an id, and sometimes a type.
        is_like = isinstance(item, dict) and (len(item) < 3 or item.get("type") == ITEM_REFERENCE)
        if is_like and is_item_reference(item):
            yield str(item.get("id"))


def item_ids(body: Mapping[str, Any]) -> Iterator[str]:
    """The ids of the items of a request of the Responses API, and of those that it names."""
    items = body.get("input")
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict) and item.get("id"):
            yield str(item["id"])


def is_item_reference(item: Any) -> bool:
    """Whether an item names a stored one; it need not say its type."""
    if not isinstance(item, dict):
        return False
    is_bare = bool(item.get("id")) and item.keys() <= {"type", "id"} and not item.get("type")
    return item.get("type") == ITEM_REFERENCE or is_bare


def named(names: tuple[str, ...]) -> str:
    """The names in a sentence."""
    return ", ".join(f"`{name}`" for name in names)


class StateApi(Struct, frozen=True):
    """An API that keeps conversations, and whose bodies are not read here."""

    name: str
    what: str
    """What a body of it is called."""
    instead: str
    """What to send in its place."""


ASSISTANTS = StateApi(
    "openai-assistants",
    "a run of the Assistants API",
    "Its messages are kept in a thread: list them, and send them to Chat Completions or the"
    " Responses API.",
)
INTERACTIONS = StateApi(
    "gemini-interactions",
    "a request of Gemini's Interactions API",
    "Its earlier turns are kept by Google: send the whole conversation to generateContent.",
)
MISTRAL_CONVERSATIONS = StateApi(
    "mistral-conversations",
    "a request of Mistral's Conversations API",
    "Its earlier turns are kept by Mistral: send the whole conversation to Chat Completions.",
)
MISTRAL_AGENTS = StateApi(
    "mistral-agents",
    "a request of Mistral's Agents API",
    "The instructions and tools of the agent are kept by Mistral: send them, with the messages, to"
    " Chat Completions.",
)
_INTERACTION_FIELDS = ("generation_config", "previous_interaction_id", "system_instruction")
"""Fields of Gemini's Interactions API, which also calls its messages `input`."""


def other_state_api(body: Any) -> StateApi | None:
    """The API that a body is for, if it is one that keeps conversations and is not read here."""
    if not isinstance(body, dict) or "contents" in body:
        return None
    if "messages" in body:
        # mistralai, models/agentscompletionrequest.py: the agent in the place of the model.
        is_agent = isinstance(body.get("agent_id"), str) and not body.get("model")
        return MISTRAL_AGENTS if is_agent else None
    # openai, types/beta: threads/run_create_params.py and thread_create_and_run_params.py.
    if isinstance(body.get("assistant_id"), str):
        return ASSISTANTS
    # mistralai, models/conversationrequest.py and models/conversationappendrequest.py.
    if "inputs" in body and not body.keys().isdisjoint(_CONVERSATION_FIELDS):
        # `parameters` is Hugging Face's: a request to complete a text.
        return MISTRAL_CONVERSATIONS if "parameters" not in body else None
    items = body.get("input")
    listed = items if isinstance(items, list) else []
    first: dict[str, Any] = next((one for one in listed if isinstance(one, dict)), {})
    # No item of the Responses API is called `user_input`.
    is_interaction = any(name in body for name in _INTERACTION_FIELDS)
    return INTERACTIONS if is_interaction or first.get("type") == "user_input" else None


_CONVERSATION_FIELDS = (
    *("agent_id", "agent_version", "completion_args", "handoff_execution", "from_entry_id"),
    *("tool_confirmations", "store", "stream"),
)
