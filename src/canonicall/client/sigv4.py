"""AWS Signature Version 4: the headers that sign one request. Pure: the time is handed in.

Source: docs.aws.amazon.com, "Create a signed AWS API request". The path is quoted a second time in
what is signed, as for all services but S3: a model's id has a colon, which is `%3A` in the address
and `%253A` here. The tests compare every header with botocore's own signer.
"""

import hmac
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from urllib.parse import parse_qsl, quote, urlsplit

from msgspec import Struct

from canonicall.client.secrets import Secret

_ALGORITHM = "AWS4-HMAC-SHA256"
_SAFE = "-_.~"


class AwsCredentials(Struct, frozen=True):
    """Who signs."""

    access_key: str
    secret_key: Secret
    session_token: Secret = Secret("")


def signed_headers(
    url: str,
    headers: Mapping[str, str],
    body: bytes,
    credentials: AwsCredentials,
    *,
    region: str,
    service: str,
    now: float,
) -> dict[str, str]:
    """`headers` of a POST with those that sign it; `now` in seconds since 1970."""
    parts = urlsplit(url)
    stamp = datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%SZ")
    sent = {name.lower(): " ".join(value.split()) for name, value in headers.items()}
    sent["host"] = parts.netloc.rpartition("@")[2]
    sent["x-amz-date"] = stamp
    if credentials.session_token:
        sent["x-amz-security-token"] = credentials.session_token.reveal()
    names = ";".join(sorted(sent))
    canonical = "\n".join(
        (
            "POST",
            quote(parts.path or "/", safe=f"/{_SAFE}"),
            _canonical_query(parts.query),
            *(f"{name}:{sent[name]}" for name in sorted(sent)),
            "",
            names,
            sha256(body).hexdigest(),
        )
    )
    scope = f"{stamp[:8]}/{region}/{service}/aws4_request"
    to_sign = "\n".join((_ALGORITHM, stamp, scope, sha256(canonical.encode()).hexdigest()))
    key = f"AWS4{credentials.secret_key.reveal()}".encode()
    for word in (stamp[:8], region, service, "aws4_request"):
        key = hmac.digest(key, word.encode(), sha256)
    signature = hmac.digest(key, to_sign.encode(), sha256).hex()
    who = f"Credential={credentials.access_key}/{scope}"
    sent["authorization"] = f"{_ALGORITHM} {who}, SignedHeaders={names}, Signature={signature}"
    return sent


def _canonical_query(query: str) -> str:
    pairs = parse_qsl(query, keep_blank_values=True)
    quoted = sorted((quote(name, safe=_SAFE), quote(value, safe=_SAFE)) for name, value in pairs)
    return "&".join(f"{name}={value}" for name, value in quoted)
