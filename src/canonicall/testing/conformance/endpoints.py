"""Whether an endpoint speaks its format: a gateway, a server of one's own, a fake provider.

In: an address, and a format or the provider whose rules it keeps. Out: a `Conformance`. Everybody
is sent the same requests, and what comes back is read as clients read it. Models differ in what
they say: a check that depends on a model's choice is open, not broken, where it chose otherwise.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from msgspec.structs import replace

from canonicall.client.secrets import Secret
from canonicall.client.transport import TransportError
from canonicall.discovery.addresses import checked
from canonicall.discovery.asking import OutOfRequests
from canonicall.discovery.discover import asking
from canonicall.discovery.draft import ASKED, SOME, Draft, history, permissive, question, said
from canonicall.discovery.exchanges import Exchange, lesson_of
from canonicall.discovery.identifying import identified
from canonicall.discovery.sending import Sender
from canonicall.facts.registry import get_profile, get_target
from canonicall.facts.target import Target
from canonicall.request import Params
from canonicall.testing.conformance import heard
from canonicall.testing.conformance.growth import messages_of
from canonicall.testing.conformance.report import Broken, Checking, Conformance, Skipped

CHECKS = {
    "words": "A plain question is answered in words, and the reply ends as one that is done.",
    "call": "A tool that is asked for is called, with arguments that its schema takes.",
    "parallel": "One reply may hold several calls.",
    "ids": "Every call has an id, and no two calls of a conversation share one.",
    "results": "A conversation with calls and their results is answered.",
    "streamed": "A stream comes to its end, and says what the whole reply says.",
    "stream_grammar": "A stream keeps the grammar of its format, so that every client can read it.",
    "unpaired": "A call without its result is refused in the form of the format.",
}
_LESSONS = 5
"""How often a request is changed by what its refusals say."""
_HELLO = said("user", "Say hello, please.")
_AGAIN = said("user", ASKED)


def check_endpoint(
    url: str,
    *,
    format: str = "",
    provider: str = "",
    model: str = "",
    key: str | Secret = "",
    **means: Any,
) -> Conformance:
    """What holds for the endpoint at `url`, which speaks `format`, or the format of `provider`.

    With `provider` it is held to that provider's rules, else to the format alone. Without `model`
    the first one that it lists is asked. `DiscoveryError` says why nothing can be asked. `means`
    are those of `probe_endpoint`, which is the same for code inside of an event loop.
    """
    asked = probe_endpoint(url, format=format, provider=provider, model=model, key=key, **means)
    return asyncio.run(asked)


async def probe_endpoint(
    url: str, *, format: str = "", provider: str = "", model: str = "", **means: Any
) -> Conformance:
    """`check_endpoint`, to be awaited. `means`: key, transport, timeouts, retry, progress, sleep
    and what else `discover` is given."""
    address = checked(url)
    wanted = format or (get_profile(provider).format if provider else "")
    async with asking(address, **means) as asker:
        found = await identified(asker, address, model=model, format=wanted)
        place, _ = found.places[0]
        probing = _Probing(Sender(asker, place), _target(provider, place.format, found.model))
        await probing.everything()
    subject = f"{place.base} ({place.format}, {found.model})"
    return probing.checking.report("endpoint", subject)


def _target(provider: str, format: str, model: str) -> Target:
    return get_target(f"{provider}/{format}:{model}") if provider else permissive(format, model)


class _Unpaired(Draft, frozen=True, kw_only=True):
    """A conversation that ends with a result: the same without it, where the user goes on."""

    @property
    def body(self) -> dict[str, Any]:
        body = super().body
        messages = messages_of(body)
        messages[-1] = messages[0]
        return body


class _Probing:
    """The requests to one endpoint, one after another, and what they show."""

    def __init__(self, sender: Sender, target: Target) -> None:
        self._send = sender.send
        self._target = target
        self._is_held = bool(target.provider)
        """Whether it is held to the rules of a provider."""
        self.checking = Checking(CHECKS)

    async def everything(self) -> None:
        """Ask all there is; where no answers come any more, what was not tried stays open."""
        try:
            words = await self._taught("words", _plain)
            calls = await self._taught("calls", question)
            self._first(words, calls)
            await self._streamed("words, streamed", words)
            await self._streamed("calls, streamed", calls)
            await self._later(calls)
            await self._unpaired()
        except (TransportError, OutOfRequests) as error:
            self.checking.leave_open("unpaired", f"Not everything could be asked: {error}")

    async def _taught(self, name: str, draft: Callable[[Target], Draft]) -> Exchange:
        """Ask, and ask again in the way that refusals teach: the names of fields differ by host."""
        exchange = await self._send(name, draft(self._target))
        for _ in range(_LESSONS):
            lesson = {} if self._is_held else lesson_of(exchange)
            if not lesson:
                break
            self._target = replace(self._target, **lesson)
            exchange = await self._send(name, draft(self._target))
        return exchange

    def _first(self, words: Exchange, calls: Exchange) -> None:
        with self._case("words", words):
            endless = heard.need_words(words)
            if endless:
                self.checking.leave_open("words", endless)
        with self._case("call", calls):
            heard.need_calls(calls)
        with self._case("parallel", calls):
            if len(heard.calls_in(calls)) < 2:
                self.checking.leave_open("parallel", "The model made no two calls at once.")
                raise Skipped

    async def _streamed(self, name: str, whole: Exchange) -> None:
        params = replace(whole.draft.params, stream=True)
        # Some hosts refuse to be asked for the usage.
        draft = replace(whole.draft, params=params, counted=False)
        streamed = await self._send(name, draft, whole.draft)
        with self._case("streamed", streamed):
            chosen = heard.need_same(whole, streamed)
            if chosen:
                self.checking.leave_open("streamed", chosen)
        with self._case("stream_grammar", streamed):
            heard.need_grammar(streamed, is_held=self._is_held)

    async def _later(self, calls: Exchange) -> None:
        """The results are sent, and then the user asks for the same again."""
        reply = None if calls.told is None else calls.told.reply.message
        base = history(self._target, reply)
        answered = await self._send("results", base, calls.draft)
        with self._case("results", answered):
            heard.need_answer(answered)
        if answered.told is None:
            return
        messages = (*base.messages, said("assistant", "Sunny, 12:00."), _AGAIN)
        again = replace(base, messages=messages, params=Params(max_tokens=SOME))
        second = await self._send("the same again", again, base)
        made = (*heard.calls_in(calls), *heard.calls_in(second))
        with self._case("ids", second):
            if not made:
                raise Skipped
            heard.need_ids(made, self._target)

    async def _unpaired(self) -> None:
        paired = history(self._target, None)
        # Without the instructions the first message is the user's.
        draft = _Unpaired(target=self._target, messages=paired.messages[1:], params=paired.params)
        exchange = await self._send("a call without its result", draft, paired)
        with self._case("unpaired", exchange):
            answered = heard.need_refusal(exchange, is_held=self._is_held)
            if answered:
                self.checking.leave_open("unpaired", answered)

    @contextmanager
    def _case(self, name: str, exchange: Exchange) -> Iterator[None]:
        """One try of a check; evidence against it has what was sent and what came."""
        seen = exchange.evidence
        with self.checking.case(name, seen.probe):
            try:
                yield
            except Broken as broken:
                told = str(broken).rstrip(".")
                raise Broken(f"{told}. Sent: {seen.sent} Received: {seen.received}") from None


def _plain(target: Target) -> Draft:
    return Draft(target=target, messages=(_HELLO,), tools=(), params=Params(max_tokens=SOME))
