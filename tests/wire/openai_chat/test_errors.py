"""Error envelopes, both ways."""

import pytest
from hypothesis import given

from canonicall.testing.strategies import json_values
from canonicall.wire.error_body import ErrorBody
from canonicall.wire.openai_chat.errors import decode_error, encode_error

ISSUE = {"loc": ["body", "messages", 0], "msg": "Field required", "type": "missing"}


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        (
            {"error": {"message": "m", "type": "t", "param": "p", "code": "c"}},
            ("m", "t", "c", "p"),
        ),
        (
            {"error": {"message": "m", "type": None, "param": None, "code": 502}},
            ("m", "", "502", ""),
        ),
        ({"error": "m", "code": "c"}, ("m", "", "c", "")),
        ({"message": "m", "type": "t", "code": 400}, ("m", "t", "400", "")),
        ({"object": "error", "message": "m", "type": "t", "code": "3051"}, ("m", "t", "3051", "")),
        ({"detail": "m"}, ("m", "", "", "")),
        ({"detail": [ISSUE]}, ("body.messages.0: Field required", "", "", "")),
        (
            {"object": "error", "message": {"detail": [ISSUE, ISSUE]}, "type": "t"},
            ("body.messages.0: Field required; body.messages.0: Field required", "t", "", ""),
        ),
        ({"errors": [{"message": "a", "code": 1}, {"message": "b"}]}, ("a; b", "", "", "")),
        ({"base_resp": {"status_code": 2013, "status_msg": "m"}}, ("m", "", "2013", "")),
        ([{"error": {"message": "m", "code": 400}}], ("m", "", "400", "")),
        ({"type": "error", "error": {"type": "t", "message": "m"}}, ("m", "t", "", "")),
        ("Bad Gateway", ("Bad Gateway", "", "", "")),
        (None, ("", "", "", "")),
        ({}, ("", "", "", "")),
    ],
)
def test_an_error_is_read(body, fields):
    error = decode_error(body)
    assert (error.message, error.type, error.code, error.param) == fields


def test_the_envelope_is_kept():
    body = {"error": {"message": "m", "code": "tool_use_failed", "failed_generation": "{}"}}
    assert decode_error(body).native == body


@pytest.mark.parametrize("error", [ErrorBody("m"), ErrorBody("m", type="t", code="c", param="p")])
def test_an_error_comes_back(error):
    body = encode_error(error)
    assert set(body["error"]) == {"message", "type", "param", "code"}
    back = decode_error(body)
    assert ErrorBody(back.message, back.type, back.code, back.param) == error


@given(json_values())
def test_a_body_of_any_kind_is_an_error(body):
    assert isinstance(decode_error(body).message, str)
    assert isinstance(decode_error({"error": body, "detail": body}).message, str)
