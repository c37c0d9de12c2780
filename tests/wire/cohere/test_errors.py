"""Error bodies of Cohere."""

import pytest

from canonicall.wire.cohere.errors import decode_error, encode_error
from canonicall.wire.error_body import ErrorBody


@pytest.mark.parametrize(
    ("body", "message"),
    [({"id": "1", "message": "no"}, "no"), ({"message": None}, ""), ({"data": "?"}, "")],
)
def test_every_envelope_is_read(body, message):
    assert decode_error(body) == ErrorBody(message=message, native=body)


def test_an_error_goes_to_the_wire_and_back():
    body = encode_error(ErrorBody(message="no", type="x"))
    assert decode_error(body).message == "no"
    assert body == {"message": "no"}
