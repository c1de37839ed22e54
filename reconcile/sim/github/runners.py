"""Runners and their groups: registered by a JIT configuration, gone after one job."""

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
        self.groups: dict[int, RunnerGroup] = {}
        self.runners: dict[int, Runner] = {}

    def groups_of(self, organization: Account) -> list[RunnerGroup]:
        """Every organization has the default group, open to public repositories or not."""
        mine = [group for group in self.groups.values() if group.organization is organization]
        if not any(group.default for group in mine):
            default = RunnerGroup(self._ids.next("runner_group"), organization, "Default", True)
            self.groups[default.id] = default
            mine.insert(0, default)
        return mine

    def add_group(self, group: RunnerGroup) -> RunnerGroup:
        if any(other.name == group.name for other in self.groups_of(group.organization)):
            raise ApiError(409, "Already exists - A runner group with this name already exists.")
        group.id = self._ids.next("runner_group")
        self.groups[group.id] = group
        return group

    def group(self, organization: Account, group_id: int) -> RunnerGroup:
        for group in self.groups_of(organization):
            if group.id == group_id or (group_id == DEFAULT_GROUP and group.default):
                return group
        raise ApiError(404, "Not Found")

    def in_scope(self, scope: Scope) -> list[Runner]:
        return [runner for runner in self.runners.values() if runner.scope is scope]

    def in_group(self, group: RunnerGroup) -> list[Runner]:
        return [runner for runner in self.runners.values() if runner.group is group]

    def find(self, scope: Scope, runner_id: int) -> Runner:
        runner = self.runners.get(runner_id)
        if runner is None or runner.scope is not scope:
            raise ApiError(404, "Not Found")
        return runner

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
        runner = Runner(
            id=self._ids.next("runner"),
            name=name,
            scope=scope,
            group=group,
            labels=tuple(dict.fromkeys(labels)),
            secret=self._ids.text(40),
        )
        self.runners[runner.id] = runner
        self.expect_connection(runner)
        return runner

    def expect_connection(self, runner: Runner) -> None:
        """Remove it if it is not connected a day from now."""

        def remove_unused() -> None:
            if not runner.online and runner.job is None:
                self.remove(runner)

        self._timeline.after(UNUSED_SECONDS, remove_unused)

    def remove(self, runner: Runner) -> None:
        self.runners.pop(runner.id, None)
        runner.online = False


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


def read_jit_config(text: str) -> tuple[int, str]:
    """The runner's id and secret."""
    try:
        packed = json.loads(base64.b64decode(text, validate=True))
        files = {name: json.loads(base64.b64decode(content)) for name, content in packed.items()}
        return int(files[".runner"]["AgentId"]), str(files[".credentials"]["Data"]["ClientId"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RefusedError("This is no JIT configuration.") from error
