"""Who says whether a call may run: an option of the command line, or the person at the terminal."""

import click
import msgspec
from msgspec.structs import replace

from canonicall.agent.inputs import Decided
from canonicall.agent.rules import rule_like
from canonicall.blocks import ToolCall
from canonicall.cli.listeners import arguments_of
from canonicall.cli.reading import Reader
from canonicall.cli.records import rule_in_words
from canonicall.cli.session_options import Answer
from canonicall.cli.visible import in_one_line
from canonicall.decisions import Rule

_QUESTION = "Allow it? [y]es, [n]o (and why), [a]lways, by [r]ule, [e]dit: "
_RULE = "Allow from now on (TOOL JSON, * is anything in one command): "
_NOBODY = "nobody is there to approve it"
_BY = "command line"
"""Who decides where no person does."""


class Approvals:
    """Decides about the calls of a session."""

    def __init__(self, answer: Answer, reader: Reader | None = None) -> None:
        """Without a reader nobody can be asked."""
        self._answer = answer
        self._reader = reader

    @property
    def can_allow(self) -> bool:
        """Whether a call may be allowed at all: somebody is there, or has said so beforehand."""
        return self._answer == "allow" or (self._answer == "ask" and self._reader is not None)

    def at_once(self, call: ToolCall) -> Decided | None:
        """What can be said without asking; None where somebody has to be asked."""
        if self._answer == "allow":
            return Decided(call.id, "allow", by=_BY)
        if self._answer == "deny" or self._reader is None:
            return _nobody(call)
        return None

    async def decide(self, call: ToolCall) -> Decided:
        """What the person says. Raises `Interrupted` for Ctrl-C; the end of input is a no."""
        said = self.at_once(call)
        if said is not None or self._reader is None:
            return said or _nobody(call)
        shown = in_one_line(f"{call.name} {arguments_of(call)}")
        how = " was printed as text and" if call.recovered else ""
        click.secho(f"  {shown}{how} needs your approval.", err=True, fg="yellow")
        try:
            while True:
                said = await self._said(await self._reader.line(_QUESTION), call, self._reader)
                if said is not None:
                    return said
        except EOFError:
            return _nobody(call)

    async def _said(self, line: str, call: ToolCall, reader: Reader) -> Decided | None:
        """What an answer means; None where it means nothing."""
        first, _, rest = line.strip().partition(" ")
        answer = first.lower().rstrip(",:")
        if answer in ("n", "no"):
            return Decided(call.id, "deny", rest.strip() or "the user said no")
        match "" if rest else answer:
            case "y" | "yes":
                return Decided(call.id, "allow")
            case "a" | "always":
                return Decided(call.id, "allow", scope="session")
            case "r" | "rule":
                return Decided(call.id, "allow", scope="rule", rule=await self._rule(call, reader))
            case "e" | "edit":
                return await self._edited(call, reader)
        return None

    async def _rule(self, call: ToolCall, reader: Reader) -> Rule:
        """Which calls may run from now on; to begin with, those that are like this one."""
        before = rule_in_words(rule_like(call))
        while True:
            tool, _, arguments = (await reader.line(_RULE, default=before)).strip().partition(" ")
            try:
                wanted = msgspec.json.decode(arguments, type=dict) if arguments.strip() else {}
            except (msgspec.DecodeError, RecursionError) as error:
                click.echo(f"  These arguments are no JSON object: {error}.", err=True)
                continue
            if tool:
                return Rule(tool, wanted, recovered=call.recovered)

    async def _edited(self, call: ToolCall, reader: Reader) -> Decided:
        """The call with other arguments."""
        before = arguments_of(call)
        while True:
            given = await reader.line("Arguments as JSON: ", default=before)
            try:
                arguments = msgspec.json.decode(given, type=dict)
            except (msgspec.DecodeError, RecursionError) as error:
                click.echo(f"  That is no JSON object: {error}.", err=True)
                continue
            return Decided(call.id, "allow", edited=replace(call, args=arguments, raw=None))


def _nobody(call: ToolCall) -> Decided:
    return Decided(call.id, "deny", _NOBODY, by=_BY)
