"""The client with a GitHub that does not answer as it should."""

import json
from collections.abc import Iterator

import pytest

from reconcile.errors import PermanentError, TransientError, UncertainError
from reconcile.github import GitHubClient
from reconcile.settings import GitHubBudget
from reconcile.sim.faults import Faults
from reconcile.sim.http import Endpoint, Request, Response, Router
from reconcile.sim.server import Server
from reconcile.sim.timeline import SteppedTime
from tests.integration.github_client import Bench, bench
from tests.simulated import LABEL


@pytest.fixture
def it() -> Iterator[Bench]:
    with bench() as it:
        yield it


class Odd:
    """A GitHub that gives tokens and answers everything else as the test says."""

    name = "odd"
    prefix = ""

    def __init__(self) -> None:
        self.answers: list[Response] = []
        self.seen: list[Request] = []
        self.router = Router(
            [
                Endpoint(
                    "token", "POST", "/app/installations/{id}/access_tokens", self._give_token
                ),
            ]
        )

    def respond(self, endpoint: Endpoint, request: Request) -> Response:
        return endpoint.handler(request)

    def no_such_path(self, request: Request) -> Response:
        return self._next(request)

    def refusal(self, status: int, retry_after: int | None) -> Response:
        return Response(status)

    def _give_token(self, request: Request) -> Response:
        return Response(201, b'{"token": "ghs_odd"}')

    def _next(self, request: Request) -> Response:
        self.seen.append(request)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def runner_page(ids: range, total: int, **headers: str) -> Response:
    runners = [
        {"id": number, "name": f"runner-{number}", "status": "online", "busy": False}
        for number in ids
    ]
    body = json.dumps({"total_count": total, "runners": runners}).encode()
    return Response(200, body, headers)


@pytest.fixture
def odd() -> Iterator[tuple[Odd, str]]:
    service = Odd()
    with Server(service, SteppedTime().timeline, Faults()) as server:
        yield service, server.url


def client_of(it: Bench, url: str) -> GitHubClient:
    return it.client(base_url=url, budget=GitHubBudget(points_per_minute=0))


@pytest.mark.parametrize(
    "link", ["http://127.0.0.1:1/next", "https://evil.example/next", "http://[", "ftp://x/"]
)
def test_next_page_on_another_server_is_refused(it: Bench, odd: tuple[Odd, str], link: str) -> None:
    service, url = odd
    service.answers = [runner_page(range(100), 200, Link=f'<{link}>; rel="next"')]
    with client_of(it, url) as client, pytest.raises(PermanentError, match="leads"):
        client.runners(it.org, None, [])
    assert len(service.seen) == 1


@pytest.mark.parametrize("location", ["http://127.0.0.1:1/x", "https://evil.example/", "//evil/x"])
def test_redirect_to_another_server_is_refused(
    it: Bench, odd: tuple[Odd, str], location: str
) -> None:
    service, url = odd
    service.answers = [Response(307, b"{}", {"Location": location})]
    with client_of(it, url) as client, pytest.raises(PermanentError, match="another server"):
        client.create_jit_config(it.org, 1, "runner-1", [LABEL])
    assert len(service.seen) == 1


def test_redirects_without_end_are_an_error(it: Bench, odd: tuple[Odd, str]) -> None:
    service, url = odd
    service.answers = [Response(301, b"", {"Location": f"{url}/again"})]
    with client_of(it, url) as client, pytest.raises(PermanentError, match="more than 3 times"):
        client.runners(it.org, None, [])
    assert len(service.seen) == 4


def test_pages_without_end_are_an_error(it: Bench, odd: tuple[Odd, str]) -> None:
    service, url = odd
    service.answers = [runner_page(range(1), 1, Link=f'<{url}/more>; rel="next"')]
    with client_of(it, url) as client, pytest.raises(PermanentError, match="1000 pages"):
        client.runners(it.org, None, [])
    assert len(service.seen) == 1000


def test_listing_that_is_shorter_than_github_says_is_read_again_and_then_an_error(
    it: Bench, odd: tuple[Odd, str]
) -> None:
    """A runner deleted from the first page moves another from the second page onto it."""
    service, url = odd
    more = {"Link": f'<{url}/more>; rel="next"'}
    service.answers = [
        runner_page(range(1, 101), 150, **more),
        runner_page(range(102, 151), 149),
        runner_page(range(2, 102), 149, **more),
        runner_page(range(102, 151), 149),
    ]
    with client_of(it, url) as client:
        listing = client.runners(it.org, None, [])
        assert [each.id for each in listing.items] == list(range(2, 151))
        service.answers = [runner_page(range(100), 150)]
        with pytest.raises(TransientError, match="changes while it is read"):
            client.runners(it.org, None, [])


def test_item_that_is_on_two_pages_is_listed_once(it: Bench, odd: tuple[Odd, str]) -> None:
    service, url = odd
    service.answers = [
        runner_page(range(100), 101, Link=f'<{url}/more>; rel="next"'),
        runner_page(range(99, 101), 101),
    ]
    with client_of(it, url) as client:
        assert len(client.runners(it.org, None, []).items) == 101


@pytest.mark.parametrize(
    "body",
    [
        "[]",
        "null",
        "7",
        '"text"',
        "{}",
        '{"total_count": 0}',
        '{"total_count": "0", "runners": []}',
        '{"total_count": 1, "runners": {}}',
        '{"total_count": 1, "runners": [7]}',
        '{"total_count": 1, "runners": [{"id": true, "name": "x", "status": "online"}]}',
        '{"total_count": 1, "runners": [{"id": 1, "name": null, "status": "x", "busy": false}]}',
        '{"total_count": 1, "runners": [{"id": 1, "name": "x", "status": "online", "busy": 0}]}',
        "[" * 100_000,
        "",
    ],
)
def test_answer_of_the_wrong_shape_is_transient_and_named(
    it: Bench, odd: tuple[Odd, str], body: str
) -> None:
    service, url = odd
    service.answers = [Response(200, body.encode())]
    with (
        client_of(it, url) as client,
        pytest.raises(TransientError, match="GET /orgs/riseproject/actions/runners: an answer"),
    ):
        client.runners(it.org, None, [])


@pytest.mark.parametrize(
    "body",
    [
        '{"runner": {"id": 1}}',
        '{"encoded_jit_config": "c2VjcmV0", "runner": {}}',
        '{"encoded_jit_config": "c2VjcmV0"',
        "[]",
        "",
    ],
)
def test_registration_with_an_answer_of_the_wrong_shape_is_uncertain(
    it: Bench, odd: tuple[Odd, str], body: str
) -> None:
    service, url = odd
    service.answers = [Response(201, body.encode())]
    with client_of(it, url) as client, pytest.raises(UncertainError) as caught:
        client.create_jit_config(it.org, 1, "runner-1", [LABEL])
    assert "c2VjcmV0" not in str(caught.value)
    assert len(service.seen) == 1


def test_unchanged_without_having_asked_is_transient(it: Bench, odd: tuple[Odd, str]) -> None:
    service, url = odd
    service.answers = [Response(304)]
    with client_of(it, url) as client, pytest.raises(TransientError):
        client.runners(it.org, None, [])


@pytest.mark.parametrize("url", ["api.github.com", "ftp://x", "http://", ""])
def test_base_url_that_is_none_is_refused(it: Bench, url: str) -> None:
    with pytest.raises(ValueError, match="GitHub's URL"):
        client_of(it, url)
