"""Error bodies of Bedrock."""

import pytest

from canonicall.wire.bedrock.errors import decode_error, encode_error
from canonicall.wire.error_body import ErrorBody


@pytest.mark.parametrize(
    ("body", "message", "type"),
    [
        ({"message": "no"}, "no", ""),
        ({"Message": "no"}, "no", ""),
        ({"message": "no", "__type": "ValidationException"}, "no", "ValidationException"),
        (
            {"message": "no", "__type": "com.amazon#ThrottlingException"},
            "no",
            "ThrottlingException",
        ),
        ({"message": None}, "", ""),
        ({}, "", ""),
    ],
)
def test_every_envelope_is_read(body, message, type):
    assert decode_error(body) == ErrorBody(message=message, type=type, native=body)


def test_an_error_goes_to_the_wire_and_back():
    body = encode_error(ErrorBody(message="slow down", type="ThrottlingException", code="429"))
    assert body == {"__type": "ThrottlingException", "message": "slow down"}
    assert decode_error(body).type == "ThrottlingException"
    assert encode_error(ErrorBody(message="no")) == {"message": "no"}
