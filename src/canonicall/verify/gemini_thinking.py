"""What Gemini's models refuse of `thinkingConfig`: a budget, a level, or thinking at all."""

from collections.abc import Iterator

from canonicall.facts.target import Target
from canonicall.verify.gemini_settings import either
from canonicall.verify.node import Node
from canonicall.verify.violation import Violation, refuse

THINKING = "ai.google.dev: thinking"
NEVER = "immersive-translate/immersive-translate#2976"
LEVEL = "RooCodeInc/Roo-Code#10700; vellum-ai/vellum-assistant#32687"
BUDGET = "snailyp/gemini-balance#206; RooCodeInc/Roo-Code#4399"
DYNAMIC = -1
"""A budget of which the model decides itself."""


def thinking_violations(root: Node, target: Target) -> Iterator[Violation]:
    config = root.node(either(root, "generationConfig"))
    config = config.node(either(config, "thinkingConfig"))
    if not config.fields:
        return
    level, budget = either(config, "thinkingLevel"), either(config, "thinkingBudget")
    if config.has(level) and config.has(budget):
        error = "You can only set only one of thinking budget and thinking level."
        yield refuse("thinking_unsupported", config.at(level), error, source=THINKING)
    if target.thinking == ("disabled",):
        if config.get(budget) != 0:
            error = "thinking_config is not supported."
            yield refuse("thinking_unsupported", config.where, error, source=NEVER)
        return
    yield from _level(config, level, target)
    yield from _budget(config, budget, target)


def _level(config: Node, name: str, target: Target) -> Iterator[Violation]:
    value = config.get(name)
    level = value.lower() if isinstance(value, str) else ""
    if target.efforts is None or not level or level in target.efforts:
        return
    told = f"Thinking level {level.upper()}" if target.efforts else "Thinking level"
    error = f"{told} is not supported for this model."
    yield refuse("effort_unsupported", config.at(name), error, source=LEVEL)


def _budget(config: Node, name: str, target: Target) -> Iterator[Violation]:
    budget = config.get(name)
    if target.thinking_limits is None or type(budget) is not int or budget == DYNAMIC:
        return
    least, most = target.thinking_limits
    if budget == 0:
        if "disabled" not in target.thinking:
            error = "Budget 0 is invalid. This model only works in thinking mode."
            yield refuse("thinking_budget", config.at(name), error, source=BUDGET)
    elif not least <= budget <= most:
        error = f"The thinking budget ({budget}) is invalid. Please choose a value between {least} "
        error += f"and {most}."
        yield refuse("thinking_budget", config.at(name), error, source=BUDGET)
