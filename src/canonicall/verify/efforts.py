"""Reasoning efforts that models refuse, in the texts of their hosts."""

from collections.abc import Iterator

from canonicall.facts.host_errors import EffortTexts
from canonicall.facts.registry import errors_of
from canonicall.facts.target import Target
from canonicall.verify.node import Node
from canonicall.verify.violation import Violation, refuse

CHAT = EffortTexts(
    any="Unrecognized request argument supplied: {path}",
    unknown="Unsupported value: '{path}' does not support '{value}' with this model."
    " Supported values are: {known}.",
    source="davidmigloz/langchain_dart#712; Kilo-Org/cloud#3807",
)
RESPONSES = EffortTexts(
    any="Unsupported parameter: '{path}' is not supported with this model.",
    unknown="Unsupported value: '{value}' is not supported with the '{model}' model."
    " Supported values are: {known}.",
    source="BoundaryML/baml#2708; openai/openai-agents-python#2089",
)


def effort_violations(
    root: Node, path: str, target: Target, own: EffortTexts
) -> Iterator[Violation]:
    """What stands at `path`, if the model is known to refuse it. `own` are the format's texts."""
    known = target.efforts
    if known is None or _is_told_apart(path, target):
        return
    holder = root
    for name in path.split(".")[:-1]:
        holder = holder.node(name)
    name = path.rpartition(".")[2]
    value = holder.get(name)
    if not isinstance(value, str) or value in known:
        return
    texts = errors_of(target.provider).efforts or own
    error = (texts.unknown if known else texts.any).format(
        model=target.model, value=value, path=path, known=_listed(known), plain=_plain(known)
    )
    yield refuse("effort_unsupported", holder.at(name), error, source=texts.source)


def _is_told_apart(path: str, target: Target) -> bool:
    """Whether the profile has the very words for this field."""
    return any(rule.field == path and not rule.beside for rule in target.refusals)


def _listed(known: tuple[str, ...]) -> str:
    quoted = [f"'{one}'" for one in known]
    if len(quoted) < 3:
        return " and ".join(quoted)
    return f"{', '.join(quoted[:-1])}, and {quoted[-1]}"


def _plain(known: tuple[str, ...]) -> str:
    return " or ".join(f"`{one}`" for one in sorted(known, reverse=True))
