"""The error envelope."""

import pytest

from canonicall.wire.anthropic.errors import decode_error, encode_error
from canonicall.wire.error_body import ErrorBody

ENVELOPE = {
    "type": "error",
    "error": {
        "type": "invalid_request_error",
        "message": "prompt is too long",
        "details": {"error_code": "available_tools_limit_exceeded"},
    },
    "request_id": "req_1",
}


def test_an_envelope_both_ways():
    error = decode_error(ENVELOPE)
    assert (error.type, error.message) == ("invalid_request_error", "prompt is too long")
    assert error.code == "available_tools_limit_exceeded"
    assert encode_error(error) == ENVELOPE
    assert decode_error(encode_error(error)) == error


@pytest.mark.parametrize(
    ("body", "message", "type"),
    [
        ({"error": "down"}, "down", ""),
        ({"message": "down", "type": "x"}, "down", ""),
        ({"error": {"message": "down", "type": "api_error"}}, "down", "api_error"),
        ({"error": {"message": 1}}, "", ""),
        ({}, "", ""),
    ],
)
def test_hosts_without_the_envelope_are_understood(body, message, type):
    error = decode_error(body)
    assert (error.message, error.type, error.native) == (message, type, body)


def test_an_error_of_another_format_gets_an_envelope():
    error = ErrorBody("slow down", type="tokens", code="rate", native={"error": {}})
    assert encode_error(error) == {
        "type": "error",
        "error": {"type": "api_error", "message": "slow down", "details": {"error_code": "rate"}},
    }


def test_a_reworded_error_is_not_answered_with_the_old_words():
    error = ErrorBody("better words", type="invalid_request_error", native=ENVELOPE)
    assert encode_error(error)["error"] == {
        "type": "invalid_request_error",
        "message": "better words",
    }
