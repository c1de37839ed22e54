"""Whatever a client sends, the simulators answer, and nothing breaks inside them."""

import json
import random
import socket
from typing import Any

import pytest

from tests.simulated import LABEL, Client, Simulated

ODD: list[Any] = [None, True, -1, 1.5, 10**30, "", "x" * 5000, [], [[]], [{}], {}, {"a": []}]
FIELDS = (
    *("name", "labels", "runner_group_id", "visibility", "allows_public_repositories"),
    *("selected_repository_ids", "permissions", "repositories", "repository_ids"),
)
NUMBERS = ("1", "0", "-1", "one", "1" * 5000, "%2F", "%00", "9" * 18)


def paths(world: Simulated, chance: random.Random) -> list[tuple[str, str]]:
    """Every endpoint, with something in place of its parts."""
    known = {
        "org": world.organization.login,
        "owner": world.organization.login,
        "repo": world.public.name,
        "installation_id": str(world.installation.id),
    }
    found = []
    for endpoint in world.github.router.endpoints:
        path = endpoint.template
        for part in ("org", "owner", "repo", "installation_id"):
            if chance.random() < 0.9:
                path = path.replace(f"{{{part}}}", known[part])
        while "{" in path:
            before, _, rest = path.partition("{")
            path = before + chance.choice(NUMBERS) + rest.partition("}")[2]
        found.append((endpoint.method, path))
    return found


@pytest.mark.parametrize("seed", range(4))
def test_odd_requests_are_answered(world: Simulated, seed: int) -> None:
    world.odd_requests = True
    chance = random.Random(seed)
    clients = [world.as_app(), world.as_installation()]
    for _ in range(8):
        for method, path in paths(world, chance):
            if path.endswith(str(world.installation.id)) and method == "DELETE":
                continue
            body = {name: chance.choice(ODD) for name in chance.sample(FIELDS, 3)}
            query = {name: chance.choice(NUMBERS) for name in ("page", "per_page", "cursor")}
            client: Client = chance.choice(clients)
            options: dict[str, Any] = {} if method == "GET" else {"json": body}
            answer = client.call(method, path, params=query, **options)
            assert answer.status_code < 500, (method, path, body, query, answer.text)
    assert world.server.errors == []


def test_deeply_nested_json_is_a_bad_request(world: Simulated) -> None:
    path = "/orgs/riseproject/actions/runners/generate-jitconfig"
    nested = b'{"name":' * 100_000
    assert world.as_installation().call("POST", path, data=nested).status_code == 400


def raw(world: Simulated, request: bytes) -> bytes:
    host, port = world.server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        while part := connection.recv(65536):
            answer += part
        return answer


@pytest.mark.parametrize(
    ("request_line", "header", "status"),
    [
        ("POST /app HTTP/1.1", "Content-Length: x", b"400"),
        ("POST /app HTTP/1.1", "Content-Length: -1", b"400"),
        ("POST /app HTTP/1.1", "Content-Length: 1, 2", b"400"),
        ("POST /app HTTP/1.1", f"Content-Length: {'9' * 5000}", b"400"),
        ("POST /app HTTP/1.1", f"Content-Length: {10**12}", b"413"),
        ("POST /app HTTP/1.1", "Transfer-Encoding: chunked", b"411"),
        ("GET http://[ HTTP/1.1", "X: y", b"400"),
        ("OPTIONS /app HTTP/1.1", "X: y", b"404"),
        ("HEAD /app HTTP/1.1", "X: y", b"401"),
    ],
)
def test_odd_http_gets_a_status(
    world: Simulated, request_line: str, header: str, status: bytes
) -> None:
    request = f"{request_line}\r\nHost: x\r\n{header}\r\nConnection: close\r\n\r\n"
    answer = raw(world, request.encode())
    assert answer.split()[1] == status


def test_request_that_is_cut_short_is_not_carried_out(world: Simulated) -> None:
    client = world.as_installation()
    path = "/orgs/riseproject/actions/runners/generate-jitconfig"
    body = json.dumps({"name": "half", "runner_group_id": 1, "labels": [LABEL]}).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {client.credential}\r\n"
        f"Content-Length: {len(body) + 1}\r\n\r\n"
    )
    assert raw(world, head.encode() + body) == b""
    assert client.get("/orgs/riseproject/actions/runners").json()["total_count"] == 0


def test_service_that_fails_is_a_500_and_is_not_overlooked() -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    def run() -> None:
        with Simulated().started() as world:
            world.github._auth.app = fail  # type: ignore[assignment,method-assign]
            assert world.as_app().get("/app").status_code == 500

    with pytest.raises(ExceptionGroup) as raised:
        run()
    assert [type(error) for error in raised.value.exceptions] == [ZeroDivisionError]
