"""GitHub's REST API. Only this package knows requests, PyJWT and cryptography."""

from .apps import App, Apps
from .client import GitHubClient
from .state import AuthFailure, Credential

__all__ = ["App", "Apps", "AuthFailure", "Credential", "GitHubClient"]
