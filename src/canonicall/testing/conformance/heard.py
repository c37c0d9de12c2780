"""What an endpoint answered, against what its format promises. Pure: exchanges in, `Broken` out."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from canonicall.blocks import ToolCall
from canonicall.discovery.draft import TOOLS, Draft
from canonicall.discovery.exchanges import Exchange
from canonicall.discovery.text_calls import in_known_syntax
from canonicall.facts.target import Target
from canonicall.guard.validation import examined
from canonicall.reply import LENGTH, STOP, TOOL_CALLS, Reply
from canonicall.syntax.recovery import recover_calls
from canonicall.testing.conformance.report import Broken, need
from canonicall.testing.conformance.simulated import simulated
from canonicall.testing.simulator import Simulator
from canonicall.verify import verify, verify_stream


def reply_in(exchange: Exchange) -> Reply:
    """The whole reply; broken where there is none, or only a part of one."""
    told, broken = exchange.told, exchange.answer.broken
    if told is None:
        why = broken or f"HTTP {exchange.answer.status}, {exchange.kind}"
        raise Broken(f"there is no reply to be read ({why})")
    need(not broken, f"the connection broke: {broken}")
    need(told.complete, "the stream stops before its end")
    return _read(told.reply, exchange.draft)


def calls_in(exchange: Exchange) -> tuple[ToolCall, ...]:
    """The calls of a reply; none where there is no reply."""
    told = exchange.told
    return () if told is None else _read(told.reply, exchange.draft).calls


def _read(reply: Reply, draft: Draft) -> Reply:
    """A reply with the calls that its text holds, if the provider is known to print them."""
    return recover_calls(reply, draft.tools, target=draft.target) if draft.target.leaks else reply


def need_words(exchange: Exchange) -> str:
    """Words, no calls, and an end like any other. How a model ended that went on and on up to the
    limit is returned in words: that is its choice."""
    reply = reply_in(exchange)
    need(bool(reply.message.text.strip()), "the reply has no words")
    need(not reply.calls, "a tool is called that nobody offered")
    limit = exchange.draft.params.max_tokens or 0
    made = limit if reply.usage is None else reply.usage.output_tokens
    if reply.finish == LENGTH and made >= limit:
        return f"The model did not stop before the limit of {limit} tokens."
    need(reply.finish == STOP, f"it finishes with {reply.finish or 'nothing'!r}, not with 'stop'")
    return ""


def need_calls(exchange: Exchange) -> None:
    """Calls of the tools that were offered, which may be run as they are."""
    reply = reply_in(exchange)
    if not reply.calls:
        printed = in_known_syntax(reply.message)
        raise Broken(
            f"the calls are printed in the words, as {printed.syntax}"
            if printed is not None
            else "no tool is called, though both were asked for"
        )
    for call in reply.calls:
        validated = examined(call, TOOLS)
        if validated.error is not None:
            raise Broken(f"{call.name}: {validated.error.message}")
        need(not validated.findings, f"{call.name}: {'; '.join(map(str, validated.findings))}")
    need(
        reply.finish == TOOL_CALLS,
        f"it finishes with {reply.finish or 'nothing'!r}, not with 'tool_calls'",
    )


def need_answer(exchange: Exchange) -> None:
    """Anything at all: words, or calls again."""
    reply = reply_in(exchange)
    need(bool(reply.message.text.strip() or reply.calls), "the reply is empty")


def need_ids(calls: Sequence[ToolCall], target: Target) -> None:
    """An id for each call, each another one. Formats that pair by place may do without."""
    if target.ids.style != "echoed":
        nameless = [call.name for call in calls if not (call.id or call.recovered)]
        need(not nameless, f"calls have no id: {', '.join(nameless)}")
    given = Counter(call.id for call in calls if call.id)
    twice = [id for id, count in given.items() if count > 1]
    need(not twice, f"calls of one conversation share an id: {', '.join(twice)}")


def need_same(whole: Exchange, streamed: Exchange) -> str:
    """The stream is whole and can be run; what may be the model's choice is returned in words."""
    reply = reply_in(streamed)
    if not calls_in(whole):
        need_answer(streamed)
        return ""
    need(bool(reply.calls), "the whole reply has calls, the stream has none")
    need_calls(streamed)
    said = [[_meant(call) for call in one] for one in (calls_in(whole), reply.calls)]
    return "" if said[0] == said[1] else f"the model called {said[0]}, then in the stream {said[1]}"


def _meant(call: ToolCall) -> tuple[str, Any]:
    """The name and the arguments; a stream has these as text."""
    return call.name, examined(call, TOOLS).call.args


def need_grammar(streamed: Exchange, *, is_held: bool) -> None:
    """What clients of the format stumble over, but for what a provider is known to write."""
    if streamed.kind != "taken":
        raise Broken(f"there is no stream (HTTP {streamed.answer.status}, {streamed.kind})")
    draft = streamed.draft
    found = verify_stream(streamed.answer.data, draft.target.format)
    known = _liberties(draft) if found and is_held else set()
    told = [f"{one.code} at {one.where}: {one.why}" for one in found if one.code not in known]
    need(not told, " ".join(told))


def _liberties(draft: Draft) -> set[str]:
    """What the provider itself does not take seriously in the grammar, as its simulator shows."""
    simulator = Simulator(draft.target.provider, signatures="any")
    answer = simulated(simulator, draft.target, draft.body, stream=True)
    return set(verify_stream(answer.data, draft.target.format).counts)


def need_refusal(exchange: Exchange, *, is_held: bool) -> str:
    """A refusal with words, where the rules want one; else the way it was answered, in words."""
    if exchange.kind == "taken":
        target = exchange.draft.target.as_served
        must = is_held and bool(verify(exchange.draft.body, target))
        need(not must, "it is answered; the provider refuses it")
        return "It is answered. Some hosts mend or overlook this; most providers refuse it."
    why = f"HTTP {exchange.answer.status}, {exchange.kind}"
    need(exchange.kind == "refused", f"it is neither refused nor answered ({why})")
    error = exchange.answer.error(exchange.draft.target.format)
    need(bool(error.message), f"the refusal says nothing ({why})")
    return ""
