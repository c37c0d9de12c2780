"""Drafts sent to one endpoint: what each brings, and the evidence of it."""

from canonicall.client.transport import TransportError
from canonicall.discovery.addresses import Place
from canonicall.discovery.answer import Answer
from canonicall.discovery.asking import Asker
from canonicall.discovery.draft import Draft
from canonicall.discovery.evidence import evidence_of
from canonicall.discovery.exchanges import Exchange
from canonicall.discovery.identifying import request_url

_MOST_BROKEN = 1
"""Exchanges in a row that may bring no answer."""


class Sender:
    """Sends the drafts of one endpoint's probes."""

    def __init__(self, asker: Asker, place: Place) -> None:
        self._asker = asker
        self._place = place
        self._broken = 0
        """How many exchanges in a row brought no answer."""

    async def send(
        self, name: str, draft: Draft, base: Draft | None = None, about: str = ""
    ) -> Exchange:
        """Send a request; the evidence shows what it has that `base` has not."""
        asker, place = self._asker, self._place
        url = request_url(place, draft.target.model, stream=draft.stream)
        asker.tell(f"Probing {name}" + (f": {about}" if about else ""))
        answer = await self._answer(url, draft.data)
        plain = None if base is None else base.body
        evidence = evidence_of(name, url, draft.body, plain, answer, asker.secrets)
        return Exchange(draft, answer, answer.kind(place.format), evidence)

    async def _answer(self, url: str, data: bytes) -> Answer:
        """What comes back. One broken exchange leaves its own questions open, two end it all."""
        asker = self._asker
        try:
            answer = await asker.post(url, self._place.headers(asker.key.reveal()), data)
        except TransportError as error:
            self._broken += 1
            if self._broken > _MOST_BROKEN:
                raise
            return Answer(0, {}, b"", error.what)
        self._broken = 0
        return answer
