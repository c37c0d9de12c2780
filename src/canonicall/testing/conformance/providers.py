"""Whether a profile is sound: what is rendered by its rules is what its rules allow.

In: a registered provider, or a profile that nobody registered. Out: a `Conformance`. Every talk of
`talks` is rendered for every format of the provider and for each kind of model that the profile has
rules for; the judge, who shares no code with the renderer, and the simulator have to agree.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from canonicall.blocks import ToolCall, ToolResult
from canonicall.codec.decode import decode_request
from canonicall.codec.encode import Encoded, encode_request
from canonicall.conversation import Conversation
from canonicall.facts.profile import Profile, load_profile
from canonicall.facts.registry import (
    find_profile,
    get_profile,
    get_target,
    register_provider,
    registered_profiles,
    unregister_provider,
)
from canonicall.facts.target import Target
from canonicall.request import Request
from canonicall.syntax.detection import printed_by
from canonicall.syntax.text_form import syntax_of_form
from canonicall.testing.conformance.growth import is_prefix, parting
from canonicall.testing.conformance.report import Broken, Checking, Conformance, need
from canonicall.testing.conformance.simulated import simulated
from canonicall.testing.conformance.syntaxes import broken_checks
from canonicall.testing.conformance.talks import TALKS, TOOLS, Talk
from canonicall.testing.habits import models_of
from canonicall.testing.simulator import Simulator
from canonicall.transcript.render import Renderer
from canonicall.verify import verify

CHECKS = {
    "renders": "Every conversation becomes a request body.",
    "verified": "The judge finds nothing in the bodies that its provider would refuse.",
    "ids": "Each call has an id of its own that the rules allow, and its result has the same.",
    "calls_kept": "Every call is sent once, in its order, with its name and its arguments.",
    "append_only": "A longer conversation begins with the bytes of the shorter one.",
    "incremental": "Rendering one entry after another gives the bytes of rendering all at once.",
    "fixpoint": "A body that is read and rendered again is the same body.",
    "answered": "The provider's simulator answers every body.",
    "leaks": "What it prints as text is a known syntax, or a form that passes the checks of one.",
}


def check_provider(provider: str | Profile | Mapping[str, Any]) -> Conformance:
    """What holds for a provider: its name, its profile, or the TOML text of one.

    A profile is registered for as long as this takes, and nothing stays behind.
    """
    profile = _profile(provider)
    checking = Checking(CHECKS)
    with _registered(profile):
        simulator = Simulator(profile.name, signatures="any")
        for target in _targets(profile):
            with checking.case("leaks", f"{target.format}:{target.model}"):
                _leaks(target)
            for name, talk in TALKS.items():
                label = f"{target.format}:{target.model}, {name}"
                _check(checking, label, target, talk, simulator)
    return checking.report("provider", profile.name)


def _check(
    checking: Checking, label: str, target: Target, talk: Talk, simulator: Simulator
) -> None:
    steps: list[_Step] = []
    with checking.case("renders", label):
        steps = _steps(talk, target)
    if not steps:
        return
    made = steps[-1].whole
    with checking.case("verified", label):
        found = verify(made.body, target)
        need(not found, str(found))
    with checking.case("ids", label):
        _ids(made)
    with checking.case("calls_kept", label):
        _calls_kept(Conversation.of(talk), made)
    with checking.case("append_only", label):
        _append_only(steps)
    with checking.case("incremental", label):
        _incremental(steps)
    with checking.case("fixpoint", label):
        read = decode_request(made.data, target.format, provider=target.provider)
        again = encode_request(read, target)
        if again.data != made.data:
            raise Broken(parting(made, again))
    with checking.case("answered", label):
        _answered(simulator, made)


def _leaks(target: Target) -> None:
    printed_by(target)
    for form in target.text_forms:
        wrong = broken_checks(syntax_of_form(form))
        need(not wrong, f"{form.name}: {'; '.join(wrong)}")


def _encoded(
    conversation: Conversation, target: Target, renderer: Renderer | None = None
) -> Encoded:
    request = Request(conversation, TOOLS[: target.max_tools], model=target.model)
    return encode_request(request, target, renderer=renderer)


def _ids(made: Encoded) -> None:
    rule = made.target.ids
    given = [id for id in made.transcript.ids.values() if id]
    twice = [id for id, count in Counter(given).items() if count > 1]
    need(not twice, f"two calls have the id {', '.join(twice)}")
    for id in given:
        fits = re.fullmatch(rule.pattern, id) is not None and len(id) <= rule.max_length
        need(fits, f"{id!r} is no id by the rules: {rule.pattern}, at most {rule.max_length}")
    blocks = [(turn.role, block) for turn in made.transcript.turns for block in turn.blocks]
    calls = [one.id for _, one in blocks if isinstance(one, ToolCall) and one.kind != "server"]
    results = [
        one.call_id for role, one in blocks if isinstance(one, ToolResult) and role != "assistant"
    ]
    need(calls == results, f"the calls {calls} have the results {results}")


def _calls_kept(conversation: Conversation, made: Encoded) -> None:
    read = decode_request(made.data, made.target.format, provider=made.target.provider)
    names = made.transcript.names
    sent = [
        (names.get(one.name, one.name), _arguments(one.call))
        for one in read.conversation.ledger.values()
    ]
    meant = [(one.name, _arguments(one.call)) for one in conversation.ledger.values()]
    need(sent == meant, f"{meant} became {sent}")


def _arguments(call: ToolCall) -> dict[str, Any]:
    """The arguments as an object, as a target without free text gets them."""
    if call.args is not None:
        return call.args
    return {"input" if call.kind == "custom" else "_raw": call.raw or ""}


class _Step(Struct, frozen=True):
    """A conversation after one more entry."""

    whole: Encoded
    again: Encoded
    """By a renderer that has rendered all steps before."""
    ends: dict[str, Any]
    """How each call ended, as far as it is known."""


def _steps(talk: Talk, target: Target) -> list[_Step]:
    conversation, renderer = Conversation(), Renderer(target)
    steps = [_step(conversation, target, renderer)]
    for entry in talk:
        conversation.append(entry)
        steps.append(_step(conversation, target, renderer))
    return steps


def _step(conversation: Conversation, target: Target, renderer: Renderer) -> _Step:
    ends = {
        id: (one.outcome, one.result, one.closed, one.why)
        for id, one in conversation.ledger.items()
    }
    again = _encoded(conversation, target, renderer)
    return _Step(_encoded(conversation, target), again, ends)


def _append_only(steps: list[_Step]) -> None:
    """After each entry, unless it changes what is known of the calls before it."""
    for before, after in pairwise(steps):
        has_to_grow = before.ends.items() <= after.ends.items()
        if has_to_grow and not is_prefix(before.whole, after.whole):
            raise Broken(parting(before.whole, after.whole))


def _incremental(steps: list[_Step]) -> None:
    for step in steps:
        if step.again.data != step.whole.data:
            raise Broken(parting(step.whole, step.again))


def _answered(simulator: Simulator, made: Encoded) -> None:
    answer = simulated(simulator, made.target, made.body)
    need(answer.status == 200, f"HTTP {answer.status} {answer.data.decode()}")


def _targets(profile: Profile) -> Iterable[Target]:
    """Each format with a usual model, then each kind of model that has rules which no other has."""
    usual = models_of(profile.name)[0]
    names = [f"{profile.name}/{format}:{usual}" for format in profile.formats]
    names += [
        f"{profile.name}/{entry.format}:{glob.replace('*', 'x')}"
        for entry in profile.models
        for glob in entry.match
    ]
    found: dict[Target, Target] = {}
    for target in map(get_target, names):
        found.setdefault(replace(target, model=""), target)
    return found.values()


def _profile(provider: str | Profile | Mapping[str, Any]) -> Profile:
    if isinstance(provider, Profile):
        return provider
    if isinstance(provider, str) and "\n" not in provider:
        return get_profile(provider)
    return load_profile(provider, "profile")


@contextmanager
def _registered(profile: Profile) -> Iterator[None]:
    """The profile under its name, and then what was there before."""
    if find_profile(profile.name) is profile:
        yield
        return
    before = next((one for one in registered_profiles() if one.name == profile.name), None)
    register_provider(profile, replace=True)
    try:
        yield
    finally:
        unregister_provider(profile.name)
        if before is not None:
            register_provider(before, replace=True)
