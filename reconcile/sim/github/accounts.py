"""Accounts, repositories, Apps and their installations, and the events that tell of them."""

from collections.abc import Mapping

from ..timeline import Timeline
from . import payloads
from .deliveries import Deliveries
from .errors import ApiError, MovedError
from .ids import Ids
from .model import ORGANIZATION, USER, Account, App, Installation, Repository
from .shapes import Json

# What the control plane's Apps ask for, and are told of.
PERMISSIONS = {
    "actions": "read",
    "administration": "write",
    "metadata": "read",
    "organization_self_hosted_runners": "write",
}
EVENTS = ["workflow_job"]


class Accounts:
    def __init__(self, timeline: Timeline, ids: Ids, deliveries: Deliveries) -> None:
        self._timeline = timeline
        self._ids = ids
        self._deliveries = deliveries
        self.accounts: dict[str, Account] = {}  # by lower-case login
        self.repositories: dict[str, Repository] = {}  # by lower-case full name
        self.apps: dict[int, App] = {}
        self.installations: dict[int, Installation] = {}
        self.moved: dict[str, Repository] = {}  # by a full name it once had
        self.octocat = self._account("octocat", USER, 583231)

    def add_organization(self, login: str, account_id: int | None = None) -> Account:
        with self._timeline.lock:
            return self._account(login, ORGANIZATION, account_id)

    def add_user(self, login: str, account_id: int | None = None) -> Account:
        with self._timeline.lock:
            return self._account(login, USER, account_id)

    def add_repository(self, owner: Account, name: str, *, private: bool = False) -> Repository:
        with self._timeline.lock:
            added = Repository(
                self._ids.next("repository"), owner, name, private, self._timeline.now()
            )
            if added.full_name.lower() in self.repositories:
                raise ValueError(f"There is a repository {added.full_name} already.")
            self.repositories[added.full_name.lower()] = added
            return added

    def add_app(
        self,
        public_key: str,
        *,
        webhook_url: str | None = None,
        webhook_secret: str = "",
        app_id: int | None = None,
        slug: str | None = None,
        permissions: dict[str, str] | None = None,
    ) -> App:
        with self._timeline.lock:
            number = self._ids.next("app") if app_id is None else app_id
            app = self.apps[number] = App(
                id=number,
                slug=slug or f"riscv-runners-{number}",
                owner=self.octocat,
                public_key=public_key,
                permissions=dict(PERMISSIONS if permissions is None else permissions),
                events=list(EVENTS),
                webhook_url=webhook_url,
                webhook_secret=webhook_secret,
                created_at=self._timeline.now(),
            )
            return app

    # What people do to installations -------------------------------------------------------

    def install(
        self,
        app: App,
        account: Account,
        repositories: list[Repository] | None = None,
        installation_id: int | None = None,
    ) -> Installation:
        """On all repositories, or on these only."""
        with self._timeline.lock:
            now = self._timeline.now()
            number = self._ids.next("installation") if installation_id is None else installation_id
            installation = self.installations[number] = Installation(
                id=number,
                app=app,
                account=account,
                permissions=dict(app.permissions),
                created_at=now,
                updated_at=now,
                selected=None if repositories is None else {each.id for each in repositories},
            )
            self._tell("created", installation)
            return installation

    def uninstall(self, installation: Installation) -> None:
        with self._timeline.lock:
            self._tell("deleted", installation)
            del self.installations[installation.id]

    def suspend(self, installation: Installation) -> None:
        with self._timeline.lock:
            installation.suspended_at = installation.updated_at = self._timeline.now()
            installation.suspended_by = self.octocat
            self._tell("suspend", installation)

    def unsuspend(self, installation: Installation) -> None:
        with self._timeline.lock:
            installation.suspended_at = installation.suspended_by = None
            installation.updated_at = self._timeline.now()
            self._tell("unsuspend", installation)

    def accept_permissions(self, installation: Installation, **permissions: str) -> None:
        """The owner accepts what the App newly asks for."""
        with self._timeline.lock:
            installation.app.permissions.update(permissions)
            installation.permissions = dict(installation.app.permissions)
            installation.updated_at = self._timeline.now()
            self._tell("new_permissions_accepted", installation)

    def select(self, installation: Installation, repositories: list[Repository]) -> None:
        """Only these from now on; GitHub tells what came and what went."""
        with self._timeline.lock:
            before = {each.id for each in self._covered(installation)}
            installation.selected = {each.id for each in repositories}
            after = installation.selected
            installation.updated_at = self._timeline.now()
            for action, changed in (("added", after - before), ("removed", before - after)):
                if changed:
                    listed = [r for r in self.repositories.values() if r.id in changed]
                    self._send(
                        "installation_repositories",
                        installation,
                        payloads.installation_repositories(
                            action, installation, self.octocat, listed
                        ),
                    )

    def rename(self, account: Account, login: str) -> None:
        """Old paths of its repositories lead to the new ones for good."""
        with self._timeline.lock:
            old_login = account.login
            owned = [r for r in self.repositories.values() if r.owner is account]
            for repository in owned:
                self.moved[repository.full_name.lower()] = repository
                del self.repositories[repository.full_name.lower()]
            del self.accounts[old_login.lower()]
            account.login = login
            self.accounts[login.lower()] = account
            for repository in owned:
                self.repositories[repository.full_name.lower()] = repository
            for installation in self.installations_of(account):
                self._send(
                    "installation_target",
                    installation,
                    payloads.installation_target(installation, old_login, self.octocat),
                )

    def repository_at(self, parameters: Mapping[str, str]) -> Repository:
        """The repository that a path names, by its name or its number."""
        if "repository_id" in parameters:
            for repository in self.repositories.values():
                if str(repository.id) == parameters["repository_id"]:
                    return repository
            raise ApiError(404, "Not Found")
        full_name = f"{parameters['owner']}/{parameters['repo']}".lower()
        if full_name in self.repositories:
            return self.repositories[full_name]
        if full_name in self.moved:
            raise MovedError(self.moved[full_name])
        raise ApiError(404, "Not Found")

    def installations_of(self, account: Account) -> list[Installation]:
        return [each for each in self.installations.values() if each.account is account]

    def _covered(self, installation: Installation) -> list[Repository]:
        return [each for each in self.repositories.values() if installation.covers(each)]

    def _tell(self, action: str, installation: Installation) -> None:
        covered = self._covered(installation)
        payload = payloads.installation(action, installation, self.octocat, covered)
        self._send("installation", installation, payload)

    def _send(self, event: str, installation: Installation, payload: Json) -> None:
        self._deliveries.send(installation.app, event, payload, installation.id, None)

    def _account(self, login: str, kind: str, account_id: int | None) -> Account:
        if login.lower() in self.accounts:
            raise ValueError(f"There is an account {login} already.")
        number = self._ids.next("account") if account_id is None else account_id
        account = self.accounts[login.lower()] = Account(number, login, kind)
        return account
