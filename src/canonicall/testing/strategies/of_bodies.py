"""Request bodies as careless clients send them, damaged anywhere: as JSON values and as bytes."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from canonicall.codec.encode import encode_request
from canonicall.testing.damage import damaged, damaged_json
from canonicall.testing.strategies.of_requests import requests
from canonicall.testing.vocabulary import made_body
from canonicall.wire.formats import get_format

_CHANCE = st.randoms(use_true_random=False)


@st.composite
def damaged_bodies(draw: DrawFn, format: str) -> dict[str, Any]:
    """Request bodies of a format as JSON values, each damaged in one to four places."""
    body: dict[str, Any] = damaged(draw(_bodies(format)), draw(_CHANCE))
    return body


@st.composite
def damaged_data(draw: DrawFn, format: str) -> bytes:
    """Request bodies of a format as bytes, damaged as values and as text: some are not JSON."""
    return damaged_json(draw(_bodies(format)), draw(_CHANCE))


@st.composite
def _bodies(draw: DrawFn, format: str) -> dict[str, Any]:
    """Bodies as canonicall writes them, and bodies of all that a format can say."""
    if draw(st.booleans()):
        return made_body(format, draw(_CHANCE))
    return encode_request(draw(requests()), get_format(format).target).body
