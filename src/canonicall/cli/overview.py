"""What there is: the verbs, the exit codes, and the text of `canonicall --help`.

Loads nothing but what Python has loaded already, so that help is there at once.
"""

OK, FAILED, MISUSED, FOUND, INTERRUPTED = 0, 1, 2, 3, 130

EXIT_CODES = {
    OK: "It worked, and nothing is wrong.",
    FAILED: "An error, told in one line; or nobody reads the output any more.",
    MISUSED: "The arguments are wrong.",
    FOUND: "It worked, and something was found: a provider would refuse it, a call is unreadable,"
    " a run ended at a limit or had a call denied, a check is broken.",
    INTERRUPTED: "Ended by Ctrl-C.",
}
"""How a run ends, for every verb."""

VERBS = {
    "demo": ("canonicall.cli.demo:demo", "Show one conversation travel through all providers."),
    "chat": ("canonicall.cli.chat:chat", "Talk with a model that uses tools."),
    "run": ("canonicall.cli.run:run", "Ask a model once, let it use tools, and print its answer."),
    "sessions": (
        "canonicall.cli.sessions:sessions",
        "List, show, export or delete stored sessions.",
    ),
    "stats": (
        "canonicall.cli.stats:stats",
        "Show how well providers call tools, counted over time.",
    ),
    "serve": ("canonicall.cli.serve:serve", "Serve any provider to the clients of any other."),
    "keys": ("canonicall.cli.keys:keys", "Make virtual keys for the gateway."),
    "check": ("canonicall.cli.check:check", "Find what a provider would refuse in a transcript."),
    "fix": ("canonicall.cli.fix:fix", "Repair a transcript, so that a provider accepts it."),
    "convert": (
        "canonicall.cli.convert:convert",
        "Convert transcripts to the format of another provider.",
    ),
    "import": (
        "canonicall.cli.import_sessions:import_sessions",
        "Read or list the sessions of coding agents.",
    ),
    "explain": (
        "canonicall.cli.explain:explain",
        "Say what a provider's error means, and what to do.",
    ),
    "tools": ("canonicall.cli.tools:tools", "Convert lists of tools between providers."),
    "parse": (
        "canonicall.cli.parse:parse",
        "Read the calls of a reply: printed as text, or as a provider's JSON.",
    ),
    "providers": (
        "canonicall.cli.providers:providers",
        "Show what providers can do, and their rules.",
    ),
    "discover": (
        "canonicall.cli.discover:discover",
        "Find out how an endpoint calls tools, and write its profile.",
    ),
    "conform": (
        "canonicall.cli.conform:conform",
        "Prove that a profile, a syntax or an endpoint is sound.",
    ),
    "sim": ("canonicall.cli.sim:sim", "Serve simulated providers on this machine."),
    "bench": (
        "canonicall.cli.bench:bench",
        "Measure what canonicall costs on this machine.",
    ),
    "doctor": (
        "canonicall.cli.doctor:doctor",
        "Look at the installation: packages, keys, versions.",
    ),
    "version": ("canonicall.cli.version:version", "Print the versions in use."),
}
"""For each verb where it lives, as "module:attribute", and one line about it."""

_HEAD = """\
Usage: canonicall [OPTIONS] VERB [ARGS]...

  One conversation, any model: tool-calling conversations that stay valid.
"""
_OPTIONS = {
    "--version": "Print the versions in use and exit.",
    "-h, --help": "Show this message and exit.",
}


def overview() -> str:
    """The text of `canonicall --help`."""
    verbs = {name: about for name, (_, about) in VERBS.items()}
    return "\n".join((_HEAD, "Options:", _rows(_OPTIONS), "Verbs:", _rows(verbs))).rstrip()


def _rows(entries: dict[str, str]) -> str:
    widest = max(map(len, entries))
    return "".join(f"  {name:<{widest}}  {about}\n" for name, about in entries.items())
