"""Where a reply is asked for, and how the key is shown: for each format, and where a host differs.

What stands before the path is the profile's `base_url`. `{model}` in a path is the model's name;
then the body does not name it.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec
from msgspec import Struct

from canonicall.errors import InvalidValue
from canonicall.facts.conversion import convert
from canonicall.facts.format_files import format_table

BEARER = "bearer"
AWS = "aws"


class Endpoint(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One format at one provider."""

    path: str = ""
    stream_path: str = ""
    """Where a stream is asked for, if it is another path."""
    compact_path: str = ""
    """Where a summary of a conversation is asked for, in formats that have such a path."""
    auth: str = ""
    """The name of the header that holds the key; "bearer" for `Authorization: Bearer`, "aws" for
    the same or, without a token, a signature of the request (version 4)."""
    headers: dict[str, str] = {}
    source: str = ""

    @property
    def names_model(self) -> bool:
        """Whether the path names the model, and the body does not."""
        return "{model}" in self.path


class FormatEndpoint(Endpoint, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A format at its owner: the `[endpoint]` table of its file."""

    version: str = ""
    """What stands between the host and the path."""
    models_path: str = ""
    """Where models are listed, behind the version; empty where they are not listed at this host."""


@cache
def format_endpoint(format: str) -> FormatEndpoint:
    """Where the owner of a format is asked for a reply."""
    where = f"{format}.toml: endpoint"
    endpoint: FormatEndpoint = convert(format_table(format)["endpoint"], FormatEndpoint, where)
    return endpoint


def load_endpoints(value: Any, formats: tuple[str, ...], where: str) -> dict[str, Endpoint]:
    """The endpoints that a profile has of its own, by format; each has a source."""
    if not isinstance(value, Mapping) or not set(value) <= set(formats):
        what = f"a table for some of {', '.join(formats)} belongs here."
        raise InvalidValue(what, where=where)
    return {format: _endpoint(value[format], f"{where}.{format}") for format in value}


def endpoint_of(own: Mapping[str, Endpoint], format: str) -> Endpoint:
    """The endpoint of a format: what a profile says itself, and the format's own for the rest."""
    usual = format_endpoint(format)
    ours = own.get(format)
    if ours is None:
        return usual
    return Endpoint(
        path=ours.path or usual.path,
        stream_path=ours.stream_path if ours.path else usual.stream_path,
        compact_path=ours.compact_path if ours.path else usual.compact_path,
        auth=ours.auth or usual.auth,
        headers=ours.headers if ours.path else usual.headers,
        source=ours.source,
    )


def _endpoint(value: Any, where: str) -> Endpoint:
    try:
        endpoint = msgspec.convert(value, Endpoint)
    except msgspec.ValidationError as error:
        raise InvalidValue(f"{value!r} does not fit: {error}.", where=where) from error
    if not endpoint.source:
        raise InvalidValue("`source` is missing.", where=where)
    return endpoint
