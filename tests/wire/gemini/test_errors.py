"""Google's error envelope, both ways."""

import pytest
from msgspec.structs import replace

from canonicall.errors import MalformedBody
from canonicall.wire.error_body import ErrorBody
from canonicall.wire.gemini.errors import decode_error, encode_error

BODY = {
    "error": {
        "code": 400,
        "message": "Invalid value",
        "status": "INVALID_ARGUMENT",
        "details": [
            {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "X"},
            {
                "@type": "type.googleapis.com/google.rpc.BadRequest",
                "fieldViolations": [{"field": "contents[1].parts", "description": "d"}],
            },
        ],
    }
}


@pytest.mark.parametrize("body", [BODY, [BODY]], ids=["object", "list of one"])
def test_an_envelope_is_read_and_comes_back(body):
    error = decode_error(body)
    assert error == ErrorBody(
        message="Invalid value",
        type="INVALID_ARGUMENT",
        code="400",
        param="contents[1].parts",
        native=BODY,
    )
    assert encode_error(error) == BODY


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"error": "boom"}, "boom"),
        ({"error": {"message": "boom"}}, "boom"),
        ({"message": "boom"}, "boom"),
        ({}, ""),
        ({"error": {"message": None, "details": "x"}}, ""),
    ],
)
def test_other_shapes_still_give_their_message(body, message):
    assert decode_error(body).message == message


@pytest.mark.parametrize("body", [[], "x", None, ["x"]])
def test_what_is_no_envelope_is_refused(body):
    with pytest.raises(MalformedBody):
        decode_error(body)


@pytest.mark.parametrize(
    ("error", "code", "status"),
    [
        (ErrorBody("m", type="rate_limit_error"), 429, "RESOURCE_EXHAUSTED"),
        (ErrorBody("m", type="invalid_request_error", code="400"), 400, "INVALID_ARGUMENT"),
        (ErrorBody("m", type="overloaded_error", code="529"), 529, "UNAVAILABLE"),
        (ErrorBody("m", type="", code="404"), 404, "NOT_FOUND"),
        (ErrorBody("m", type="NOT_FOUND"), 404, "NOT_FOUND"),
        (ErrorBody("m", type="whatever", code="context_length_exceeded"), 500, "INTERNAL"),
        (ErrorBody("m", native={"error": {"message": "other"}}), 500, "INTERNAL"),
    ],
)
def test_errors_of_other_providers_are_written(error, code, status):
    assert encode_error(error) == {"error": {"code": code, "message": "m", "status": status}}


def test_the_kept_envelope_yields_to_a_message_that_has_changed():
    changed = replace(decode_error(BODY), message="other")
    assert encode_error(changed)["error"]["message"] == "other"
