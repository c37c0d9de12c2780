"""Answers for the pages of providers: what a field of `Target` says, in the words of a table.

An answer is Markdown; the empty text is none, for a field that says nothing of this target.
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from msgspec import Struct

from canonicall.facts.target import Target
from canonicall.syntax.detection import FAMILY

Answer: TypeAlias = Callable[[Target], str]


class Fact(Struct, frozen=True):
    """One question about a target, with the field of `Target` that answers it."""

    field: str
    question: str
    answer: Answer
    """The answer as Markdown; "" where there is none to give."""
    also: str = ""
    """Another field that the same answer tells."""


def quoted(text: str) -> str:
    """A text as code in a cell of a table."""
    escaped = text.replace("|", "\\|").replace("\n", " ")
    return f"`` {escaped} ``" if "`" in escaped else f"`{escaped}`"


def listed(values: Iterable[Any], none: str = "none") -> str:
    return ", ".join(quoted(str(value)) for value in values) or none


def yes_no(field: str, yes: str = "yes", no: str = "no") -> Answer:
    return lambda target: yes if getattr(target, field) else no


def only_if(field: str, told: str) -> Answer:
    """An answer worth giving only where the field is set."""
    return lambda target: told if getattr(target, field) else ""


def no_unless(field: str) -> Answer:
    """An answer worth giving only where the field is not set."""
    return lambda target: "" if getattr(target, field) else "no"


def in_words(field: str, words: dict[str, str]) -> Answer:
    return lambda target: words[getattr(target, field)]


def each_of(field: str) -> Answer:
    return lambda target: listed(getattr(target, field))


def id_rule(target: Target) -> str:
    rule = target.ids
    told = {
        "prefixed": f"{quoted(rule.prefix)} and more, {quoted(rule.pattern)},"
        f" at most {rule.max_length} characters",
        "numbered": "`functions.{name}:{number}`, counted through the conversation",
        "short": f"exactly {rule.max_length} letters and digits",
        "echoed": "only ids that it gave itself; calls without one go without",
    }[rule.style]
    return told if rule.refused else f"{told}; others are taken, and lead the model astray"


def name_rule(target: Target) -> str:
    rule = target.names
    if not rule.refused:
        return "any"
    return f"{quoted(rule.pattern)}, {rule.min_length} to {rule.max_length} characters"


def unenforced(target: Target) -> str:
    """Told always of formats that many hosts speak: the owner has rules that others are not known
    to have."""
    codes = dict(target.served).get("unenforced", target.unenforced)
    return listed(codes, "none" if target.format in ("openai-chat", "anthropic") else "")


def leaked_calls(target: Target) -> str:
    family = "in the syntax of the model's family"
    forms = {one.name: f"{one.name}: {one.opening}NAME{one.between}" for one in target.text_forms}
    named = listed((forms.get(one, one) for one in target.leaks if one != FAMILY), "")
    told = [family] if FAMILY in target.leaks else []
    return "; ".join([*told, *filter(None, [named])])


def tool_limit(target: Target) -> str:
    return f"at most {target.max_tools:,}" if target.max_tools else "no limit is known"


def unknown_fields(target: Target) -> str:
    places = target.fields.closed
    return f"refused in: {', '.join(places)}" if places else ""


def reasoning_field(target: Target) -> str:
    is_said = target.reasoning == "open" and target.format in ("openai-chat", "cohere", "ollama")
    return quoted(target.reasoning_field) if is_said else ""


def reasoning_placeholder(target: Target) -> str:
    text = target.reasoning_placeholder
    if text is None:
        return ""
    words = {"": "an empty text", " ": "a space"}.get(text, quoted(text))
    return f"has to be there; where there is none, {words} stands in"


def thinking_field(target: Target) -> str:
    return quoted(target.thinking_field) if target.thinking_field else ""


def thinking(target: Target) -> str:
    """The ways to switch it and the efforts that are known; "" where nothing is."""
    ways = [one for one in target.thinking if one != "effort"]
    told = [listed(ways)] if ways else []
    if target.efforts is not None:
        told.append(f"efforts: {listed(target.efforts)}")
    if target.thinking_limits is not None:
        told.append(f"budgets: {thinking_limits(target)}")
    return "; ".join(told)


def thinking_limits(target: Target) -> str:
    if target.thinking_limits is None:
        return ""
    least, most = target.thinking_limits
    return f"{least:,} to {most:,} tokens"


def signature_sentinel(target: Target) -> str:
    text = target.signature_sentinel
    return f"{quoted(text)} stands in for it" if text else ""


def failed_results(target: Target) -> str:
    told = "marked by a field" if target.result_error_flag else "said in its text"
    repeated = listed(target.echoed_fields, "")
    return f"{told}; {repeated} of the call is repeated" if repeated else told


def result_media(target: Target) -> str:
    told = listed(target.result_media, "none")
    others = [kind for kind in target.result_parts if kind not in (*target.result_media, "text")]
    return f"{told}; of other parts, {listed(others)}" if others else told


def undeclared_tools(target: Target) -> str:
    told = "refused" if target.tools_with_history else "accepted"
    bound = listed([name for name in target.replayed_if_offered if name != "*"], "")
    return f"{told}; so is {bound}, which the provider runs" if bound else told


def most_calls(target: Target) -> str:
    most = target.calls_per_message
    return f"at most {most}; more are split over messages" if most else ""


def choices(target: Target) -> str:
    named = {"one": "or one tool by name", "many": "or tools by name", "no": "no tool by name"}
    return f"{listed(target.choice_modes)}, {named[target.choice_names]}"


def other_refusals(target: Target) -> str:
    told = []
    for one in target.refusals:
        beside = f"beside {quoted(one.beside)}" if one.beside else ""
        but = f"other than {listed(one.taken)}" if one.taken else listed(one.values, "")
        words = (quoted(one.field), but, beside, listed(one.beside_values, ""))
        told.append(" ".join(filter(None, words)))
    return "; ".join(told)


def seed_name(target: Target) -> str:
    return quoted(target.seed_field) if target.seed_field != "seed" else ""


def cache_marks(target: Target) -> str:
    order = ", the longest first" if target.cache_order else ""
    return f"at most {target.cache_marks}{order}" if target.cache_marks else "none"


def unmarked(field: str) -> Answer:
    """Where a target that has cache marks takes none."""
    return lambda one: "none" if one.cache_marks and not getattr(one, field) else ""


def cache_field(target: Target) -> str:
    is_said = target.cache_marks and target.format == "openai-chat"
    return quoted(target.cache_field) if is_said else ""
