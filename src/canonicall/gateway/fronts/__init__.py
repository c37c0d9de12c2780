"""The front doors, in the order in which a path is looked up."""

from msgspec.structs import replace

from canonicall.gateway.exchange import HttpRequest
from canonicall.gateway.fronts.anthropic import MessagesFront
from canonicall.gateway.fronts.front import GENERATE, METHODS, Asked, Front
from canonicall.gateway.fronts.gemini import GeminiFront, is_method
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


def front_beside(request: HttpRequest) -> Front:
    """The front whose client asks at a path where nothing is: its errors are read."""
    return next((front for front in FRONTS if front.is_beside(request)), FRONTS[-1])


def methods_at(request: HttpRequest) -> tuple[Front, tuple[str, ...]] | None:
    """The front that has something at the path of a request, and by which methods."""
    if is_method(request):
        # The model may be there, this method of it is not.
        return None
    for front in FRONTS:
        asked = [one for one in METHODS if front.asked(replace(request, method=one)) is not None]
        if asked:
            return front, tuple(asked)
    return None
