"""How often a model may try again: a pure value, which ends.

Every refusal is counted, for its tool and its kind. A call that goes through gives its tool all
attempts back, but never those of the whole budget: a model that fails, succeeds and fails again
comes to an end as well.
"""

from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace


class Refusal(StrEnum):
    """Why a call is not run."""

    UNKNOWN_TOOL = "unknown_tool"
    """No tool of this name was offered."""
    TRUNCATED = "truncated"
    """The arguments were cut off."""
    UNREADABLE = "unreadable"
    """The arguments are no JSON object, and could not be read as one."""
    TOO_LARGE = "too_large"
    """The arguments are larger or deeper than allowed."""
    INVALID = "invalid"
    """The schema does not accept the arguments."""


class CorrectionBudget(Struct, frozen=True):
    """What is left of the attempts to correct calls. `spend` and `restore` give new ones."""

    each: int = 3
    """How many refusals of one kind a tool has before attempts end."""
    total: int = 12
    """How many refusals there may be in all."""
    spent: tuple[tuple[str, Refusal, int], ...] = ()
    """Refusals since the tool last had a call that went through."""
    spent_in_all: int = 0

    def refusals(self, tool: str, refusal: Refusal) -> int:
        """How often calls of this tool were refused for this reason."""
        return next((n for name, kind, n in self.spent if (name, kind) == (tool, refusal)), 0)

    def left(self, tool: str, refusal: Refusal) -> int:
        """How many more attempts there are. At 0 the model should not be asked again."""
        here = self.each - self.refusals(tool, refusal)
        return max(0, min(here, self.total - self.spent_in_all))

    @property
    def is_exhausted(self) -> bool:
        """Whether there are no attempts left for any tool."""
        return self.spent_in_all >= self.total

    def spend(self, tool: str, refusal: Refusal) -> "CorrectionBudget":
        """What is left after one more refusal."""
        others = tuple(one for one in self.spent if one[:2] != (tool, refusal))
        count = self.refusals(tool, refusal) + 1
        return replace(
            self, spent=(*others, (tool, refusal, count)), spent_in_all=self.spent_in_all + 1
        )

    def restore(self, tool: str) -> "CorrectionBudget":
        """What is left after a call of the tool went through."""
        others = tuple(one for one in self.spent if one[0] != tool)
        return self if len(others) == len(self.spent) else replace(self, spent=others)
