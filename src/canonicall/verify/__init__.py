"""Judge a finished request body by its provider's rules, and explain what a provider answered.

Nothing here is shared with what renders and encodes: two readings of the same rules, which have to
agree.
"""

from canonicall.verify.explain import Explained, Explanation, explain
from canonicall.verify.judge import verify
from canonicall.verify.violation import Violation

__all__ = ["Explained", "Explanation", "Violation", "explain", "verify"]
