"""A campaign of damaged request bodies: `python -m scripts.damage --cases 20000 --seed 1`.

Each case is a body of one format, made from samples or recorded (where `CANONICALL_CORPUS` is set),
and damaged. It is read, and encoded for a few targets chosen at random among all that differ in
their rules. Counted are, by format, format of the target and what went wrong, each with an example
that was made as small as it gets:

- `error`: an exception that is no `CanonicallError`, wherever it is raised;
- `judge`: a finding of `verify` in an encoded body;
- `fixpoint`: a body that is read in the target's format and encoded again is another one.

Case `n` of a seed is the same whatever else is run: `--seed 1 --start n --cases 1` is that case
alone. With `--each` the bodies are not damaged at random: every sample turn and every group of
settings is changed in every place in every way, one change at a time; the seed chooses the targets
and what else the body holds. The exit code is 1 where anything is counted.
"""

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from random import Random
from typing import Any, NamedTuple

from msgspec.structs import replace

from canonicall import (
    CanonicallError,
    Request,
    Target,
    decode_request,
    detect_format,
    encode_request,
    get_profile,
    get_target,
    provider_names,
    verify,
)
from canonicall.testing.damage import damaged, damaged_json, damaged_once, places_in
from canonicall.testing.vocabulary import VOCABULARIES, made_body
from scripts.golden.inputs import recordings

_LARGEST = 8_000
"""Characters of a recorded body that is damaged; larger ones cost time and show nothing else."""
_RECORDED = 40
"""Percent of the cases that are made from recorded bodies, where there are any."""
_SHOWN = 300
_SMALLEST_TRIED = 400
"""Places of a body that is made smaller; a larger one takes too long."""
_AS_BYTES = 30
"""Percent of the cases that are given as bytes."""


class Group(NamedTuple):
    """What failures have in common. `target` is a format, or what was done with the body."""

    kind: str
    format: str
    target: str
    what: str


class Failure(NamedTuple):
    """One thing that went wrong."""

    group: Group
    target: str
    said: str


class Case(NamedTuple):
    """One damaged body and whom it is encoded for."""

    id: str
    format: str
    body: Any
    targets: list[str]


def all_targets() -> dict[str, Target]:
    """One target for each set of rules: every provider and format, and every kind of model."""
    found: dict[Target, str] = {}
    for name in sorted(provider_names()):
        profile = get_profile(name)
        wanted = [f"{name}/{format}" for format in profile.formats]
        wanted += [
            f"{name}/{one.format}:{glob.replace('*', 'x')}"
            for one in profile.models
            for glob in one.match
        ]
        for one in wanted:
            found.setdefault(replace(get_target(one), provider="", domain="", model=""), one)
    return {name: get_target(name) for name in found.values()}


def recorded_bodies() -> dict[str, list[Any]]:
    """Recorded requests of each format that are small enough; none without a corpus."""
    found: dict[str, list[Any]] = {}
    if os.environ.get("CANONICALL_CORPUS"):
        for one in recordings():
            if one.format and one.request and len(json.dumps(one.request)) <= _LARGEST:
                found.setdefault(one.format, []).append(one.request)
    return found


class Campaign:
    """Cases, and what was counted."""

    def __init__(self, targets: dict[str, Target], recorded: dict[str, list[Any]]) -> None:
        self.targets = targets
        self._recorded = recorded
        self._names = sorted(targets)
        self.counts: Counter[str] = Counter()
        self.groups: Counter[Group] = Counter()
        self.examples: dict[Group, tuple[Case, Failure]] = {}

    def case(self, seed: int, number: int, per_case: int) -> Case:
        """Case `number` of a seed."""
        chance = Random(f"{seed} {number}")  # noqa: S311 -- nothing is secret
        format = chance.choice(sorted(VOCABULARIES))
        known = self._recorded.get(format, ())
        is_recorded = known and chance.randrange(100) < _RECORDED
        whole = chance.choice(known) if is_recorded else made_body(format, chance)
        as_bytes = chance.randrange(100) < _AS_BYTES
        body = damaged_json(whole, chance) if as_bytes else damaged(whole, chance)
        targets = chance.sample(self._names, min(per_case, len(self._names)))
        return Case(f"{seed}:{number}", format, body, targets)

    def each(self, seed: int, start: int, stop: int, per_case: int) -> Iterator[Case]:
        """The cases of `--each` from number `start` up to number `stop`."""
        for number, (format, changed) in enumerate(islice(_changed_once(), stop)):
            if number >= start:
                chance = Random(f"{seed} {number}")  # noqa: S311 -- nothing is secret
                body = {**made_body(format, chance), **changed}
                targets = chance.sample(self._names, min(per_case, len(self._names)))
                yield Case(f"{seed}:{number}", format, body, targets)

    def run(self, case: Case) -> None:
        """Count what goes wrong with one case."""
        self.counts["cases"] += 1
        for failure in self._failures(case):
            self._note(case, failure)

    def _failures(self, case: Case) -> Iterator[Failure]:
        format, body = case.format, case.body
        yield from self._tried(format, "detect", partial(detect_format, body))
        request: Request | None = None
        try:
            request = decode_request(body, format)
        except CanonicallError:
            self.counts["refused"] += 1
        except Exception as error:  # noqa: BLE001 -- each is counted
            yield _error(format, "decode", error)
        for name in case.targets:
            target = self.targets[name]
            if target.format == format:
                yield from self._tried(format, "verify", partial(verify, body, target), name)
            if request is not None:
                try:
                    yield from self._encoded(format, request, target, name)
                except CanonicallError as error:
                    self.counts[f"not encoded: {type(error).__name__}"] += 1
                except Exception as error:  # noqa: BLE001 -- each is counted
                    yield _error(format, target.format, error, name)

    def _tried(
        self, format: str, what: str, done: Callable[[], object], name: str = ""
    ) -> Iterator[Failure]:
        try:
            done()
        except CanonicallError:
            self.counts[f"{what}: refused"] += 1
        except Exception as error:  # noqa: BLE001 -- each is counted
            yield _error(format, what, error, name)

    def _encoded(
        self, format: str, request: Request, target: Target, name: str
    ) -> Iterator[Failure]:
        made = encode_request(request, target)
        data = made.data
        self.counts["encodes"] += 1
        for one in verify(made.body, made.target):
            group = Group("judge", format, target.format, one.code)
            yield Failure(group, name, f"{one.where}: {one.why}")
        try:
            back = decode_request(data, target.format, provider=target.provider)
        except CanonicallError as error:
            group = Group("fixpoint", format, target.format, type(error).__name__)
            yield Failure(group, name, str(error))
            return
        again = encode_request(back, target).data
        if again != data:
            before, after = json.loads(data), json.loads(again)
            place, was, now = next(_differences(before, after), ("bytes", "", ""))
            said = f"{json.dumps(was)[:_SHOWN]} -> {json.dumps(now)[:_SHOWN]}"
            yield Failure(Group("fixpoint", format, target.format, place), name, said)

    def _note(self, case: Case, failure: Failure) -> None:
        group = failure.group
        self.counts[group.kind] += 1
        self.groups[group] += 1
        size = len(str(case.body))
        known = self.examples.get(group)
        if known is None or size < len(str(known[0].body)):
            self.examples[group] = (
                case._replace(targets=[failure.target] if failure.target else []),
                failure,
            )

    def smallest(self, group: Group) -> tuple[Case, Failure]:
        """The example of a group without all that can be left out."""
        case, failure = self.examples[group]
        body = case.body
        if isinstance(body, bytes):
            try:
                body = json.loads(body)
            except ValueError:
                return case, failure
            if group not in [one.group for one in self._failures(case._replace(body=body))]:
                return case, failure
        at = 0
        while at < len(found := places_in([body])):
            copy = [json.loads(json.dumps(body))]
            place = places_in(copy)[at]
            del place.holder[place.key]
            same = None
            if copy and len(found) < _SMALLEST_TRIED:
                tried = case._replace(body=copy[0])
                same = next((one for one in self._failures(tried) if one.group == group), None)
            if same is None:
                at += 1
            else:
                body, failure = copy[0], same
        return case._replace(body=body), failure


def _changed_once() -> Iterator[tuple[str, dict[str, Any]]]:
    """Fields of a body of each format, changed in one place."""
    for format, known in sorted(VOCABULARIES.items()):
        for settings in known.settings:
            for changed in damaged_once(settings):
                yield format, changed
        for turn in known.turns:
            for changed in damaged_once(turn if isinstance(turn, list) else [turn]):
                yield format, {known.turns_at: [known.turns[0], *changed]}


def _error(format: str, target: str, error: Exception, name: str = "") -> Failure:
    return Failure(Group("error", format, target, _named(error)), name, repr(error))


def _named(error: Exception) -> str:
    """An exception with the innermost place in canonicall that it came from."""
    place, at = "", error.__traceback__
    while at is not None:
        file = at.tb_frame.f_code.co_filename
        if "canonicall" in file:
            place = f"{file.rpartition('canonicall/')[2]}:{at.tb_lineno}"
        at = at.tb_next
    return f"{type(error).__name__} at {place}"


def _differences(one: Any, other: Any, where: str = "$") -> Iterator[tuple[str, Any, Any]]:
    """The places without indexes at which two bodies differ, with both values."""
    if isinstance(one, dict) and isinstance(other, dict):
        for name in one | other:
            if name not in one or name not in other:
                yield f"{where}.{name}", one.get(name), other.get(name)
            else:
                yield from _differences(one[name], other[name], f"{where}.{name}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for first, second in zip(one, other, strict=True):
            yield from _differences(first, second, f"{where}[]")
    elif one != other or type(one) is not type(other):
        yield where, one, other


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cases", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--start", type=int, default=0, help="the number of the first case")
    parser.add_argument("--targets", type=int, default=3, help="how many for each case")
    parser.add_argument("--each", action="store_true", help="every single change, not by chance")
    parser.add_argument("--examples", type=int, default=1_500, help="characters of each example")
    asked = parser.parse_args()
    campaign = Campaign(all_targets(), recorded_bodies())
    stop = asked.start + asked.cases
    if asked.each:
        cases = campaign.each(asked.seed, asked.start, stop, asked.targets)
    else:
        numbers = range(asked.start, stop)
        cases = (campaign.case(asked.seed, number, asked.targets) for number in numbers)
    for case in cases:
        campaign.run(case)
    counts = "; ".join(f"{name}: {count}" for name, count in sorted(campaign.counts.items()))
    for group, count in sorted(campaign.groups.items()):
        case, failure = campaign.smallest(group)
        print(f"{count:6} {group.kind} {group.format} -> {group.target}: {group.what}")
        print(f"       case {case.id} for {failure.target}: {failure.said}")
        print(f"       {str(case.body)[: asked.examples]}")
    print(f"targets: {len(campaign.targets)}; {counts}")
    return 1 if campaign.groups else 0


if __name__ == "__main__":
    sys.exit(main())
