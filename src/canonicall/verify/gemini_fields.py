"""Fields that protobuf does not find in the messages of generateContent, in either spelling.

Where the target's places are closed, they are refused; what stands deeper is read elsewhere.
"""

from collections.abc import Iterator

from canonicall.target import Target
from canonicall.verify.node import Node, plain
from canonicall.verify.violation import Violation, refuse

SOURCE = "google-genai 3.1.0, types.py; error text: Unknown name [...] Cannot find field."
CONTENT = {"parts", "role"}
CALL = {"id", "name", "args", "partialargs", "willcontinue"}
DECLARATION = {
    *("name", "description", "parameters", "parametersjsonschema", "response"),
    *("responsejsonschema", "behavior"),
}


def unknown_in_request(root: Node, target: Target) -> Iterator[Violation]:
    if "request" in target.fields.closed:
        yield from _unknown(root, {flat(name) for name in target.fields.request})


def unknown_in_content(content: Node, target: Target) -> Iterator[Violation]:
    if "message" in target.fields.closed:
        yield from _unknown(content, CONTENT)


def unknown_in_call(call: Node, target: Target) -> Iterator[Violation]:
    """A signature stands beside the call, not in it; that it is not found there, all know."""
    known = CALL if "call" in target.fields.closed else {*map(flat, call.fields)} - {_SIGNATURE}
    yield from _unknown(call, known)


def unknown_in_functions(declared: list[Node], target: Target) -> Iterator[Violation]:
    """Of tools, only functions are looked at: others may be newer than what is known here."""
    if "tool" in target.fields.closed:
        for declaration in declared:
            yield from _unknown(declaration, DECLARATION)


_SIGNATURE = "thoughtsignature"


def flat(name: str) -> str:
    """A name as it is in camelCase and in snake_case alike."""
    return name.replace("_", "").lower()


def _unknown(node: Node, known: set[str]) -> Iterator[Violation]:
    for name in node.fields:
        if flat(name) not in known:
            at = f" at '{plain(node.where)}'" if plain(node.where) else ""
            error = f'Invalid JSON payload received. Unknown name "{name}"{at}: Cannot find field.'
            yield refuse("unknown_field", node.at(name), error, source=SOURCE)
