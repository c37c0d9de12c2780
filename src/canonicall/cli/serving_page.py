"""What people see of a gateway: where clients have to be pointed, and who answers for what."""

from rich.console import Console

from canonicall.cli.page import add_row, counted, say, show_table, simple_table
from canonicall.cli.serving_plan import ModelPlan, Plan

_CLIENTS = {
    "OPENAI_BASE_URL": "OpenAI SDKs, Codex CLI",
    "ANTHROPIC_BASE_URL": "Anthropic SDKs, Claude Code",
    "GOOGLE_GEMINI_BASE_URL": "Google Gen AI SDKs, Gemini CLI",
}
_SIMULATED = (
    "Nothing is configured: a small simulated model answers for every name, offline, and any key"
    " will do. It calls no tool unless --call-tools names it."
)


def show_started(console: Console, plan: Plan) -> None:
    """What is told when requests are answered."""
    workers = f", with {plan.workers} workers" if plan.workers > 1 else ""
    say(console, f"canonicall serves at {plan.url}{workers}. Ctrl-C ends it.", indent="")
    console.print()
    _show_fronts(console, plan)
    if plan.is_simulated:
        say(console, _SIMULATED, indent="")
        say(
            console, "Next: set a provider's key (OPENAI_API_KEY, ...), or write a file:", indent=""
        )
        say(console, "canonicall serve --example > gateway.yaml")
        say(console, "canonicall serve -c gateway.yaml")
    else:
        _show_models(console, plan)
        names = ", ".join(key.name for key in plan.keys)
        needed = f"one of the virtual keys: {names}" if names else "no virtual key"
        say(console, f"Clients need {needed}.", indent="")
    if plan.store:
        say(console, f"What is kept: {plan.store}", indent="")
    _show_warnings(console, plan)
    # At once: the first client may be quicker than the last line.
    console.file.flush()


def show_plan(console: Console, plan: Plan) -> None:
    """What would be served."""
    by = counted(plan.workers, "worker")
    say(console, f"It would be served at {plan.url}, by {by}.", indent="")
    console.print()
    _show_fronts(console, plan)
    if plan.is_simulated:
        say(console, _SIMULATED, indent="")
    else:
        _show_models(console, plan)
    if plan.providers and not plan.is_simulated:
        say(console, "Providers", style="bold cyan", indent="")
        table = simple_table("name", "profile", "format", "address", "keys")
        for one in plan.providers:
            add_row(table, one.name, one.profile, one.format, one.url, str(one.keys))
        show_table(console, table, is_wide=True)
        console.print()
    if plan.keys:
        say(console, "Virtual keys", style="bold cyan", indent="")
        table = simple_table("name", "models", "until", "is")
        for key in plan.keys:
            what = "revoked" if key.revoked else "admin" if key.admin else ""
            add_row(table, key.name, ", ".join(key.models), key.expires or "always", what)
        show_table(console, table)
        console.print()
    _show_warnings(console, plan)
    say(console, "The settings are sound. Nothing was started.", indent="")


def _show_fronts(console: Console, plan: Plan) -> None:
    """Lines that can be copied into a shell."""
    say(console, "Point clients here", style="bold cyan", indent="")
    lines = {front.variable: f"export {front.variable}={front.url}" for front in plan.fronts}
    widest = max(map(len, lines.values()))
    for variable, line in lines.items():
        console.print(f"  {line:<{widest}}  # {_CLIENTS[variable]}", soft_wrap=True)
    console.print()


def _show_models(console: Console, plan: Plan) -> None:
    if not plan.models and not plan.providers:
        return
    say(console, "Models", style="bold cyan", indent="")
    table = simple_table("name", "who answers")
    for model in plan.models:
        add_row(table, model.name, _answerers(model))
    if plan.models:
        show_table(console, table)
    names = ", ".join(one.name for one in plan.providers)
    if names:
        say(console, f"PROVIDER:MODEL, for: {names}.")
    console.print()


def _answerers(model: ModelPlan) -> str:
    return ", then ".join((" or ".join(model.choices), *model.fallbacks))


def _show_warnings(console: Console, plan: Plan) -> None:
    for problem in plan.warnings:
        say(console, f"Note: {problem}", style="yellow", indent="")
