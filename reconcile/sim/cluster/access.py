"""Who may do what: tokens, users and their rules, and a kubeconfig to go with them."""

from collections.abc import Iterable
from dataclasses import dataclass

from ..http import Request
from .status import ApiError, unauthorized

ADMIN_TOKEN = "simulated-admin-token"  # noqa: S105 it opens nothing but a simulator
# The namespace (None is anywhere), the resource (`pods/log`) and the verb; `*` is any.
Rule = tuple[str | None, str, str]


@dataclass(frozen=True)
class User:
    name: str
    rules: frozenset[Rule]

    def may(self, verb: str, resource: str, namespace: str = "") -> bool:
        """Without a namespace the question is about all of them, or about the cluster's own."""
        return any(
            (where is None or where in ("*", namespace))
            and what in ("*", resource)
            and how in ("*", verb)
            for where, what, how in self.rules
        )


class Access:
    def __init__(self) -> None:
        self._users = {ADMIN_TOKEN: User("kubernetes-admin", frozenset({(None, "*", "*")}))}

    def add(self, token: str, rules: Iterable[Rule], name: str) -> None:
        self._users[token] = User(name, frozenset(rules))

    def user(self, request: Request) -> User:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        user = self._users.get(token.strip()) if scheme.lower() == "bearer" else None
        if user is None:
            raise unauthorized()
        return user


def forbidden(user: User, verb: str, resource: str, namespace: str, name: str) -> ApiError:
    kind = resource.partition("/")[0]
    what = f'{kind} "{name}"' if name else kind
    where = f'in the namespace "{namespace}"' if namespace else "at the cluster scope"
    message = (
        f'{what} is forbidden: User "{user.name}" cannot {verb} resource "{resource}" in API '
        f'group "" {where}'
    )
    details = {"name": name, "kind": kind} if name else {"kind": kind}
    return ApiError(403, "Forbidden", message, details)


def kubeconfig(server_url: str, token: str, namespace: str) -> str:
    return f"""\
apiVersion: v1
kind: Config
current-context: simulated
clusters:
- name: simulated
  cluster:
    server: {server_url}
contexts:
- name: simulated
  context:
    cluster: simulated
    user: simulated
    namespace: {namespace}
users:
- name: simulated
  user:
    token: {token}
"""
