"""The driver: a plan in, one line for every question to canonicall out, always in the same order.

A line is `kind, provider, target, id, codes, content`, parted by tabs: `codes` are the codes of
the findings that came with a body, `content` is JSON. The last line is `end` and how many records
of each kind there were. The driver runs against whatever canonicall its interpreter imports: the
working tree's or a revision's. The plan comes from standard input; with `--names` the driver
writes the names that a plan is made from.

Recorded bodies are decoded with the provider they were sent to, damaged ones without a provider.
Half of the damaged bodies are given as bytes, half as values. Each is encoded for every target.
"""

import gc
import json
import sys
from collections import Counter
from typing import Any, BinaryIO, NamedTuple

import msgspec
from msgspec.structs import replace

from canonicall import Request, decode_request, get_profile, provider_names
from scripts.golden import answers
from scripts.golden.answers import EMPTY, Answer, attempt
from scripts.golden.damage import Damaged, damaged_bodies
from scripts.golden.inputs import Recording, error_texts, recordings, rows, vectors
from scripts.golden.plan import DAMAGED, Names, Plan, TargetName

FRONTS = ("openai-chat", "openai-responses", "anthropic", "gemini")
_FULL = 1 << 20
"""Bytes that are written at once."""
_NO_ANSWER = Answer(EMPTY)


class Kinds(NamedTuple):
    """What the records about a request are called."""

    body: str
    findings: str
    violations: str


RECORDED = Kinds("body", "findings", "violations")
DAMAGED_KINDS = Kinds("damaged-body", "damaged-findings", "damaged-violations")


class Who(NamedTuple):
    """Whom a record is about."""

    provider: str
    target: str
    id: str


class Question(NamedTuple):
    """A request body in a format, and what is known about it besides."""

    id: str
    body: Any
    format: str
    kinds: Kinds
    provider: str = ""
    model: str = ""


class Records:
    """Writes records, those of the wanted kinds and providers."""

    def __init__(self, plan: Plan, out: BinaryIO) -> None:
        self._kinds = frozenset(plan.kinds)
        self._providers = frozenset(plan.providers)
        self._counts: Counter[str] = Counter()
        self._lines: list[bytes] = []
        self._size = 0
        self._out = out

    def wants(self, provider: str, *kinds: str) -> bool:
        """Whether a record of one of these kinds is to be written."""
        is_wanted = not self._providers or provider in self._providers
        return is_wanted and not self._kinds.isdisjoint(kinds)

    def add(self, kind: str, who: Who, content: bytes, codes: bytes = b"") -> None:
        """One record."""
        if not self.wants(who.provider, kind):
            return
        self._counts[kind] += 1
        named = f"{kind}\t{who.provider}\t{who.target}\t".encode()
        line = b"%b%b\t%b\t%b\n" % (named, who.id.encode("unicode_escape"), codes, content)
        self._lines.append(line)
        self._size += len(line)
        if self._size > _FULL:
            self.flush()

    def add_answer(self, kind: str, who: Who, answer: Answer) -> None:
        """A record and its wording."""
        self.add(kind, who, answer.content, answer.codes)
        self.add("wording", who, answer.wording)

    def end(self) -> None:
        self._lines.append(b"end\t%b\n" % msgspec.json.encode(self._counts))
        self.flush()

    def flush(self) -> None:
        self._out.write(b"".join(self._lines))
        self._out.flush()
        self._lines.clear()
        self._size = 0


class Driver:
    """Asks canonicall all that a plan wants to know."""

    def __init__(self, plan: Plan, out: BinaryIO) -> None:
        self._plan = plan
        self._records = Records(plan, out)
        self._spoken = {(one.provider, one.format) for one in plan.targets}
        self._recorded: list[tuple[str, bytes]] = []
        """What is damaged: formats and bodies of the recordings with results of tools."""

    def run(self) -> None:
        """Write all records."""
        self._targets()
        self._vectors()
        self._error_texts()
        self._rows()
        for recording in recordings(self._plan.limit):
            self._recording(recording)
        for damaged in damaged_bodies(self._recorded, self._plan.limit or DAMAGED):
            self._damaged(damaged)
        self._records.end()

    def _targets(self) -> None:
        recorded = {(one.provider, one.format, one.model) for one in recordings(self._plan.limit)}
        known = {one for one in recorded if one[:2] in self._spoken}
        bare = {(one.provider, one.format, "") for one in self._plan.targets}
        for provider, format, model in sorted({*known, *bare, *self._plan.models}):
            if self._records.wants(provider, "target"):
                name = f"{provider}/{format}"
                answer = attempt(answers.target_rules, f"{name}:{model}")
                self._records.add(
                    "target", Who(provider, name, model or "any model"), answer.content
                )

    def _vectors(self) -> None:
        for vector in vectors(self._plan.limit):
            if self._records.wants(vector.engine, "vectors", "wording"):
                for syntax in (vector.syntax, "auto"):
                    answer = attempt(answers.vector_read, vector, syntax)
                    self._records.add_answer(
                        "vectors", Who(vector.engine, syntax, vector.id), answer
                    )

    def _error_texts(self) -> None:
        for text in error_texts(self._plan.limit):
            if self._records.wants(text.origin, "explain", "wording"):
                self._explained(Who(text.origin, "text", text.id), *answers.explained(text.text))

    def _explained(self, who: Who, answer: Answer, sentences: bytes) -> None:
        self._records.add("explain", who, answer.content)
        self._records.add("wording", who, sentences)

    def _rows(self) -> None:
        for row in rows(self._plan.limit):
            if self._records.wants(row.provider, "simulator"):
                answer = attempt(answers.simulated, row.provider, "own", row.path, row.body)
                who = Who(row.provider, f"{row.provider}/{row.format}", row.id)
                self._records.add("simulator", who, answer.content)

    def _recording(self, one: Recording) -> None:
        own = one.provider if (one.provider, one.format) in self._spoken else ""
        self._reply(one, own)
        if one.is_error and self._records.wants(one.provider, "explain", "wording"):
            target = f"{own}/{one.format}:{one.model}" if own else ""
            asked = answers.explained(one.response, one.request, target)
            self._explained(Who(one.provider, "recorded", one.id), *asked)
        if one.request is None or not one.format:
            return
        if one.has_results:
            self._recorded.append((one.format, json.dumps(one.request).encode()))
        if own and self._records.wants(own, "simulator"):
            answer = attempt(answers.simulated, own, "any", one.path, one.request)
            self._records.add("simulator", Who(own, f"{own}/{one.format}", one.id), answer.content)
        self._request(Question(one.id, one.request, one.format, RECORDED, own, one.model))

    def _reply(self, one: Recording, own: str) -> None:
        """A recorded reply, streamed or whole, and what clients of the fronts get of it."""
        if not one.format or not self._records.wants(one.provider, "stream", "wording"):
            return
        data = one.stream
        if data is not None:
            answer, events = answers.stream_events(data, one.format, own)
            self._records.add_answer("stream", Who(one.provider, "events", one.id), answer)
            for front in FRONTS:
                written = attempt(answers.stream_for, events, front)
                who = Who(one.provider, f"events for {front}", one.id)
                self._records.add("stream", who, written.content)
        elif one.response is not None:
            answer, reply = answers.reply_read(one.response, one.format, own)
            self._records.add_answer("stream", Who(one.provider, "reply", one.id), answer)
            for front in FRONTS:
                written = _NO_ANSWER if reply is None else attempt(answers.reply_for, reply, front)
                who = Who(one.provider, f"reply for {front}", one.id)
                self._records.add("stream", who, written.content)

    def _damaged(self, one: Damaged) -> None:
        body: Any = one.data
        if int(one.id[-1]) % 2:
            try:
                value = json.loads(one.data)
            except ValueError:
                value = None
            body = value if isinstance(value, dict) else body
        self._request(Question(one.id, body, one.format, DAMAGED_KINDS))

    def _request(self, asked: Question) -> None:
        """A body as it is and for every target; it is read once."""
        self._judge_as_it_is(asked)
        wants = self._records.wants
        kinds = asked.kinds
        wanted = [one for one in self._plan.targets if wants(one.provider, *kinds, "wording")]
        if not wanted:
            return
        try:
            request = decode_request(asked.body, asked.format, provider=asked.provider)
            if asked.model and not request.model:
                request = replace(request, model=asked.model)
        except Exception as error:  # noqa: BLE001 -- every exception is an answer
            for target in wanted:
                self._for_target(target, asked, Answer(answers.failure(error)), _NO_ANSWER)
            return
        needs_judge = wants(wanted[0].provider, kinds.violations, "wording")
        for target in wanted:
            self._for_target(target, asked, *_rendered(request, target.name, needs_judge))

    def _judge_as_it_is(self, asked: Question) -> None:
        """What each provider that speaks the format refuses in a body."""
        kind = asked.kinds.violations
        for target in self._plan.targets:
            is_spoken = target.format == asked.format
            if is_spoken and self._records.wants(target.provider, kind, "wording"):
                name = f"{target.provider}/{asked.format}:{asked.model}".removesuffix(":")
                who = Who(target.provider, f"{target.name} as recorded", asked.id)
                self._refused(kind, who, attempt(answers.violations, asked.body, name))

    def _for_target(
        self, target: TargetName, asked: Question, body: Answer, judged: Answer
    ) -> None:
        who = Who(target.provider, target.name, asked.id)
        self._records.add(asked.kinds.body, who, body.content, body.codes)
        self._records.add(asked.kinds.findings, who, body.reported)
        self._records.add("wording", who, body.wording)
        who = Who(target.provider, f"{target.name} as rendered", asked.id)
        self._refused(asked.kinds.violations, who, judged)

    def _refused(self, kind: str, who: Who, answer: Answer) -> None:
        self._records.add(kind, who, answer.places if answer.findings else answer.content)
        self._records.add("wording", who, answer.wording)


def _rendered(request: Request, target: str, needs_judge: bool) -> tuple[Answer, Answer]:
    """The body for a target, and what the judge says about it."""
    body, made = answers.encoded(request, target)
    if made is None or not needs_judge:
        return body, _NO_ANSWER
    return body, attempt(answers.violations, made.body, made.target)


def names() -> Names:
    """What the canonicall that is imported here knows."""
    profiles = {name: get_profile(name) for name in provider_names()}
    models = [
        (name, one.format, glob.replace("*", "x"))
        for name, profile in profiles.items()
        for one in profile.models
        for glob in one.match
    ]
    return Names({name: list(one.formats) for name, one in profiles.items()}, models)


def main() -> None:
    """Answer what is asked on the command line."""
    if "--names" in sys.argv[1:]:
        sys.stdout.buffer.write(msgspec.json.encode(names()))
        return
    plan = msgspec.json.decode(sys.stdin.buffer.read(), type=Plan)
    gc.disable()  # values are trees: nothing to collect, and a plan is done in minutes
    Driver(plan, sys.stdout.buffer).run()


if __name__ == "__main__":
    main()
