"""The front doors, in the order in which a path is looked up."""

from canonicall.gateway.exchange import HttpRequest
from canonicall.gateway.fronts.anthropic import MessagesFront
from canonicall.gateway.fronts.front import Asked, Front
from canonicall.gateway.fronts.gemini import GeminiFront
from canonicall.gateway.fronts.openai_chat import ChatFront
from canonicall.gateway.fronts.openai_responses import ResponsesFront

FRONTS: tuple[Front, ...] = (MessagesFront(), ResponsesFront(), GeminiFront(), ChatFront())


def front_for(request: HttpRequest) -> tuple[Front, Asked] | None:
    """The front door at the path of a request, and what is asked for there."""
    for front in FRONTS:
        asked = front.asked(request)
        if asked is not None:
            return front, asked
    return None
