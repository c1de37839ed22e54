"""GitHub as the phases know it (`ports.GitHub`): each operation by its endpoints."""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self
from urllib.parse import quote

from ..clock import Clock, Deadline
from ..errors import (
    AccessError,
    NameTakenError,
    NotFoundError,
    PermanentError,
    RateLimitedError,
    UncertainError,
)
from ..model import Delivery, JitConfig, Json, Listing, Pages, RemoteJob, Runner, Scope, T
from ..settings import GitHubBudget
from . import shapes
from .apps import App, Apps, Signer
from .limits import Limiter
from .pages import PAGE_LIMIT, read_listing, unreadable
from .shapes import Group, Kind, ShapeError
from .state import AuthFailure, Credential, Credentials, app_key, installation_key
from .tokens import Tokens
from .transport import Answer, Call, Transport

REPOSITORY_GROUP = 1  # a repository has only this one


class GitHubClient:
    """For one run, and any number of threads. What must outlive the run is in `credentials`."""

    def __init__(
        self,
        base_url: str,
        apps: Apps,
        budget: GitHubBudget,
        clock: Clock,
        deadline: Deadline,
        request_timeout: float,
        credentials: Iterable[Credential] = (),
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._apps = apps
        self._credentials = Credentials(credentials)
        self._limiter = Limiter(budget, clock, self._credentials)
        self._transport = Transport(
            base_url, self._limiter, deadline, request_timeout, budget.parallel, sleep
        )
        self._logins: dict[int, str] = {}  # by installation: what its organization is called now
        self._signer = Signer(clock)
        self._tokens = Tokens(apps, self._signer, self._transport, self._credentials, clock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._transport.close()

    # What outlives the run -------------------------------------------------------------------

    def credentials(self) -> list[Credential]:
        """Those that changed since they were given or last asked for."""
        return self._credentials.take_changed()

    def take_auth_failures(self) -> list[AuthFailure]:
        return self._tokens.take_failures()

    # Jobs ------------------------------------------------------------------------------------

    def polls_left(self, scope: Scope) -> int:
        return self._limiter.polls_left(installation_key(scope.installation_id))

    def writes_left(self, scope: Scope) -> int:
        left = self._limiter.writes_left(installation_key(scope.installation_id))
        return left if self._tokens.has(scope) or self._app_refusal(scope) is None else 0

    def refusal(self, scope: Scope) -> AccessError | RateLimitedError | None:
        known: AccessError | RateLimitedError | None = self._tokens.refusal(scope)
        if known is None and not self._tokens.has(scope):
            known = self._app_refusal(scope)
        return known or self._limiter.refusal(installation_key(scope.installation_id))

    def _app_refusal(self, scope: Scope) -> RateLimitedError | None:
        """A token is asked for as the App, which has limits of its own."""
        return self._limiter.refusal(app_key(self._apps.of(scope).id))

    def jobs_of_run(
        self, scope: Scope, repository: str, run_id: int, known: Pages
    ) -> Listing[RemoteJob]:
        target = f"{_repository(repository)}/runs/{run_id}/jobs?filter=all&per_page=100"
        return self._listing(scope, target, known, shapes.JOBS, polling=True)

    def job(self, scope: Scope, repository: str, job_id: int) -> RemoteJob:
        answer = self._get(scope, f"{_repository(repository)}/jobs/{job_id}", polling=True)
        return _read(answer, shapes.job)

    def run_is_completed(self, scope: Scope, repository: str, run_id: int) -> bool:
        answer = self._get(scope, f"{_repository(repository)}/runs/{run_id}", polling=True)
        return _read(answer, lambda value: shapes.field(value, "status", str)) == "completed"

    # Runners ---------------------------------------------------------------------------------

    def runners(self, scope: Scope, group_id: int | None, known: Pages) -> Listing[Runner]:
        return self._where_it_is(scope, lambda base: self._runners(base, scope, group_id, known))

    def _runners(
        self, base: str, scope: Scope, group_id: int | None, known: Pages
    ) -> Listing[Runner]:
        if scope.is_organization and group_id is not None:
            target = f"{base}/runner-groups/{group_id}/runners?per_page=100"
            try:
                return self._listing(scope, target, known, shapes.RUNNERS)
            except NotFoundError:
                pass  # The group is gone; its organization knows whether runners are left.
        return self._listing(scope, f"{base}/runners?per_page=100", known, shapes.RUNNERS)

    def find_runner(self, scope: Scope, name: str) -> Runner | None:
        def find(base: str) -> list[Runner]:
            target = f"{base}/runners?name={quote(name, safe='')}&per_page=100"
            return self._listing(scope, target, [], shapes.RUNNERS).items

        found = self._where_it_is(scope, find)
        return next((each for each in found if each.name == name), None)

    def delete_runner(self, scope: Scope, runner_id: int) -> bool:
        target = f"{self._base(scope)}/runners/{runner_id}"
        answer = self._send(scope, "DELETE", target, repeatable=True)
        if answer.ok or answer.status == 404:
            return True
        if answer.status == 422:
            return False
        raise answer.refusal()

    def create_jit_config(
        self, scope: Scope, group_id: int | None, name: str, labels: Sequence[str]
    ) -> JitConfig:
        if not scope.is_organization:
            group_id = REPOSITORY_GROUP
        elif group_id is None:
            # GitHub's default group is open to whom its organization opened it.
            raise ValueError("An organization's runner needs a group.")
        body = {"name": name, "runner_group_id": group_id, "labels": list(labels)}
        answer = self._where_it_is(
            scope,
            lambda base: self._write(scope, "POST", f"{base}/runners/generate-jitconfig", body),
        )
        try:
            runner_id = shapes.field(shapes.field(answer.value, "runner", dict), "id", int)
            return JitConfig(runner_id, shapes.field(answer.value, "encoded_jit_config", str))
        except ShapeError as error:
            raise _done_but_unreadable(answer, error) from error

    # Groups ----------------------------------------------------------------------------------

    def ensure_group(
        self, scope: Scope, name: str, *, allows_public_repositories: bool | None
    ) -> int:
        public = allows_public_repositories
        found = self._find_group(scope, name)
        try:
            if found is None:
                return self._create_group(scope, name, public=bool(public))
            if public in (None, found.allows_public_repositories):
                return found.id
            return self._open_group(scope, found, public=bool(public))
        except (NameTakenError, UncertainError):
            # Somebody was quicker, or it was done and the answer got lost.
            found = self._find_group(scope, name)
            if found is None or public not in (None, found.allows_public_repositories):
                raise
            return found.id

    def _find_group(self, scope: Scope, name: str) -> Group | None:
        groups = self._where_it_is(
            scope,
            lambda base: self._listing(
                scope, f"{base}/runner-groups?per_page=100", [], shapes.GROUPS
            ),
        ).items
        return next((each for each in groups if each.name == name), None)

    def _create_group(self, scope: Scope, name: str, *, public: bool) -> int:
        body = {"name": name, "visibility": "all", "allows_public_repositories": public}
        answer = self._write(scope, "POST", f"{self._base(scope)}/runner-groups", body)
        return _group_id(answer)

    def _open_group(self, scope: Scope, group: Group, *, public: bool) -> int:
        """Or close it."""
        body = {"name": group.name, "allows_public_repositories": public}
        answer = self._write(scope, "PATCH", f"{self._base(scope)}/runner-groups/{group.id}", body)
        return _group_id(answer)

    # Apps ------------------------------------------------------------------------------------

    def app_slug(self, app: App) -> str:
        """The App's name in addresses; PermanentError if the key is not this App's."""
        answer = self._send_as_app(app, "GET", "/app")
        return _read(answer, lambda value: shapes.field(value, "slug", str))

    def failed_deliveries(self, app_id: int, after: int | None) -> list[Delivery]:
        app = self._apps.by_id(app_id)
        failed: list[Delivery] = []
        target: str | None = "/app/hook/deliveries?per_page=100&status=failure"
        for _ in range(PAGE_LIMIT):
            if target is None:
                break
            answer = self._send_as_app(app, "GET", target)
            page = _read(answer, shapes.deliveries)
            new = [each for each in page if after is None or each.id > after]
            failed += [each for each in new if each.failed]
            target = answer.next_page if len(new) == len(page) else None
        else:
            raise PermanentError(f"GET /app/hook/deliveries: more than {PAGE_LIMIT} pages.")
        return sorted(failed, key=lambda each: each.id)

    def job_of_delivery(self, app_id: int, delivery_id: int) -> int | None:
        app = self._apps.by_id(app_id)
        target = f"/app/hook/deliveries/{delivery_id}"
        return shapes.job_of_delivery(self._send_as_app(app, "GET", target, polling=True).value)

    def redeliver(self, app_id: int, delivery_id: int) -> None:
        app = self._apps.by_id(app_id)
        self._send_as_app(app, "POST", f"/app/hook/deliveries/{delivery_id}/attempts")

    # Where it is sent ------------------------------------------------------------------------

    def _where_it_is(self, scope: Scope, work: Callable[[str], T]) -> T:
        """The work at the scope's address, and if there is nothing, at the one it moved to.

        A renamed repository redirects; a renamed organization does not. Its installation knows
        what it is called now.
        """
        base = self._base(scope)
        try:
            return work(base)
        except NotFoundError:
            if not scope.is_organization:
                raise
            self._learn_login(scope)
            if self._base(scope) == base:
                raise
        return work(self._base(scope))

    def _learn_login(self, scope: Scope) -> None:
        """Once a run."""
        with self._credentials.lock:
            if scope.installation_id in self._logins:
                return
        path = f"/app/installations/{scope.installation_id}"
        answer = self._send_as_app(self._apps.of(scope), "GET", path)
        login = _read(answer, shapes.account_login)
        with self._credentials.lock:
            self._logins[scope.installation_id] = login

    def _base(self, scope: Scope) -> str:
        if scope.repo_full_name is None:
            with self._credentials.lock:
                login = self._logins.get(scope.installation_id, scope.entity_name)
            return f"/orgs/{quote(login, safe='')}/actions"
        return _repository(scope.repo_full_name)

    # How it is sent --------------------------------------------------------------------------

    def _listing(
        self, scope: Scope, target: str, known: Pages, kind: Kind[T], *, polling: bool = False
    ) -> Listing[T]:
        def ask(address: str, etag: str | None) -> Answer:
            return self._get(scope, address, etag=etag, polling=polling)

        return read_listing(ask, target, known, kind)

    def _get(
        self, scope: Scope, target: str, *, etag: str | None = None, polling: bool = False
    ) -> Answer:
        answer = self._send(scope, "GET", target, etag=etag, polling=polling, repeatable=True)
        if not answer.ok and answer.status != 304:
            raise answer.refusal()
        return answer

    def _write(self, scope: Scope, method: str, target: str, body: Json) -> Answer:
        """Sent once only, whatever comes back."""
        answer = self._send(scope, method, target, body=body)
        if not answer.ok:
            raise answer.refusal()
        return answer

    def _send(self, scope: Scope, method: str, target: str, **options: Any) -> Answer:
        key = installation_key(scope.installation_id)
        token = self._tokens.of(scope)
        answer = self._transport.send(Call(method, target, key, token, **options))
        if not _is_about_the_token(answer):
            return answer
        self._tokens.forget(scope, token)
        return self._transport.send(Call(method, target, key, self._tokens.of(scope), **options))

    def _send_as_app(self, app: App, method: str, target: str, *, polling: bool = False) -> Answer:
        key, jwt = app_key(app.id), self._signer.jwt(app)
        call = Call(method, target, key, jwt, polling=polling, repeatable=method == "GET")
        answer = self._transport.send(call)
        if answer.status == 401:
            text = f"{call}: 401 {answer.message}; is it App {app.id}'s private key?"
            raise PermanentError(text)
        if not answer.ok:
            raise answer.refusal()
        return answer


def _repository(full_name: str) -> str:
    return f"/repos/{quote(full_name)}/actions"


def _is_about_the_token(answer: Answer) -> bool:
    """It expired, or was made for an installation that is suspended now: nothing was done, and
    the token endpoint tells what is the matter."""
    return answer.status == 401 or (answer.status == 403 and "suspended" in answer.message)


def _read(answer: Answer, reader: Callable[[Any], T]) -> T:
    try:
        return reader(answer.value)
    except ShapeError as error:
        raise unreadable(answer, error) from error


def _group_id(answer: Answer) -> int:
    try:
        return shapes.field(answer.value, "id", int)
    except ShapeError as error:
        raise _done_but_unreadable(answer, error) from error


def _done_but_unreadable(answer: Answer, error: ShapeError) -> UncertainError:
    return UncertainError(f"{answer.call}: done, but with an answer that cannot be used: {error}.")
