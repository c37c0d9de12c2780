"""What Converse refuses about documents and images: where they stand, and how they are called."""

import re
from collections.abc import Iterator

from canonicall.verify.node import Node, dotted
from canonicall.verify.violation import Violation, refuse

BLOCK = "docs.aws.amazon.com: DocumentBlock; vercel/ai#20365"
# Underscores are not listed, and taken all the same (strands-agents/harness-sdk#3019).
_NAME = re.compile(r"(?:[A-Za-z0-9_()\[\]-]|\s(?!\s)){1,200}", re.ASCII)


def document_violations(messages: list[Node]) -> Iterator[Violation]:
    """Names that are not allowed, and names that two documents have."""
    seen: set[str] = set()
    for document in (found for message in messages for found in _documents(message)):
        name, where = document.text("name"), document.at("name")
        if name and not _NAME.fullmatch(name):
            error = (
                "The document file name can only contain alphanumeric characters, whitespace "
                "characters, hyphens, parentheses, and square brackets. The name can't contain "
                "more than one consecutive whitespace character. Check that the file name conforms "
                "to these restrictions and retry your request."
            )
            yield refuse("bad_document_name", where, error, source=BLOCK)
        elif name in seen:
            error = "Messages can't contain duplicate document names. Rename the document and "
            error += "retry your request."
            source = "maximhq/bifrost#7003"
            yield refuse("bad_document_name", where, error, source=source)
        if name:
            seen.add(name)


def _documents(message: Node) -> Iterator[Node]:
    for block in message.nodes("content"):
        if block.has("document"):
            yield block.node("document")
        for part in block.node("toolResult").nodes("content") if block.has("toolResult") else ():
            if part.has("document"):
                yield part.node("document")


def misplaced_media(kind: str, block: Node) -> Iterator[Violation]:
    """Images, documents and videos are the user's."""
    error = (
        f"The {kind} content block at {dotted(block.where)} can only be in a message with the "
        "user role. Move the content block and try again."
    )
    source = "docs.aws.amazon.com: Message, images and documents only in the role user"
    yield refuse("bad_part", block.where, error, source=source)
