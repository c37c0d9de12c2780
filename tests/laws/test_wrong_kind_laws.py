"""A value of a wrong kind, anywhere in a body, is told and never an exception of Python's own."""

import msgspec
import pytest

from canonicall import (
    Conversation,
    MalformedBody,
    Media,
    Message,
    Params,
    Request,
    Text,
    Thinking,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
    decode_request,
    encode_request,
    verify,
)
from wire.support import places, put

from bodies import BASES

WRONG = ([], {}, [7], 7, "x", None, True)
PICTURE = Media(media_type="image/png", data="aGk=")
TOOL = Tool("search", "Searches.", {"type": "object", "properties": {"q": {"type": "string"}}})


def body_of(format):
    """A body with something of everything that a format can say."""
    talk = Conversation()
    talk.system("Be brief.")
    talk.user((Text(text="Find this."), PICTURE))
    call = ToolCall(id="call_1", name="search", args={"q": "tea"})
    talk.assistant((Thinking(text="Hm."), Text(text="I search."), call))
    found = ToolResult(call_id="call_1", content=(Text(text="12 hits"), PICTURE))
    talk.append(Message("tool", (found,)))
    talk.user("Go on.")
    choice = ToolChoice("required", names=("search",))
    request = Request(talk, (TOOL,), choice, Params(max_tokens=99, temperature=0.5), "a-model")
    return encode_request(request, BASES[format]).body


def damaged(body):
    """The body with each of its values in turn replaced by each wrong one."""
    inside = (path for path in places(body) if path)
    return (put(body, path, wrong) for path in inside for wrong in WRONG)


@pytest.mark.parametrize("format", BASES)
def test_a_wrong_kind_anywhere_is_told(format):
    """`verify` reports it or lets it pass, `decode_request` reads it or raises `MalformedBody`."""
    body = msgspec.to_builtins(body_of(format))
    for copy in damaged(body):
        verify(copy, BASES[format])
        try:
            decode_request(copy, format)
        except MalformedBody as error:
            assert error.where.startswith("$")  # noqa: PT017  # most bodies can be read
