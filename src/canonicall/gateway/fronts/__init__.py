"""The front doors, in the order in which a path is looked up."""

from canonicall.gateway.exchange import HttpRequest
from canonicall.gateway.fronts.anthropic import MessagesFront
from canonicall.gateway.fronts.front import GENERATE, Asked, Front
from canonicall.gateway.fronts.gemini import GeminiFront
from canonicall.gateway.fronts.openai_chat import ChatFront
from canonicall.gateway.fronts.openai_responses import ResponsesFront

FRONTS: tuple[Front, ...] = (MessagesFront(), ResponsesFront(), GeminiFront(), ChatFront())


_USUAL = {
    "/v1/chat/completions": (FRONTS[3], Asked(GENERATE)),
    "/v1/responses": (FRONTS[1], Asked(GENERATE)),
    "/v1/messages": (FRONTS[0], Asked(GENERATE)),
}


def front_for(request: HttpRequest) -> tuple[Front, Asked] | None:
    """The front door at the path of a request, and what is asked for there."""
    if request.method == "POST" and request.path in _USUAL:
        return _USUAL[request.path]
    for front in FRONTS:
        asked = front.asked(request)
        if asked is not None:
            return front, asked
    return None
