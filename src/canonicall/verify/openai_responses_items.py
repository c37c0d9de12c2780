"""How the items of the Responses API belong together: calls and outputs, thoughts and what follows.

Calls may live in an earlier response that the request continues; outputs are then not orphans.
"""

from collections import Counter
from collections.abc import Iterator

from canonicall.facts.vocabulary import vocabulary
from canonicall.verify.node import Node, plain
from canonicall.verify.violation import Violation, refuse

RESPONSES = "platform.openai.com: responses API reference"
DEEPSEEK = "deepseek-ai/DeepSeek-V3#1588; deepseek-ai/awesome-deepseek-integration#740"
# A call that the caller answers, and the item that answers it.
OUTPUTS = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "shell_call": "shell_call_output",
    "apply_patch_call": "apply_patch_call_output",
    "computer_call": "computer_call_output",
    "local_shell_call": "local_shell_call_output",
    "tool_search_call": "tool_search_output",
    "mcp_approval_request": "mcp_approval_response",
}
CALLS = {output: call for call, output in OUTPUTS.items()}
# Where the id of the call stands, if not in `call_id`.
PAIR_IDS = {
    "local_shell_call_output": "id",
    "mcp_approval_request": "id",
    "mcp_approval_response": "approval_request_id",
}
# What a call without its output is called: "No tool output found for tool search call call_1."
CALLED = {
    "custom_tool_call": "custom tool call",
    "apply_patch_call": "apply patch call",
    "local_shell_call": "local shell call",
    "tool_search_call": "tool search call",
}
# May have an id of a call: a search that the provider runs has none, and is not answered.
SEARCHES = ("tool_search_call", "tool_search_output")
PREFIXES = vocabulary("openai-responses").item_prefixes


def type_of(item: Node) -> str:
    """The type of an item; a message and a reference need not say theirs."""
    is_reference = item.has("id") and item.fields.keys() <= {"type", "id"}
    return item.text("type") or ("item_reference" if is_reference else "message")


def is_unasked(item: Node) -> bool:
    """An output that answers no call names its tool instead (SDK, FunctionCallOutput)."""
    is_output = type_of(item) == "function_call_output"
    return is_output and not item.has("call_id") and item.has("name")


def id_violations(items: list[Node]) -> Iterator[Violation]:
    seen: set[str] = set()
    for item in items:
        kind = type_of(item)
        if kind in CALLS and PAIR_IDS.get(kind) == "id":
            continue  # It is the id of the call that it answers.
        prefix, id = PREFIXES.get(kind, ""), item.text("id")
        if id and not id.startswith(prefix):
            place = plain(item.at("id"))
            error = f"Invalid '{place}': '{id}'. Expected an ID that begins with '{prefix}'."
            yield refuse("bad_item_id", item.at("id"), error, source=RESPONSES)
        if id and id in seen:
            error = f"Duplicate item found with id {id}. Remove duplicate items from your input "
            error += "and try again."
            yield refuse("duplicate_item_id", item.at("id"), error, source="vercel/ai#7883")
        seen.add(id)


def pair_violations(items: list[Node], *, is_open: bool) -> Iterator[Violation]:
    """A call opens its id, an output closes it; providers reuse ids that are closed."""
    waiting: dict[tuple[str, str], Node] = {}
    answered: set[tuple[str, str]] = set()
    knows_all = not is_open and all(type_of(item) != "item_reference" for item in items)
    for item in items:
        if is_unasked(item):
            continue
        kind = type_of(item)
        key = PAIR_IDS.get(kind, "call_id")
        pair = CALLS.get(kind, kind), item.text(key) if kind in OUTPUTS or kind in CALLS else ""
        if kind in OUTPUTS and (kind not in SEARCHES or item.get("execution") == "client"):
            if pair in waiting and pair[1]:
                error = f"Duplicate 'call_id': {pair[1]}"
                yield refuse(
                    "duplicate_call_id", item.at("call_id"), error, source="openai/gpt-oss#308"
                )
            waiting[pair] = item
        elif kind in CALLS and pair in waiting:
            del waiting[pair]
            answered.add(pair)
        elif kind in CALLS and pair in answered and pair[1]:
            error = (
                f"Duplicate function_call_output for call_id '{pair[1]}'. Each function_call must "
                "have exactly one matching function_call_output"
            )
            source = "NousResearch/hermes-agent#102629"
            yield refuse("duplicate_result_sent", item.where, error, source=source)
        elif kind in CALLS and kind not in SEARCHES:
            answered.add(pair)
            if knows_all:
                error = f"No tool call found for function call output with call_id {pair[1]}."
                yield refuse("orphan_result_sent", item.where, error, source=RESPONSES)
    for (kind, id), call in waiting.items():
        error = f"No tool output found for {CALLED.get(kind, 'function call')} {id}."
        yield refuse("missing_result", call.where, error, source=RESPONSES)


def reasoning_violations(items: list[Node]) -> Iterator[Violation]:
    """Reasoning with an id names a stored item, which the model followed with another."""
    for item, following in zip(items, [*items[1:], None], strict=False):
        if type_of(item) == "reasoning" and item.text("id") and not _may_follow(item, following):
            error = (
                f"Item '{item.get('id')}' of type 'reasoning' was provided without its required "
                "following item."
            )
            source = "langchain-ai/langchainjs#9082; earendil-works/pi#1035"
            yield refuse("reasoning_without_following", item.where, error, source=source)


def _may_follow(reasoning: Node, item: Node | None) -> bool:
    """Whether an item can be what was made from the reasoning. If that is nothing but an id, the
    item has to have one as well."""
    if item is None or not (item.text("id") or reasoning.has("encrypted_content")):
        return False
    kind = type_of(item)
    if kind == "message":
        return bool(item.get("role") == "assistant")
    return kind not in CALLS  # An item of an unknown type may be one.


def order_violations(items: list[Node]) -> Iterator[Violation]:
    """Where calls and outputs become messages again: nothing may come between the calls of a turn
    and their outputs."""
    later = Counter(item.text("call_id") for item in items if type_of(item) in CALLS)
    waiting: dict[str, Node] = {}
    for item in items:
        kind = type_of(item)
        if kind in OUTPUTS:
            waiting[item.text("call_id")] = item
        elif kind in CALLS:
            later[item.text("call_id")] -= 1
            waiting.pop(item.text("call_id"), None)
        else:
            for id in waiting:
                if later[id]:
                    error = f"No tool output found for tool call {id}."
                    yield refuse("results_not_adjacent", item.where, error, source=DEEPSEEK)
            waiting = {}
