"""What an App may ask by its JWT: itself, its installations, their tokens, its deliveries."""

import json

from . import shapes
from .accounts import Accounts
from .api import AppCall, Operation, Reply, list_of, next_link, page, page_size, whole_number
from .auth import Auth
from .deliveries import Deliveries, Delivery
from .errors import ApiError
from .model import Installation, Repository
from .shapes import Json


class AppsApi:
    def __init__(self, accounts: Accounts, auth: Auth, deliveries: Deliveries) -> None:
        self._accounts = accounts
        self._auth = auth
        self._deliveries = deliveries

    def operations(self) -> list[Operation]:
        installation = "/app/installations/{installation_id}"
        delivery = "/app/hook/deliveries/{delivery_id}"
        return [
            Operation("get_app", "GET", "/app", self._app),
            Operation("list_installations", "GET", "/app/installations", self._installations),
            Operation("get_installation", "GET", installation, self._installation),
            Operation("delete_installation", "DELETE", installation, self._delete),
            Operation("create_token", "POST", f"{installation}/access_tokens", self._token),
            Operation("list_deliveries", "GET", "/app/hook/deliveries", self._list_deliveries),
            Operation("get_delivery", "GET", delivery, self._delivery),
            Operation("redeliver", "POST", f"{delivery}/attempts", self._redeliver),
        ]

    def _app(self, call: AppCall) -> Reply:
        return Reply(200, shapes.app(call.app, len(self._mine(call))))

    def _installations(self, call: AppCall) -> Reply:
        part, headers = page(call, self._mine(call))
        return Reply(200, [_listed(each) for each in part], headers)

    def _installation(self, call: AppCall) -> Reply:
        return Reply(200, shapes.installation(self._find(call)))

    def _delete(self, call: AppCall) -> Reply:
        self._accounts.uninstall(self._find(call))
        return Reply(204)

    def _token(self, call: AppCall) -> Reply:
        installation = self._find(call)
        if installation.suspended_at is not None:
            raise ApiError(403, "This installation has been suspended")
        body = call.body()
        repositories = self._wanted_repositories(installation, body)
        permissions = body.get("permissions") or {}
        if not isinstance(permissions, dict):
            raise ApiError(422, "Validation Failed: permissions is not an object")
        token = self._auth.issue(installation, permissions, repositories, call.now)
        selected = installation.selected is not None or repositories is not None
        value: Json = {
            "token": token.value,
            "expires_at": shapes.timestamp(token.expires_at),
            "permissions": token.permissions,
            "repository_selection": "selected" if selected else "all",
        }
        if repositories is not None:
            value["repositories"] = [shapes.repository(each) for each in repositories]
        return Reply(201, value)

    def _wanted_repositories(
        self, installation: Installation, body: Json
    ) -> list[Repository] | None:
        if body.get("repositories") is None and body.get("repository_ids") is None:
            return None
        names = {name.lower() for name in list_of(str, body, "repositories")}
        ids = set(list_of(int, body, "repository_ids"))
        covered = [
            each for each in self._accounts.repositories.values() if installation.covers(each)
        ]
        if names - {each.name.lower() for each in covered} or ids - {each.id for each in covered}:
            raise ApiError(422, "There is at least one repository that does not exist.")
        return [each for each in covered if each.name.lower() in names or each.id in ids]

    def _list_deliveries(self, call: AppCall) -> Reply:
        log = self._deliveries.of(call.app)
        if (status := call.request.query.get("status")) is not None:
            codes = {"success": range(200, 400), "failure": range(400, 600)}.get(status)
            if codes is None:
                raise ApiError(422, "Validation Failed: the status is success or failure")
            log = [each for each in log if each.status_code in codes]
        if cursor := call.request.query.get("cursor"):
            number = whole_number(cursor.removeprefix("v1_"))
            if number is None:
                raise ApiError(422, "Validation Failed: the cursor is not one of ours")
            log = [each for each in log if each.id < number]
        part = log[: page_size(call.request)]
        more = len(log) > len(part)
        headers = next_link(call.request, cursor=f"v1_{part[-1].id}") if more else {}
        return Reply(200, [_item(each) for each in part], headers)

    def _delivery(self, call: AppCall) -> Reply:
        it = self._find_delivery(call)
        return Reply(
            200,
            _item(it)
            | {
                "url": it.app.webhook_url,
                "request": {"headers": it.headers, "payload": json.loads(it.body)},
                "response": {"headers": it.answer_headers, "payload": it.answer},
            },
        )

    def _redeliver(self, call: AppCall) -> Reply:
        self._deliveries.redeliver(self._find_delivery(call))
        return Reply(202, {})

    def _mine(self, call: AppCall) -> list[Installation]:
        return [each for each in self._accounts.installations.values() if each.app is call.app]

    def _find(self, call: AppCall) -> Installation:
        found = self._accounts.installations.get(call.number("installation_id"))
        if found is None or found.app is not call.app:
            raise ApiError(404, "Not Found")
        return found

    def _find_delivery(self, call: AppCall) -> Delivery:
        found = self._deliveries.log.get(call.number("delivery_id"))
        if found is None or found.app is not call.app:
            raise ApiError(404, "Not Found")
        return found


def _listed(it: Installation) -> Json:
    """In a list, GitHub's description wants an account to have an enterprise's fields as well."""
    value = shapes.installation(it)
    created = value["created_at"]
    value["account"] |= {"name": it.account.login, "slug": it.account.login.lower()}
    value["account"] |= {"created_at": created, "updated_at": created}
    return value


def _item(it: Delivery) -> Json:
    return {
        "id": it.id,
        "guid": it.guid,
        "delivered_at": shapes.timestamp(it.delivered_at),
        "redelivery": it.redelivery,
        "duration": it.duration,
        "status": it.status,
        "status_code": it.status_code,
        "event": it.event,
        "action": it.action,
        "installation_id": it.installation_id,
        "repository_id": it.repository_id,
        "throttled_at": None,
    }
