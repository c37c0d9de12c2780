"""Error bodies of Ollama."""

import pytest

from canonicall.wire.error_body import ErrorBody
from canonicall.wire.ollama.errors import decode_error, encode_error


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"error": "m does not support tools"}, "m does not support tools"),
        ({"error": {"message": "no"}}, "no"),
        ({"error": None}, ""),
        ({}, ""),
    ],
)
def test_every_envelope_is_read(body, message):
    assert decode_error(body) == ErrorBody(message=message, native=body)


def test_an_error_goes_to_the_wire_and_back():
    body = encode_error(ErrorBody(message="no"))
    assert body == {"error": "no"}
    assert decode_error(body).message == "no"
