"""Installation tokens: asked for once an hour, kept encrypted, and missed only once in the log."""

import threading
from collections import Counter, defaultdict
from datetime import timedelta

from ..clock import Clock
from ..errors import AccessError, RateLimitedError, TransientError
from ..model import Scope
from .apps import App, Apps, Signer
from .pages import unreadable
from .shapes import ShapeError, field
from .state import (
    GONE,
    OTHER_FAILURE,
    WELL_AGAIN,
    AuthFailure,
    Credentials,
    app_key,
    installation_key,
)
from .transport import Answer, Call, Transport

TOKEN_LIFE = timedelta(minutes=59)  # GitHub's hour, less what a request may take
ASKED_AGAIN = {GONE: timedelta(seconds=300), OTHER_FAILURE: timedelta(seconds=60)}
# GitHub's words for a JWT of an App that does not exist: nothing is said of the installation.
NO_SUCH_APP = "Integration not found"


class Tokens:
    def __init__(
        self,
        apps: Apps,
        signer: Signer,
        transport: Transport,
        credentials: Credentials,
        clock: Clock,
    ) -> None:
        self._apps = apps
        self._signer = signer
        self._transport = transport
        self._credentials = credentials
        self._clock = clock
        self._lock = threading.Lock()
        self._asking: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._missed: Counter[str] = Counter()  # how often no answer came
        self._open: dict[str, str] = {}  # decrypted
        self._statuses: dict[str, int] = {}  # of failures of this run
        self._failures: list[AuthFailure] = []

    def of(self, scope: Scope) -> str:
        """One thread asks; those that wait meanwhile share what came of it, also if it is nothing.
        Raises AccessError."""
        key, app = installation_key(scope.installation_id), self._apps.of(scope)
        if (token := self._known(key, app)) is not None:
            return token
        with self._lock:
            asking, missed = self._asking[key], self._missed[key]
        with asking:
            if (token := self._known(key, app)) is not None:
                return token
            if (failed := self.refusal(scope)) is not None:
                raise failed
            if self._missed[key] != missed:
                raise TransientError(f"{key}: its token was asked for just now and did not come.")
            try:
                return self._ask(scope, key, app)
            except RateLimitedError:
                raise
            except TransientError:
                self._missed[key] += 1
                raise

    def has(self, scope: Scope) -> bool:
        """Whether there is one at hand."""
        key = installation_key(scope.installation_id)
        return self._known(key, self._apps.of(scope)) is not None

    def forget(self, scope: Scope, token: str) -> None:
        """GitHub does not know this one any more, if it is still the one."""
        key = installation_key(scope.installation_id)
        with self._credentials.lock:
            if self._open.get(key) == token:
                del self._open[key]
                credential = self._credentials.change(key)
                credential.token = credential.token_expires_at = None

    def take_failures(self) -> list[AuthFailure]:
        with self._credentials.lock:
            taken, self._failures = self._failures, []
            return taken

    def _known(self, key: str, app: App) -> str | None:
        with self._credentials.lock:
            credential = self._credentials.of(key)
            expires_at = credential.token_expires_at
            if credential.token is None or expires_at is None or expires_at <= self._clock.now():
                return None
            if key not in self._open:
                token = app.unseal(credential.token, key)
                if token is None:
                    return None  # The App has a new key.
                self._open[key] = token
            return self._open[key]

    def refusal(self, scope: Scope) -> AccessError | None:
        """A failure of late: it is not asked again at once."""
        key = installation_key(scope.installation_id)
        with self._credentials.lock:
            credential = self._credentials.of(key)
            failure, at = credential.auth_failure, credential.auth_failed_at
            if failure is None or at is None:
                return None
            if self._clock.now() >= at + ASKED_AGAIN.get(failure, ASKED_AGAIN[OTHER_FAILURE]):
                return None
            status = 404 if failure == GONE else self._statuses.get(key, 403)
        return AccessError(f"{key} gave no token when it was last asked ({failure}).", status)

    def _ask(self, scope: Scope, key: str, app: App) -> str:
        path = f"/app/installations/{scope.installation_id}/access_tokens"
        asked_at = self._clock.now()
        jwt = self._signer.jwt(app)
        answer = self._transport.send(Call("POST", path, app_key(app.id), jwt, repeatable=True))
        if not answer.ok:
            raise self._failed(scope, key, app, answer)
        try:
            token = field(answer.value, "token", str)
        except ShapeError as error:
            raise unreadable(answer, error) from error
        sealed = app.seal(token, key)
        with self._credentials.lock:
            credential = self._credentials.change(key)
            if credential.auth_failure is not None:
                # Else the log would say for ever that there is no access.
                told = AuthFailure(scope.installation_id, app.id, scope, answer.status, WELL_AGAIN)
                self._failures.append(told)
            credential.token, credential.token_expires_at = sealed, asked_at + TOKEN_LIFE
            credential.auth_failure = credential.auth_failed_at = None
            self._open[key] = token
        return token

    def _is_another_matter(self, scope: Scope, app: App, answer: Answer) -> bool:
        """A 404 fails all jobs of an installation for good, so it must not be about the settings:
        an App that does not exist, or the two Apps mistaken for each other."""
        if answer.message == NO_SUCH_APP:
            return True
        other = self._apps.other(app)
        path = f"/app/installations/{scope.installation_id}"
        call = Call("GET", path, app_key(other.id), self._signer.jwt(other), repeatable=True)
        return self._transport.send(call).ok

    def _failed(self, scope: Scope, key: str, app: App, answer: Answer) -> AccessError:
        gone = answer.status == 404 and not self._is_another_matter(scope, app, answer)
        # Only an installation that is gone may read as gone.
        status = answer.status if gone or answer.status != 404 else 401
        failure = GONE if gone else OTHER_FAILURE
        message = str(answer.refusal())
        with self._credentials.lock:
            credential = self._credentials.change(key)
            if credential.auth_failure != failure:
                event = f"auth_attempt.{failure}"
                self._failures.append(
                    AuthFailure(scope.installation_id, app.id, scope, status, event, message)
                )
            credential.auth_failure, credential.auth_failed_at = failure, self._clock.now()
            self._statuses[key] = status
        return AccessError(message, status)
