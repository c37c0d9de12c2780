"""Refused requests as files, for `canonicall explain` and `canonicall check`.

In: a request that a provider refused, and its answer. Out: a value and its bytes, without keys; and
back. The name of a file is made of its content: nothing is overwritten, and the same refusal is
written once.
"""

import re
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct

from canonicall.client.redaction import redacted, redacted_request
from canonicall.client.secrets import Secret, hide_in_bytes
from canonicall.errors import MalformedBody
from canonicall.facts.target import Target
from canonicall.transcript.turns import Diagnostics

KIND = "refused-request"


class RefusedRequest(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A request as it was sent, and what the provider answered; keys are hidden."""

    canonicall: str
    """What kind of file it is: `refused-request`."""
    version: int
    target: str
    """Who refused it, as `provider/format:model`."""
    format: str
    """The wire format of the body."""
    status: int
    answer: Any
    """The body of the answer: JSON, or text where it is none."""
    body: dict[str, Any]
    diagnostics: Diagnostics | None = None
    """None where the request was sent as it came."""

    @classmethod
    def of(
        cls,
        target: Target,
        sent: bytes,
        answer: tuple[int, bytes],
        *,
        secrets: tuple[Secret, ...] = (),
        diagnostics: Diagnostics | None = None,
    ) -> "RefusedRequest | None":
        """The value to be written; None where what was sent is not a JSON object. `answer`: status
        and body."""
        status, data = answer
        try:
            body = msgspec.json.decode(hide_in_bytes(sent, secrets), type=dict[str, Any])
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return None
        return cls(
            canonicall=KIND,
            version=1,
            target=f"{target.provider}/{target.format}:{target.model}",
            format=target.format,
            status=status,
            answer=redacted(hide_in_bytes(data, secrets)),
            body=redacted_request(body),
            diagnostics=diagnostics,
        )

    @property
    def data(self) -> bytes:
        """The file."""
        return msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n"

    @property
    def file_name(self) -> str:
        """The name of the file: who refused it, and a digest of the file."""
        provider = re.sub(r"[^A-Za-z0-9.-]", "_", self.target.partition("/")[0])
        return f"{provider or 'unknown'}-{sha256(self.data).hexdigest()[:16]}.json"


def refused_request(value: Any) -> RefusedRequest | None:
    """The refused request that a JSON value holds; None where it is something else."""
    if not isinstance(value, dict) or value.get("canonicall") != KIND:
        return None
    try:
        return msgspec.convert(value, RefusedRequest)
    except msgspec.ValidationError as error:
        raise MalformedBody(f"this refused request cannot be read: {error}.") from None
