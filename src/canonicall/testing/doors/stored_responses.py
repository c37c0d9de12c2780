"""What the Responses API keeps: responses, their items, conversations and stored prompts.

In: the body of a request that refers to them by id. Out: the body as a whole, or the provider's own
error where nothing has that id. Ids are counted, so the same requests get the same ids.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from canonicall.testing.doors.conversations import Conversations, as_items, id_of, item_type
from canonicall.testing.doors.door import CANCEL, DELETE, INPUT_ITEMS, Asked, State
from canonicall.testing.exchange import SimRequest
from canonicall.testing.failure import Failure
from canonicall.testing.seals import digest
from canonicall.verify.violation import Violation, refuse
from canonicall.wire.error_body import ErrorBody

_INVALID = "invalid_request_error"
# pydantic-ai 2.66.0, models/openai.py: a picture is looked up, whatever else its item says.
_BY_ID = ("item_reference", "image_generation_call")
_VARIABLE = re.compile(r"{{\s*(\w+)\s*}}")


class ResponsesState(State):
    """All that is kept for the Responses API."""

    def __init__(self, *, is_lenient: bool, prompts: Mapping[str, Mapping[str, Any]]) -> None:
        self._is_lenient = is_lenient
        self._prompts = prompts
        self._responses = StoredResponses()
        self._conversations = Conversations()

    def named(self, body: dict[str, Any]) -> dict[str, Any]:
        """`body` with what its stored prompt says; fields of the request come first."""
        asked = body.get("prompt")
        if not isinstance(asked, dict) or (
            self._is_lenient and str(asked.get("id")) not in self._prompts
        ):
            return body
        stored = self._prompt(asked)
        values = asked.get("variables")
        filled = _filled(stored, values if isinstance(values, dict) else {})
        rest = {name: value for name, value in body.items() if name != "prompt"}
        said = [*as_items(filled.pop("input", None)), *as_items(body.get("input"))]
        return {**filled, **rest, **({"input": said} if said else {})}

    def _prompt(self, asked: dict[str, Any]) -> Mapping[str, Any]:
        id, version = asked.get("id"), asked.get("version")
        versions = self._prompts.get(id) if isinstance(id, str) else None
        if not versions:
            # Recorded: miharekar/visualizer#198.
            raise Failure(404, ErrorBody(f"Prompt with id '{id}' not found.", _INVALID))
        latest = str(version) if version is not None else list(versions)[-1]
        if latest not in versions:
            what = f"Prompt with id '{id}' and version '{version}' not found."
            raise Failure(404, ErrorBody(what, _INVALID))
        found: Mapping[str, Any] = versions[latest]
        return found

    def opened(self, body: dict[str, Any], request: SimRequest, target: Any) -> dict[str, Any]:
        """`body` with the turns it refers to. Those of the real provider are unknown here."""
        del request, target
        before, named = body.get("previous_response_id"), body.get("conversation")
        if before is not None and named is not None and not self._is_lenient:
            what = (
                "Mutually exclusive parameters: 'previous_response_id' and 'conversation'. Ensure"
                " you are only providing one of: 'previous_response_id' or 'conversation'."
            )
            raise Failure(400, ErrorBody(what, _INVALID, "mutually_exclusive_parameters"))
        if not self._is_lenient:
            self._responses.need(before)
            self._conversations.need(named)
        return self._responses.whole(self._conversations.whole(body))

    def violations(self, whole: dict[str, Any]) -> Iterator[Violation]:
        yield from self._responses.unknown_items(whole)
        yield from self._responses.parted_items(whole)

    def keep(self, asked: dict[str, Any], whole: dict[str, Any], made: dict[str, Any]) -> None:
        self._conversations.keep(asked, made)
        self._responses.keep(whole, made)

    def answered(self, asked: Asked, request: SimRequest, body: dict[str, Any]) -> dict[str, Any]:
        if asked.action.startswith("conversation"):
            return self._conversations.answered(asked, request, body)
        return self._responses.answered(asked)


def _filled(value: Any, values: dict[str, Any]) -> Any:
    """`value` with its variables replaced in every text."""
    if isinstance(value, Mapping):
        return {name: _filled(one, values) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_filled(one, values) for one in value]
    if not isinstance(value, str):
        return value
    missing = [name for name in _VARIABLE.findall(value) if name not in values]
    if missing:
        what = f"Missing prompt variables: {', '.join(missing)}"
        raise Failure(400, ErrorBody(what, _INVALID, param="prompt.variables"))
    return _VARIABLE.sub(lambda found: _text_of(values[found[1]]), value)


def _text_of(value: Any) -> str:
    """A variable is a text, or a part of input with one."""
    return str(value.get("text", "")) if isinstance(value, dict) else str(value)


class StoredResponses:
    """The responses a simulator keeps, with all that was said up to each of them."""

    def __init__(self) -> None:
        self._bodies: dict[str, dict[str, Any]] = {}
        self._inputs: dict[str, list[Any]] = {}
        self._items: dict[str, Any] = {}
        """Every stored item of a reply by its id."""
        self._thoughts: dict[str, str] = {}
        """The reasoning that an item was made from, by their ids."""

    def get(self, id: str) -> dict[str, Any] | None:
        """The body of a response."""
        return self._bodies.get(id)

    def input_items(self, id: str) -> dict[str, Any] | None:
        """What a response was made from."""
        if id not in self._inputs:
            return None
        items = [
            {"id": f"msg_{digest([id, at])}", **item} if isinstance(item, dict) else item
            for at, item in enumerate(self._inputs[id])
        ]
        edges = (id_of(items[0]), id_of(items[-1])) if items else (None, None)
        listed = {"object": "list", "data": items, "has_more": False}
        return {**listed, "first_id": edges[0], "last_id": edges[1]}

    def delete(self, id: str) -> bool:
        """Forget a response and its items; whether there was one."""
        self._inputs.pop(id, None)
        gone = self._bodies.pop(id, None)
        for item in gone.get("output", ()) if gone is not None else ():
            self._items.pop(id_of(item), None)
        return gone is not None

    def keep(self, request: dict[str, Any], response: dict[str, Any]) -> None:
        """Keep a response, unless the request says not to. `request` has its whole input."""
        if request.get("store") is not False:
            self._bodies[response["id"]] = response
            self._inputs[response["id"]] = as_items(request.get("input"))
            output = response.get("output", ())
            self._items |= {id_of(item): item for item in output}
            self._thoughts |= {
                id_of(item): id_of(before)
                for before, item in pairwise(output)
                if item_type(before) == "reasoning" and item_type(item) != "reasoning"
            }

    def whole(self, body: dict[str, Any]) -> dict[str, Any]:
        """`body` with the turns and items it refers to, as far as they are stored."""
        body = self._with_items(body)
        before = body.get("previous_response_id")
        if not isinstance(before, str) or before not in self._bodies:
            return body
        said = [*self._inputs[before], *self._bodies[before].get("output", ())]
        rest = {name: value for name, value in body.items() if name != "previous_response_id"}
        return {**rest, "input": [*said, *as_items(body.get("input"))]}

    def need(self, before: Any) -> None:
        """A failure where the response that a request continues is not stored."""
        if before is None or (isinstance(before, str) and before in self._bodies):
            return
        what = f"Previous response with id '{before}' not found."
        code = "previous_response_not_found"
        raise Failure(400, ErrorBody(what, _INVALID, code, "previous_response_id"))

    def answered(self, asked: Asked) -> dict[str, Any]:
        """The answer to a question about one response."""
        if asked.action == DELETE and self.delete(asked.name):
            return {"id": asked.name, "object": "response", "deleted": True}
        found = (self.input_items if asked.action == INPUT_ITEMS else self.get)(asked.name)
        if found is None or asked.action == DELETE:
            raise Failure(404, ErrorBody(f"Response with id '{asked.name}' not found.", _INVALID))
        if asked.action == CANCEL:
            # No reply is still being made here, in the background or not.
            raise Failure(400, ErrorBody("Cannot cancel a synchronous response.", _INVALID))
        return found

    def _with_items(self, body: dict[str, Any]) -> dict[str, Any]:
        """`body` with the stored items in the place of references to them."""
        given = body.get("input")
        if not any(item_type(item) == "item_reference" for item in as_items(given)):
            return body
        items = [
            self._items.get(id_of(item), item) if item_type(item) == "item_reference" else item
            for item in as_items(given)
        ]
        return {**body, "input": items}

    def unknown_items(self, body: dict[str, Any]) -> Iterator[Violation]:
        """Items that are named by an id alone, and that nobody has stored."""
        for index, item in enumerate(as_items(body.get("input"))):
            by_id_only = item_type(item) in _BY_ID or (
                item_type(item) == "reasoning" and item.get("encrypted_content") is None
            )
            if by_id_only and id_of(item) not in self._items:
                error = (
                    f"Item with id '{item.get('id')}' not found. Items are not persisted when"
                    " `store` is set to false. Try again with `store` set to true, or remove this"
                    " item from your input."
                )
                yield refuse("bad_item_id", f"$.input[{index}]", error, source="OpenAI: error")

    def parted_items(self, body: dict[str, Any]) -> Iterator[Violation]:
        """Stored items that are sent with their id, and without the reasoning before them."""
        items = as_items(body.get("input"))
        given = {id_of(item) for item in items}
        for index, item in enumerate(items):
            thought = self._thoughts.get(id_of(item), "")
            if thought in self._items and id_of(item) in self._items and thought not in given:
                error = (
                    f"Item '{id_of(item)}' of type '{item_type(item)}' was provided without its"
                    f" required 'reasoning' item: '{thought}'."
                )
                where, source = f"$.input[{index}]", "continuedev/continue#9555"
                yield refuse("reasoning_without_following", where, error, source=source)
