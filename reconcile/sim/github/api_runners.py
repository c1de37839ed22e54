"""Runner groups, JIT configurations and runners, of organizations and of repositories."""

from dataclasses import replace

from . import shapes
from .accounts import Accounts
from .api import InstallationCall, Operation, Reply, list_of, paged
from .dispatch import Dispatch
from .errors import ApiError
from .model import ORGANIZATION, Account, Repository, Runner, RunnerGroup, Scope
from .runners import DEFAULT_GROUP, LABELS_LIMIT, Runners, jit_config
from .shapes import Json

VISIBILITIES = ("all", "private", "selected")


class RunnersApi:
    def __init__(self, accounts: Accounts, runners: Runners, dispatch: Dispatch) -> None:
        self._accounts = accounts
        self._runners = runners
        self._dispatch = dispatch

    def operations(self) -> list[Operation]:
        org, repo = "/orgs/{org}/actions", "/repos/{owner}/{repo}/actions"
        groups, group = f"{org}/runner-groups", f"{org}/runner-groups/{{runner_group_id}}"
        of_org, of_repo = "organization_self_hosted_runners", "administration"
        return [
            Operation("list_runner_groups", "GET", groups, self._groups, of_org),
            Operation("create_runner_group", "POST", groups, self._create_group, of_org),
            Operation("get_runner_group", "GET", group, self._get_group, of_org),
            Operation("update_runner_group", "PATCH", group, self._update_group, of_org),
            Operation("delete_runner_group", "DELETE", group, self._delete_group, of_org),
            Operation("list_group_runners", "GET", f"{group}/runners", self._of_group, of_org),
            *[
                operation
                for scope, base, permission in (("org", org, of_org), ("repo", repo, of_repo))
                for operation in self._of_scope(scope, base, permission)
            ],
        ]

    def _of_scope(self, scope: str, base: str, permission: str) -> list[Operation]:
        jit, one = f"{base}/runners/generate-jitconfig", f"{base}/runners/{{runner_id}}"
        return [
            Operation(f"create_jit_config_{scope}", "POST", jit, self._jit, permission),
            Operation(f"list_{scope}_runners", "GET", f"{base}/runners", self._list, permission),
            Operation(f"get_{scope}_runner", "GET", one, self._get, permission),
            Operation(f"delete_{scope}_runner", "DELETE", one, self._delete, permission),
        ]

    # Groups ----------------------------------------------------------------------------------

    def _groups(self, call: InstallationCall) -> Reply:
        groups = self._runners.groups_of(self._organization(call))
        return paged(call, "runner_groups", groups, shapes.runner_group)

    def _create_group(self, call: InstallationCall) -> Reply:
        organization, body = self._organization(call), call.body()
        group = RunnerGroup(0, organization, _name(body))
        _set(group, body)
        return Reply(201, shapes.runner_group(self._runners.add_group(group)))

    def _get_group(self, call: InstallationCall) -> Reply:
        return Reply(200, shapes.runner_group(self._group(call)))

    def _update_group(self, call: InstallationCall) -> Reply:
        group, body = self._group(call), call.body()
        changed = replace(group, name=_name(body))
        _set(changed, body)
        if changed.name != group.name:
            self._runners.check_name_is_free(changed)
        group.name, group.visibility = changed.name, changed.visibility
        group.allows_public_repositories = changed.allows_public_repositories
        group.selected = changed.selected
        return Reply(200, shapes.runner_group(group))

    def _delete_group(self, call: InstallationCall) -> Reply:
        group = self._group(call)
        if group.default:
            raise ApiError(422, "The default runner group cannot be deleted.")
        self._runners.remove_group(group)
        return Reply(204)

    def _of_group(self, call: InstallationCall) -> Reply:
        return paged(call, "runners", self._runners.in_group(self._group(call)), shapes.runner)

    # Runners ---------------------------------------------------------------------------------

    def _jit(self, call: InstallationCall) -> Reply:
        scope, body = self._scope(call), call.body()
        labels, group_id = list_of(str, body, "labels"), body.get("runner_group_id")
        if not 1 <= len(labels) <= LABELS_LIMIT:
            raise ApiError(422, f"Validation Failed: 1 to {LABELS_LIMIT} labels are needed")
        if type(group_id) is not int:
            raise ApiError(422, "Validation Failed: runner_group_id is missing")
        if isinstance(scope, Repository):
            if group_id != DEFAULT_GROUP:
                raise ApiError(404, "Not Found")
            group = None
        else:
            group = self._runners.group(scope, group_id)
        runner = self._runners.register(scope, group, _name(body), labels)
        return Reply(
            201, {"runner": shapes.runner(runner), "encoded_jit_config": jit_config(runner)}
        )

    def _list(self, call: InstallationCall) -> Reply:
        runners = self._runners.in_scope(self._scope(call))
        if name := call.request.query.get("name"):
            runners = [runner for runner in runners if runner.name == name]
        return paged(call, "runners", runners, shapes.runner)

    def _get(self, call: InstallationCall) -> Reply:
        return Reply(200, shapes.runner(self._runner(call)))

    def _delete(self, call: InstallationCall) -> Reply:
        runner = self._runner(call)
        if runner.busy:
            # The stray quotation mark is GitHub's.
            raise ApiError(422, f'Bad request - Runner "{runner.name}" is still running a job"')
        self._dispatch.deregister(runner)
        return Reply(204)

    # Whom it is about ------------------------------------------------------------------------

    def _organization(self, call: InstallationCall) -> Account:
        found = self._accounts.accounts.get(call.request.parameters["org"].lower())
        if (
            found is None
            or found.type != ORGANIZATION
            or found is not call.token.installation.account
        ):
            raise ApiError(404, "Not Found")
        return found

    def _scope(self, call: InstallationCall) -> Scope:
        if "org" in call.request.parameters:
            return self._organization(call)
        return call.covering(self._accounts.repository_at(call.request.parameters))

    def _group(self, call: InstallationCall) -> RunnerGroup:
        return self._runners.group(self._organization(call), call.number("runner_group_id"))

    def _runner(self, call: InstallationCall) -> Runner:
        return self._runners.find(self._scope(call), call.number("runner_id"))


def _name(body: Json) -> str:
    name = body.get("name")
    if not isinstance(name, str) or not name:
        raise ApiError(422, "Validation Failed: name is missing")
    return name


def _set(group: RunnerGroup, body: Json) -> None:
    visibility = body.get("visibility", group.visibility)
    if visibility not in VISIBILITIES:
        raise ApiError(422, "Validation Failed: visibility is not one of the known ones")
    public = body.get("allows_public_repositories", group.allows_public_repositories)
    if not isinstance(public, bool):
        raise ApiError(422, "Validation Failed: allows_public_repositories is yes or no")
    group.visibility, group.allows_public_repositories = visibility, public
    if "selected_repository_ids" in body:
        group.selected = set(list_of(int, body, "selected_repository_ids"))
