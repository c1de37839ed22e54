"""Who is asking: an App by its JWT, or an installation by its token."""

from datetime import datetime, timedelta
from typing import Any

import jwt

from .accounts import Accounts
from .errors import ApiError
from .ids import Ids
from .model import App, Installation, Repository, Token

TOKEN_LIFE = timedelta(hours=1)
JWT_LIFE_SECONDS = 600
BAD_EXPIRY = (
    "'Expiration time' claim ('exp') must be a numeric value representing the future time at "
    "which the assertion expires"
)
BAD_ISSUE = (
    "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was "
    "issued"
)
LEVELS = {"read": 1, "write": 2, "admin": 3}


class Auth:
    def __init__(self, accounts: Accounts, ids: Ids) -> None:
        self._accounts = accounts
        self._ids = ids
        self._tokens: dict[str, Token] = {}

    def app(self, authorization: str, now: datetime) -> App:
        """The App whose key signed this JWT, as of now."""
        assertion = _credential(authorization)
        try:
            claims: dict[str, Any] = jwt.decode(assertion, options={"verify_signature": False})
        except jwt.InvalidTokenError:
            raise ApiError(401, "A JSON web token could not be decoded") from None
        app = self._issuer(claims.get("iss"))
        try:
            jwt.decode(
                assertion,
                app.public_key,
                algorithms=["RS256"],
                options={"verify_exp": False, "verify_iat": False, "verify_nbf": False},
            )
        except jwt.InvalidTokenError:
            raise ApiError(401, "A JSON web token could not be decoded") from None
        _check_times(claims, now.timestamp())
        return app

    def _issuer(self, issuer: object) -> App:
        for app in self._accounts.apps.values():
            if str(issuer) in (str(app.id), app.client_id):
                return app
        if issuer is None:
            raise ApiError(401, "'Issuer' claim ('iss') must be an Integer")
        raise ApiError(404, "Integration not found")

    def token(self, authorization: str, now: datetime) -> Token:
        token = self._tokens.get(_credential(authorization))
        if token is None or token.expires_at <= now:
            raise ApiError(401, "Bad credentials")
        installation = token.installation
        if installation.id not in self._accounts.installations:
            raise ApiError(401, "Bad credentials")
        if installation.suspended_at is not None:
            raise ApiError(403, "This installation has been suspended")
        return token

    def issue(
        self,
        installation: Installation,
        permissions: dict[str, str],
        repositories: list[Repository] | None,
        now: datetime,
    ) -> Token:
        for name, level in permissions.items():
            granted = installation.permissions.get(name)
            if LEVELS.get(str(level), 9) > LEVELS.get(granted or "", 0):
                raise ApiError(
                    422, "The permissions requested are not granted to this installation."
                )
        token = Token(
            value="ghs_" + self._ids.text("token", 36),
            installation=installation,
            permissions=dict(permissions or installation.permissions),
            repositories=(
                None if repositories is None else frozenset(each.id for each in repositories)
            ),
            expires_at=now.replace(microsecond=0) + TOKEN_LIFE,
        )
        self._tokens = {v: t for v, t in self._tokens.items() if t.expires_at > now}
        self._tokens[token.value] = token
        return token


def permit(token: Token, permission: str, level: str) -> None:
    if LEVELS[level] > LEVELS.get(token.permissions.get(permission, ""), 0):
        raise ApiError(403, "Resource not accessible by integration")


def _credential(authorization: str) -> str:
    scheme, _, credential = authorization.partition(" ")
    if scheme.lower() not in ("bearer", "token") or not credential:
        raise ApiError(401, "Requires authentication")
    return credential.strip()


def _check_times(claims: dict[str, Any], now: float) -> None:
    issued, expires = claims.get("iat"), claims.get("exp")
    if not isinstance(expires, int | float) or expires <= now:
        raise ApiError(401, BAD_EXPIRY)
    if expires > now + JWT_LIFE_SECONDS:
        raise ApiError(401, "'Expiration time' claim ('exp') is too far in the future")
    if not isinstance(issued, int | float) or issued > now:
        raise ApiError(401, BAD_ISSUE)
