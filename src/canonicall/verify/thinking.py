"""What Claude's models refuse of the fields `thinking` and `output_config`, wherever they stand."""

from collections.abc import Iterator

from canonicall.facts.target import Refusal, Target
from canonicall.facts.vocabulary import vocabulary
from canonicall.verify.node import Node
from canonicall.verify.violation import Violation, refuse

KINDS = tuple(vocabulary("anthropic").thinking)
WORDS = {
    "enabled": (
        '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and'
        ' "output_config.effort" to control thinking behavior.'
    ),
    "adaptive": "adaptive thinking is not supported on this model",
}
TROUBLE = "platform.claude.com: thinking-troubleshooting"
RECORDED = "recorded traffic of claude-opus-4-6"
NEVER = "anthropics/claude-code#12914"
NO_EFFORT = "anthropics/claude-code#30760"


def thinking_violations(root: Node, target: Target) -> Iterator[Violation]:
    """`root` is what holds the two fields. Of models without such rules nothing is read: what other
    families have under these names is theirs."""
    if not target.thinking and target.efforts is None:
        return
    kind = root.node("thinking").get("type")
    if target.thinking and kind in KINDS and kind not in target.thinking:
        never = {"enabled", "adaptive"}.isdisjoint(target.thinking)
        error = WORDS.get(kind) or _words_of(kind, target)
        if never:
            error = f"'{target.model}' does not support thinking."
        source = NEVER if never else TROUBLE
        yield refuse("thinking_unsupported", root.at("thinking"), error, source=source)
    effort = root.node("output_config").get("effort")
    if target.efforts is None or not isinstance(effort, str) or effort in target.efforts:
        return
    where = root.node("output_config").at("effort")
    if not target.efforts:
        error = "This model does not support the effort parameter."
        yield refuse("effort_unsupported", where, error, source=NO_EFFORT)
        return
    known = ", ".join(sorted(target.efforts))
    error = f"This model does not support effort level '{effort}'. Supported levels: {known}."
    yield refuse("effort_unsupported", where, error, source=RECORDED)


def _words_of(kind: str, target: Target) -> str:
    """The words that the model itself has for it, where they are known."""
    own = (one for one in target.refusals if is_kind_of_thinking(one) and kind in one.values)
    found = next(own, None)
    return found.error if found else f'"thinking.type.{kind}" is not supported for this model.'


def is_kind_of_thinking(rule: Refusal) -> bool:
    """Whether a rule is about the kind of thinking alone, which `Target.thinking` says as well."""
    return rule.field.endswith("thinking.type") and not rule.beside
