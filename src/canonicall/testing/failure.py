"""An error response on its way out of a simulator."""

from canonicall.verify.violation import Violation
from canonicall.wire.error_body import ErrorBody


class Failure(Exception):
    """Raised where a request is turned down; the door writes it in the words of its format."""

    def __init__(
        self,
        status: int,
        error: ErrorBody,
        *,
        violations: tuple[Violation, ...] = (),
        **headers: str,
    ) -> None:
        self.status = status
        self.error = error
        self.violations = violations
        self.headers = headers
        super().__init__(error.message)
