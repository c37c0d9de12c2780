"""What the Messages API refuses of parameters: how to think, how hard, how freely, when to stop.

What other hosts of the format take is theirs: most of it is judged where unknown fields of a
request are refused as well.
"""

from collections.abc import Iterator

from canonicall.facts.target import Target
from canonicall.facts.vocabulary import vocabulary
from canonicall.verify.node import Node
from canonicall.verify.violation import Violation, refuse

MESSAGES = "platform.claude.com: messages API reference"
ERROR = "error text of the API"
DEFAULTS = {"temperature": 1}
_NAMES = vocabulary("anthropic")


def parameter_violations(root: Node, target: Target) -> Iterator[Violation]:
    yield from _budget(root)
    yield from _refused(root, target)
    if "request" in target.fields.closed:
        yield from _thinking(root.node("thinking"))
        yield from _effort(root, target)
        yield from _ranges(root)


def _budget(root: Node) -> Iterator[Violation]:
    thinking = root.node("thinking")
    budget, limit = thinking.get("budget_tokens"), root.get("max_tokens")
    where = thinking.at("budget_tokens")
    if thinking.get("type") != "enabled":
        return
    if budget is None:
        error = "thinking.enabled.budget_tokens: Field required"
        yield refuse("missing_field", where, error, source=MESSAGES)
    if not isinstance(budget, int):
        return
    if budget < 1024:
        error = "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"
        yield refuse("thinking_budget", where, error, source=MESSAGES)
    elif isinstance(limit, int) and limit <= budget:
        error = "`max_tokens` must be greater than `thinking.budget_tokens`."
        yield refuse("thinking_budget", where, error, source=MESSAGES)


def _refused(root: Node, target: Target) -> Iterator[Violation]:
    for name in target.refused_params:
        # "Setting any non-default value returns a 400 error" (docs, "What's new in Claude 4.7").
        if root.has(name) and root.get(name) != DEFAULTS.get(name):
            error = f"`{name}` is deprecated for this model."
            where, source = root.at(name), "Comfy-Org/ComfyUI#13923"
            yield refuse("parameter_unsupported", where, error, source=source)


def _thinking(thinking: Node) -> Iterator[Violation]:
    kind = thinking.get("type")
    known = _NAMES.thinking.get(kind) if isinstance(kind, str) else None
    if known is None:
        return
    for name in sorted(thinking.fields.keys() - known):
        error = f"thinking.{kind}.{name}: Extra inputs are not permitted"
        yield refuse("unknown_field", thinking.at(name), error, source=ERROR)
    display = thinking.get("display") if "display" in known else None
    if display is not None and display not in _NAMES.displays:
        error = f"thinking.{kind}.display: Input should be 'summarized', 'omitted'"
        yield refuse("parameter_unsupported", thinking.at("display"), error, source=ERROR)


def _effort(root: Node, target: Target) -> Iterator[Violation]:
    """A word that is no effort; which of them a model knows, `thinking_violations` says."""
    config = root.node("output_config")
    effort = config.get("effort")
    if target.efforts is None and effort is not None and effort not in _NAMES.efforts:
        error = "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'"
        yield refuse("effort_unsupported", config.at("effort"), error, source=ERROR)


def _ranges(root: Node) -> Iterator[Violation]:
    temperature = root.get("temperature")
    if isinstance(temperature, int | float) and temperature > 1:
        error = "temperature: range: 0..1"
        yield refuse("parameter_unsupported", root.at("temperature"), error, source=ERROR)
    for at, words in enumerate(root.values("stop_sequences")):
        if isinstance(words, str) and not words.strip():
            error = "stop_sequences: each stop sequence must contain non-whitespace"
            where = root.at("stop_sequences", at)
            yield refuse("parameter_unsupported", where, error, source=ERROR)
