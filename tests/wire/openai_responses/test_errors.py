"""Error envelopes."""

import pytest

from canonicall.wire.error_body import ErrorBody
from canonicall.wire.openai_responses.errors import decode_error, encode_error


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (
            {"error": {"message": "m", "type": "t", "param": "input[2]", "code": None}},
            ErrorBody("m", type="t", param="input[2]"),
        ),
        ({"type": "error", "code": "c", "message": "m"}, ErrorBody("m", type="error", code="c")),
        ({"code": "c", "error": "m"}, ErrorBody("m", code="c")),
        ({"detail": "m"}, ErrorBody("m")),
        ({"error": {"message": "m", "code": 502}}, ErrorBody("m", code="502")),
    ],
)
def test_every_envelope_is_read(body, error):
    read = decode_error(body)
    assert (read.message, read.type, read.code, read.param) == (
        error.message,
        error.type,
        error.code,
        error.param,
    )
    assert read.native == body


def test_a_body_that_is_no_object_is_the_message():
    assert decode_error("upstream died") == ErrorBody("upstream died")


def test_errors_survive_the_wire():
    error = ErrorBody("m", type="t", code="c", param="p")
    body = encode_error(error)
    assert body == {"error": {"message": "m", "type": "t", "param": "p", "code": "c"}}
    again = decode_error(body)
    assert (again.message, again.type, again.code, again.param) == ("m", "t", "c", "p")


def test_missing_fields_are_null_in_the_envelope():
    assert encode_error(ErrorBody("m")) == {
        "error": {"message": "m", "type": "invalid_request_error", "param": None, "code": None}
    }
