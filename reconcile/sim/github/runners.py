"""Runners and their groups: registered by a JIT configuration, gone after one job.

Their numbers are those of their organization or repository: two organizations both have a
runner 1.
"""

import base64
import json

from ..broker import RefusedError
from ..timeline import Timeline
from .errors import ApiError
from .ids import Ids
from .model import Account, Repository, Runner, RunnerGroup, Scope
from .shapes import API, WEB

NAME_LIMIT = 64
LABELS_LIMIT = 100
LABEL_LENGTH_LIMIT = 256
DEFAULT_GROUP = 1
UNUSED_SECONDS = 24 * 3600  # an ephemeral runner that is not connected for a day is removed


class Runners:
    def __init__(self, timeline: Timeline, ids: Ids) -> None:
        self._timeline = timeline
        self._ids = ids
        self._groups: dict[Account, dict[int, RunnerGroup]] = {}
        self._in_scope: dict[Scope, dict[int, Runner]] = {}
        self._by_secret: dict[str, Runner] = {}
        self._last_number: dict[Scope, int] = {}

    # Groups ----------------------------------------------------------------------------------

    def groups_of(self, organization: Account) -> list[RunnerGroup]:
        return list(self._groups_of(organization).values())

    def add_group(self, group: RunnerGroup) -> RunnerGroup:
        self.check_name_is_free(group)
        groups = self._groups_of(group.organization)
        group.id = max(groups) + 1
        groups[group.id] = group
        return group

    def check_name_is_free(self, group: RunnerGroup) -> None:
        for other in self.groups_of(group.organization):
            if other is not group and other.name == group.name:
                raise ApiError(409, "Already exists - A runner group with this name exists.")

    def remove_group(self, group: RunnerGroup) -> None:
        """Its runners move to the default group."""
        groups = self._groups_of(group.organization)
        for runner in self.in_group(group):
            runner.group = groups[DEFAULT_GROUP]
        del groups[group.id]

    def group(self, organization: Account, group_id: int) -> RunnerGroup:
        group = self._groups_of(organization).get(group_id)
        if group is None:
            raise ApiError(404, "Not Found")
        return group

    def _groups_of(self, organization: Account) -> dict[int, RunnerGroup]:
        if organization not in self._groups:
            default = RunnerGroup(DEFAULT_GROUP, organization, "Default", default=True)
            self._groups[organization] = {DEFAULT_GROUP: default}
        return self._groups[organization]

    # Runners ---------------------------------------------------------------------------------

    def all(self) -> list[Runner]:
        return list(self._by_secret.values())

    def in_scope(self, scope: Scope) -> list[Runner]:
        return list(self._in_scope.get(scope, {}).values())

    def in_group(self, group: RunnerGroup) -> list[Runner]:
        return [each for each in self.in_scope(group.organization) if each.group is group]

    def find(self, scope: Scope, runner_id: int) -> Runner:
        runner = self._in_scope.get(scope, {}).get(runner_id)
        if runner is None:
            raise ApiError(404, "Not Found")
        return runner

    def by_secret(self, secret: str) -> Runner | None:
        return self._by_secret.get(secret)

    def is_registered(self, runner: Runner) -> bool:
        return runner.secret in self._by_secret

    def register(
        self, scope: Scope, group: RunnerGroup | None, name: str, labels: list[str]
    ) -> Runner:
        """It is listed from now on, as offline, until it connects."""
        if not name or len(name) > NAME_LIMIT:
            raise ApiError(
                422, f"Validation Failed: the name must have 1 to {NAME_LIMIT} characters"
            )
        if any(not label or len(label) > LABEL_LENGTH_LIMIT for label in labels):
            raise ApiError(422, "Validation Failed: a label is empty or too long")
        if any(runner.name == name for runner in self.in_scope(scope)):
            raise ApiError(409, f"Already exists - A runner with the name {name} already exists.")
        number = self._last_number[scope] = self._last_number.get(scope, 0) + 1
        runner = Runner(
            id=number,
            name=name,
            scope=scope,
            group=group,
            labels=tuple(dict.fromkeys(labels)),
            secret=self._ids.text("runner", 40),
        )
        self._in_scope.setdefault(scope, {})[number] = runner
        self._by_secret[runner.secret] = runner
        self.expect_connection(runner)
        return runner

    def expect_connection(self, runner: Runner) -> None:
        """It is removed a day from now, if nothing happens meanwhile."""
        runner.appoint(self._timeline.after(UNUSED_SECONDS, lambda: self.remove(runner)))

    def remove(self, runner: Runner) -> None:
        runner.appoint(None)
        runner.online = False
        if self._by_secret.pop(runner.secret, None) is not None:
            del self._in_scope[runner.scope][runner.id]


def jit_config(runner: Runner) -> str:
    """Of the real one's form: files by name, in base64, as JSON, in base64 once more."""
    scope = runner.scope
    place = scope.full_name if isinstance(scope, Repository) else scope.login
    files = {
        ".runner": {
            "AgentId": str(runner.id),
            "AgentName": runner.name,
            "Ephemeral": "True",
            "GitHubUrl": f"{WEB}/{place}",
            "ServerUrl": f"{API}/",
            "WorkFolder": "_work",
        },
        ".credentials": {"Scheme": "OAuth", "Data": {"ClientId": runner.secret}},
        ".credentials_rsaparams": {"d": runner.secret[::-1]},
    }
    packed = {
        name: base64.b64encode(json.dumps(content).encode()).decode()
        for name, content in files.items()
    }
    return base64.b64encode(json.dumps(packed).encode()).decode()


def read_jit_config(text: str) -> str:
    """The secret in it."""
    try:
        packed = json.loads(base64.b64decode(text, validate=True))
        credentials = json.loads(base64.b64decode(packed[".credentials"]))
        return str(credentials["Data"]["ClientId"])
    except (ValueError, KeyError, TypeError) as error:
        raise RefusedError("This is no JIT configuration.") from error
