"""What models refuse of the effort that they are told, in the words of their hosts."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from canonicall.facts.target import Target
from canonicall.verify.node import Node
from canonicall.verify.violation import Violation, refuse


class EffortWords(NamedTuple):
    """How a host answers. `{model}`, `{value}`, `{known}` and `{path}` are filled in."""

    any: str
    """To any effort, where the model is told none."""
    unknown: str
    """To one that the model does not know."""
    source: str


CHAT = EffortWords(
    "Unrecognized request argument supplied: {path}",
    "Unsupported value: '{path}' does not support '{value}' with this model. Supported values are:"
    " {known}.",
    "davidmigloz/langchain_dart#712; Kilo-Org/cloud#3807",
)
RESPONSES = EffortWords(
    "Unsupported parameter: '{path}' is not supported with this model.",
    "Unsupported value: '{value}' is not supported with the '{model}' model. Supported values are:"
    " {known}.",
    "BoundaryML/baml#2708; openai/openai-agents-python#2089",
)
HOSTS: Mapping[str, EffortWords] = {
    "xai": EffortWords(
        "Model {model} does not support parameter reasoningEffort.",
        "Model {model} does not support reasoning effort {value}.",
        "BerriAI/litellm#16265; the words for a single effort are not known",
    ),
    "groq": EffortWords(
        "`reasoning_effort` is not supported with this model",
        "`reasoning_effort` must be one of {plain}",
        "diegosouzapw/OmniRoute#3277; earendil-works/pi#1745",
    ),
    "copilot": EffortWords(
        'reasoning_effort "{value}" was provided, but model {model} does not support reasoning'
        " effort",
        CHAT.unknown,
        "github/copilot-cli#3394",
    ),
}


def effort_violations(
    root: Node, path: str, target: Target, own: EffortWords
) -> Iterator[Violation]:
    """What stands at `path`, if the model is known to refuse it. `own` are the format's words."""
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
    words = HOSTS.get(target.provider, own)
    error = (words.unknown if known else words.any).format(
        model=target.model, value=value, path=path, known=_listed(known), plain=_plain(known)
    )
    yield refuse("effort_unsupported", holder.at(name), error, source=words.source)


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
