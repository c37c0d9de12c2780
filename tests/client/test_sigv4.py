"""Signatures of AWS, judged by botocore's own signer."""

from datetime import UTC, datetime
from unittest.mock import patch

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from hypothesis import given
from hypothesis import strategies as st

from canonicall.client.secrets import Secret
from canonicall.client.sigv4 import AwsCredentials, signed_headers

NOW = 1767225600.0
HEADERS = {"content-type": "application/json", "accept": "application/json"}
HOST = "https://bedrock-runtime.eu-west-1.amazonaws.com"
URLS = [
    f"{HOST}/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse",
    f"{HOST}/model/arn%3Aaws%3Abedrock%3Aeu-west-1%3A123456789012%3Ainference-profile%2Fa.b/converse-stream",
    f"{HOST}/model/a/converse?b=2&a=1&empty=&a=0",
    f"{HOST}:8443/",
    "http://127.0.0.1:9/model/x%20y/converse",
]


def judged(url, body, token, region="eu-west-1"):
    """The headers that botocore signs the same request with."""
    request = AWSRequest("POST", url, headers=dict(HEADERS), data=body)
    signer = SigV4Auth(Credentials("AKIDEXAMPLE", "secret/key+1", token or None), "bedrock", region)
    with patch("botocore.auth.get_current_datetime") as clock:
        clock.return_value = datetime.fromtimestamp(NOW, UTC)
        signer.add_auth(request)
    return {name.lower(): value for name, value in request.headers.items()}


def ours(url, body, token, region="eu-west-1"):
    credentials = AwsCredentials("AKIDEXAMPLE", Secret("secret/key+1"), Secret(token))
    made = signed_headers(
        url, HEADERS, body, credentials, region=region, service="bedrock", now=NOW
    )
    del made["host"]
    return made


@pytest.mark.parametrize("token", ["", "session-token=="])
@pytest.mark.parametrize("url", URLS)
def test_every_header_is_botocores(url, token):
    body = b'{"messages":[]}'
    assert ours(url, body, token) == judged(url, body, token)


@given(
    model=st.text("abcXYZ019-._~%3A2F20", min_size=1, max_size=30).filter(
        lambda text: text.strip(".") and "%" not in text.replace("%3A", "").replace("%2F", "")
    ),
    body=st.binary(max_size=60),
    region=st.sampled_from(["us-east-1", "ap-southeast-2"]),
)
def test_for_any_model_and_body(model, body, region):
    url = f"{HOST}/model/{model}/converse"
    assert ours(url, body, "", region) == judged(url, body, "", region)


def test_the_secret_is_in_no_header():
    made = ours(URLS[0], b"{}", "")
    assert "secret/key" not in str(made)
