"""The probes, sent: how calls come, then what is taken and what is refused.

Parts of a probe are sent together. A refusal that names its cause takes the guilty part out and
the rest is sent again; after one that does not, each half is sent on its own. Where nothing of a
probe is taken, the request without any part is: only if that is taken, the refusals speak about the
parts. Refusals cost no tokens.
"""

from collections.abc import Awaitable, Callable, Sequence

from msgspec.structs import replace

from canonicall.discovery.addresses import DiscoveryError, Place
from canonicall.discovery.answer import Told
from canonicall.discovery.asking import Asker
from canonicall.discovery.draft import Draft, history, permissive, question
from canonicall.discovery.exchanges import Exchange, Learned, codes_of, lesson_of
from canonicall.discovery.id_rules import Seen, seen_ids
from canonicall.discovery.parts import PLAIN_IDS, REASONING, Part, Probe, replay_of
from canonicall.discovery.reading import (
    calls_of,
    obeyed,
    of_calls,
    of_ids,
    of_several,
    of_stream,
    of_text,
    of_thoughts,
)
from canonicall.discovery.sending import Sender
from canonicall.discovery.statement import Evidence, Statement
from canonicall.discovery.text_calls import (
    EXAMPLES,
    PrintedCalls,
    Prove,
    example_draft,
    in_known_syntax,
    learned_form,
    names_tools,
)
from canonicall.facts.profile import Confidence
from canonicall.facts.target import Target

_LESSONS = 5
"""How often a request is changed by what its refusals say."""
_NEGATIVE = ("tools_with_history",)
"""Questions whose probe leaves something out: what is taken then is a no."""
_OPAQUE = "reasoning_details"
_NO_TOOLS = "tools_unsupported"


class Probing:
    """The probes of one endpoint, and all that they showed."""

    def __init__(self, asker: Asker, place: Place, model: str, prove: Prove | None = None) -> None:
        self._place = place
        self._prove = prove
        self._send = Sender(asker, place).send
        self._target: Target = permissive(place.format, model)
        self._replies: list[tuple[Told, Evidence]] = []
        self.statements: dict[str, Statement] = {}
        self.learned: list[Learned] = []
        self.printed: PrintedCalls | None = None
        """How calls are printed as text, where they are."""

    @property
    def calls_told(self) -> Told | None:
        """The first reply that has structured calls."""
        return next((told for told, _ in self._replies if told.reply.calls), None)

    @property
    def first(self) -> Told | None:
        """The first reply of all."""
        return self._replies[0][0] if self._replies else None

    @property
    def seen_ids(self) -> Seen | None:
        """What the ids of all calls have in common."""
        return seen_ids(
            [(one.id, one.name) for told, _ in self._replies for one in told.reply.calls]
        )

    @property
    def _is_unread(self) -> bool:
        """Whether calls may be printed in a form that is not known."""
        return self.printed is None and self.statements["structured_calls"].answer is None

    async def calls(self) -> bool:
        """Ask for calls; False where the model is not answered for, or cannot call tools.

        `DiscoveryError` where not even a plain request is taken: then nothing can be asked.
        """
        exchange = await self._send("calls", question(self._target))
        exchange = await self._taught(
            exchange, lambda target: self._send("calls", question(target))
        )
        told = exchange.told
        if told is None:
            self._state(self._no_calls(exchange))
            return False
        self._keep(told, exchange)
        if not told.reply.calls:
            self.printed = in_known_syntax(told.reply.message)
        self._state(*of_calls(told, exchange.draft, exchange.evidence, self.printed))
        if not told.reply.calls and self.printed is None and names_tools(told.reply.message):
            await self._learn(told, exchange.evidence)
        return True

    async def _learn(self, both: Told, proof: Evidence) -> None:
        """Ask for calls with known arguments, and infer the form in which they are printed."""
        texts, proofs = [], []
        for tool, arguments in EXAMPLES:
            draft = example_draft(self._target, tool, arguments)
            exchange = await self._send(f"example {tool.name}", draft)
            texts.append("" if exchange.told is None else exchange.told.reply.message.text)
            proofs.append(exchange.evidence)
        self.printed, reason = learned_form(texts, both.reply.message.text, self._prove)
        if self.printed is None:
            note = f"The text names the tools, in a form that was not learned. {reason}"
            self._state(Statement("text_syntax", None, (proof, *proofs), "U", note))
            return
        confidence: Confidence = "C" if self._prove is None else "B"
        for one in of_text(self.printed, (proof, *proofs)):
            self._state(replace(one, confidence=confidence))
        self._state(of_several(len(calls_of(both, self.printed)), proof))

    async def streamed(self) -> None:
        """Ask for the same as a stream, with thoughts where that can be said and is taken."""
        exchange = await self._stream(question(self._target))
        bare = replace(exchange.draft, counted=False)
        if exchange.kind == "refused" and bare.body != exchange.draft.body:
            # Mistral has no `stream_options`: "Extra inputs are not permitted".
            exchange = await self._stream(replace(question(self._target), counted=False))
        told = exchange.told
        if told is None:
            note = "No stream could be read."
            self._state(Statement("argument_streaming", None, (exchange.evidence,), "U", note))
            return
        self._keep(told, exchange)
        self._state(*of_stream(told, exchange.evidence))

    async def _stream(self, base: Draft) -> Exchange:
        """The stream with thoughts; where that is refused, the one without."""
        thinking = REASONING.change(base)
        plain = replace(thinking, params=replace(thinking.params, reasoning=None))
        can_ask = thinking.body != plain.body
        exchange = await self._send("stream", thinking if can_ask else plain, base)
        if can_ask:
            exchange = await self._taught(exchange, self._send_thinking, ("thinking", "efforts"))
        if can_ask and exchange.kind == "taken":
            self._state(Statement(REASONING.question, True, (exchange.evidence,)))
        if can_ask and exchange.kind == "refused":
            refused = exchange.evidence
            exchange = await self._send("stream", plain, base)
            # Where the plain stream is refused as well, it was not about reasoning.
            answer = False if exchange.kind == "taken" else None
            self._state(Statement(REASONING.question, answer, (refused,)))
        return exchange

    async def _send_thinking(self, target: Target) -> Exchange:
        base = question(target)
        return await self._send("stream", REASONING.change(base), base)

    async def _taught(
        self,
        exchange: Exchange,
        ask: Callable[[Target], Awaitable[Exchange]],
        about: Sequence[str] = (),
    ) -> Exchange:
        """Ask again in the way that refusals teach, as long as they teach something.

        `about`: the fields that are meant; without any, whatever is taught.
        """
        learned: list[Learned] = []
        for _ in range(_LESSONS):
            lesson = lesson_of(exchange)
            if not lesson or (about and not lesson.keys() & {*about}):
                break
            learned += [Learned(name, one, exchange.evidence) for name, one in lesson.items()]
            exchange = await ask(replace(exchange.draft.target, **lesson))
        if exchange.kind == "taken":
            self._target = exchange.draft.target
            self.learned += learned
        return exchange

    async def probe(self, probe: Probe) -> None:
        """Send a probe, and say of each part whether it is taken."""
        base = self._base(probe)
        parts = [one for one in (*probe.parts, *self._learned_parts(probe)) if one.is_said(base)]
        await self._parts(probe.name, base, parts)
        said = [self.statements[one.question] for one in parts]
        if probe.on_history and said and not any(map(_is_taken, said)):
            # Where nothing at all is taken, it may be the fault of what all requests had. Of the
            # plain question it is known that it is taken.
            plain = await self._send(f"{probe.name}, nothing special", base)
            if plain.kind != "taken":
                self._leave_open(parts, plain)
                return
        refused = self.statements.get("foreign_ids")
        if probe.on_history and refused is not None and refused.answer is False:
            await self._parts("plain ids", base, [PLAIN_IDS])

    def _keep(self, told: Told, exchange: Exchange) -> None:
        """Take in a reply with calls, and what all of them show so far."""
        self._replies.append((told, exchange.evidence))
        thoughts = of_thoughts(self._replies, self._place.format)
        self._state(*of_ids(self._replies), *thoughts)

    async def _parts(self, name: str, base: Draft, parts: Sequence[Part]) -> None:
        """Say of each part whether it is taken, in as few requests as there are guilty ones."""
        if not parts:
            return
        about = ", ".join(one.question for one in parts)
        exchange = await self._send(name, _with(base, parts), base, about)
        if exchange.kind == "taken":
            self._state(*(self._taken(part, exchange) for part in parts))
            return
        if exchange.kind != "refused":
            self._leave_open(parts, exchange)
            return
        guilty = parts[0] if len(parts) == 1 else self._guilty(exchange, parts)
        if guilty is None:
            middle = len(parts) // 2
            await self._parts(name, base, parts[:middle])
            await self._parts(name, base, parts[middle:])
            return
        self._state(_refused(guilty, exchange))
        await self._parts(name, base, [one for one in parts if one is not guilty])

    def _no_calls(self, exchange: Exchange) -> Statement:
        """What it means that the first request got no reply."""
        proof = (exchange.evidence,)
        if _NO_TOOLS in codes_of(exchange):
            return Statement("structured_calls", False, proof, note="The model takes no tools.")
        if exchange.kind in ("refused", "unauthorized", "missing"):
            what = f"a plain request with tools is refused ({exchange.evidence.received[:300]})."
            help = f"Check the key and the model {self._target.model!r}, or name another model."
            raise DiscoveryError(what, where=self._place.base, help=help)
        return Statement("structured_calls", None, proof, "U", "No reply came.")

    def _learned_parts(self, probe: Probe) -> list[Part]:
        """The parts that only make sense after what came: thoughts, in the field they came in."""
        field = self.statements.get("reasoning_field")
        if not probe.on_history or field is None or field.answer == _OPAQUE:
            return []
        return [replay_of(field.answer)]

    def _base(self, probe: Probe) -> Draft:
        if not probe.on_history:
            return question(self._target)
        first = self._replies[0][0].reply.message if self._replies else None
        return history(self._target, first)

    def _taken(self, part: Part, exchange: Exchange) -> Statement:
        proof = (exchange.evidence,)
        if not part.question.startswith("choice_"):
            return Statement(part.question, part.question not in _NEGATIVE, proof)
        told = exchange.told
        if told is None or (self._is_unread and names_tools(told.reply.message)):
            return Statement(part.question, None, proof, "U")
        return Statement(part.question, obeyed(part.question, told, self.printed), proof)

    def _guilty(self, exchange: Exchange, parts: Sequence[Part]) -> Part | None:
        """The part that the refusal blames, where there are several and it blames one."""
        codes = codes_of(exchange)[:1]
        blamed = [one for one in parts if set(codes).intersection(one.codes)]
        return blamed[0] if len(blamed) == 1 else None

    def _leave_open(self, parts: Sequence[Part], exchange: Exchange) -> None:
        proof = (exchange.evidence,)
        self._state(*(Statement(one.question, None, proof, "U") for one in parts))

    def _state(self, *statements: Statement) -> None:
        self.statements |= {one.question: one for one in statements}


def _with(base: Draft, parts: Sequence[Part]) -> Draft:
    for part in parts:
        base = part.change(base)
    return base


def _refused(part: Part, exchange: Exchange) -> Statement:
    proof = (exchange.evidence,)
    if part.question.startswith("choice_"):
        return Statement(part.question, "refused", proof)
    return Statement(part.question, part.question in _NEGATIVE, proof)


def _is_taken(statement: Statement) -> bool:
    """Whether a probe of this question was answered with a reply."""
    is_no = statement.answer is False
    return statement.answer not in (None, "refused") and is_no == (statement.question in _NEGATIVE)
