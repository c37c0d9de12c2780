"""How a tool says that it stopped as it was asked to, and what that means."""

from typing import Any

from canonicall.errors import CanonicallError
from canonicall.outcome import Outcome


class ToolStopped(CanonicallError):
    """Raised by a tool that does not finish, because nobody waits for its result any more.

    `outcome` is what is true of the call then: `unknown` if it may have taken effect, `not_run` if
    it cannot have. `partial` is what there is of a result.
    """

    def __init__(
        self, why: str = "", *, outcome: Outcome = Outcome.UNKNOWN, partial: Any = None
    ) -> None:
        self.why = why
        self.outcome = outcome
        self.partial = partial
        super().__init__(why or "it stopped as it was asked to")
