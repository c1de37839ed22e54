"""GitHub's refusals."""

from .model import Repository


class ApiError(Exception):
    """A status and GitHub's words for it."""

    def __init__(self, status: int, message: str, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.retry_after = retry_after


class LimitError(ApiError):
    """A refusal by a rate limit, which is not charged to it."""


class MovedError(Exception):
    """The repository has another name now."""

    def __init__(self, repository: Repository) -> None:
        super().__init__(repository.full_name)
        self.repository = repository
