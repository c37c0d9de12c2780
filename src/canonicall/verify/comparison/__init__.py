"""The comparison of law D3: what came in against what goes out, and what no finding names.

`compare` reads two request bodies, raw, and says what the second one says otherwise. `unexplained`
keeps what the findings of a report do not name. Neither uses the wire decoders, the renderer or the
conversation.
"""

from canonicall.verify.comparison.differences import Difference, compare
from canonicall.verify.comparison.explanations import unexplained

__all__ = ["Difference", "compare", "unexplained"]
