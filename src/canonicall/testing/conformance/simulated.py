"""One request to a simulator, at the usual place of its format."""

from typing import Any

from canonicall.discovery.addresses import places
from canonicall.discovery.identifying import request_url
from canonicall.facts.target import Target
from canonicall.testing.exchange import SimRequest, SimResponse
from canonicall.testing.simulator import Simulator

_HOST = "http://simulator.test"


def simulated(
    simulator: Simulator, target: Target, body: dict[str, Any], *, stream: bool = False
) -> SimResponse:
    """What the simulator of a target's provider answers to a body."""
    place, *_ = places(_HOST, target.format)
    url = request_url(place, target.model, stream=stream)
    return simulator.answer(SimRequest.of("POST", url, body, place.headers("any")))
