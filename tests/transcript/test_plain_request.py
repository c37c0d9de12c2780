"""What a request holds beside its conversation, as JSON can write it."""

from typing import Any

import pytest

from canonicall import Conversation, Request
from canonicall.blocks import Native
from canonicall.errors import InvalidValue
from canonicall.transcript.plain_request import plain_request


def asked(value: Any) -> Request:
    """A request with a field that is nested as deep as JSON can be written."""
    for _ in range(900):
        value = [value]
    return Request(Conversation(), native=Native("openai-chat", {"x": value}))


def test_a_value_that_is_nested_deeply_is_looked_through():
    request = asked(None)
    assert plain_request(request) == (request, [])


@pytest.mark.parametrize("value", [float("nan"), "\ud800"])
def test_one_that_has_to_be_changed_so_deep_is_refused(value):
    with pytest.raises(InvalidValue):
        plain_request(asked(value))
