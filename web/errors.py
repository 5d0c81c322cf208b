"""The error of a request."""

from __future__ import annotations


class RequestError(ValueError):
    """A request that cannot be answered. The message is shown on the page.

    Attributes:
        status: the HTTP status of the answer.
    """

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status
