"""Errors of web requests."""

from __future__ import annotations


class RequestError(ValueError):
    """Raised when a request is invalid or cannot be served. The message is shown to the user.

    Attributes:
        status: the HTTP status code of the response.
    """

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status
