"""Port 8080: what is answered to whom, and where it listens."""

import contextlib
import http.client
import json
import re
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

from reconcile.controller import web
from reconcile.controller.metrics import Metrics
from reconcile.controller.state import Observed, State
from reconcile.errors import ConfigError
from reconcile.run_outcome import RunOutcome
from tests.unit.exposition import BUSY

INTERVAL = 15.0
JSON = "application/json"


def ready_state() -> State:
    state = State()
    state.connected()
    state.run_ended(RunOutcome.COMPLETED)
    return state


def app(state: State) -> web.App:
    return web.App(state, Metrics(state.observed), INTERVAL)


class Answer:
    def __init__(self, state: State, path: str, method: str = "GET", **environ: str) -> None:
        given = {"REQUEST_METHOD": method, "PATH_INFO": path, **environ}
        [self.body] = app(state)(given, self._start)

    def _start(self, status: str, headers: list[tuple[str, str]]) -> None:
        self.status, self.headers = int(status[:3]), dict(headers)

    @property
    def document(self) -> Any:
        assert self.headers["Content-Type"] == JSON
        return json.loads(self.body)


# /health and /ready ------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/health", "/ready"])
def test_without_a_problem_it_is_200(path: str) -> None:
    answer = Answer(ready_state(), path)
    assert (answer.status, answer.document) == (200, {"ok": True, "problems": []})


def test_alive_without_a_database_is_healthy_and_not_ready() -> None:
    state = ready_state()
    state.lost("connection refused")
    assert Answer(state, "/health").status == 200
    answer = Answer(state, "/ready")
    problems = ["The database: connection refused"]
    assert (answer.status, answer.document) == (503, {"ok": False, "problems": problems})


@pytest.mark.parametrize("path", ["/health", "/ready"])
def test_silent_controller_is_503_with_every_problem(path: str) -> None:
    answer = Answer(State(Observed(heard_at=-1e6, listened_at=-1e6)), path)
    assert answer.status == 503
    assert answer.document["ok"] is False
    silent = [text for text in answer.document["problems"] if "is silent" in text]
    assert len(silent) == 2
    assert len(answer.document["problems"]) == (2 if path == "/health" else 4)


def test_staleness_is_in_intervals_of_this_controller() -> None:
    state = State(Observed(heard_at=0.0, listened_at=0.0, worked_at=-1e6))
    problems = Answer(state, "/ready").document["problems"]
    assert any("(more than 60)" in text for text in problems)


# /metrics ----------------------------------------------------------------------------------------


def busy_state() -> State:
    state = ready_state()
    state.learned(BUSY)
    return state


def test_metrics_are_prometheus_text() -> None:
    answer = Answer(busy_state(), "/metrics")
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert "cicd_queue_depth" in {each.name for each in parse_text(answer.body.decode())}


PROMETHEUS = (  # 3.x sends this
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
    "application/openmetrics-text;version=0.0.1;q=0.5,"
    "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
)


@pytest.mark.parametrize("accept", ["application/openmetrics-text", PROMETHEUS])
def test_metrics_are_openmetrics_for_who_asks_for_it(accept: str) -> None:
    answer = Answer(busy_state(), "/metrics", HTTP_ACCEPT=accept)
    assert answer.headers["Content-Type"].startswith("application/openmetrics-text; version=1.0.0")
    families = parse_openmetrics(answer.body.decode())  # type: ignore[no-untyped-call]
    assert "cicd_queue_depth" in {each.name for each in families}


@pytest.mark.parametrize(
    "accept", ["", "*/*", "text/html", "application/openmetrics-text;version=new", "\xff;=,;,="]
)
def test_who_asks_for_something_else_gets_text(accept: str) -> None:
    answer = Answer(busy_state(), "/metrics", HTTP_ACCEPT=accept)
    assert (answer.status, answer.headers["Content-Type"][:11]) == (200, "text/plain;")


def test_metrics_are_there_for_who_is_not_ready() -> None:
    assert Answer(State(Observed(heard_at=-1e6, listened_at=-1e6)), "/metrics").status == 200


# Anything else -----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", "", "/healthz", "/health/", "/metrics/x", "//health"])
def test_other_paths_are_404(path: str) -> None:
    answer = Answer(ready_state(), path)
    assert answer.status == 404
    assert answer.document == {
        "ok": False,
        "problems": ["There are /health, /ready and /metrics here."],
    }


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "BREW"])
@pytest.mark.parametrize("path", ["/health", "/ready", "/metrics", "/elsewhere"])
def test_other_methods_are_405(method: str, path: str) -> None:
    answer = Answer(ready_state(), path, method)
    assert answer.status == 405
    assert answer.headers["Allow"] == "GET, HEAD"
    assert answer.document["problems"] == ["There is only GET here."]


@pytest.mark.parametrize("path", ["/health", "/ready", "/elsewhere"])
def test_head_is_get_without_the_body(path: str) -> None:
    got, head = Answer(State(), path), Answer(State(), path, "HEAD")
    assert (head.status, head.headers, head.body) == (got.status, got.headers, b"")
    assert head.headers["Content-Length"] == str(len(got.body)) != "0"


@pytest.mark.parametrize("path", ["/health", "/ready", "/metrics", "/elsewhere"])
def test_nothing_is_cached(path: str) -> None:
    assert Answer(ready_state(), path).headers["Cache-Control"] == "no-store"


# Where it listens --------------------------------------------------------------------------------

needs_ipv6 = pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="there is no IPv6 here")
LOOPBACKS = ["127.0.0.1", pytest.param("::1", marks=needs_ipv6)]


@contextlib.contextmanager
def served(host: str) -> Iterator[int]:
    """Its port."""
    bound = web.bind(host, 0)
    server = web.server(app(busy_state()), bound)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield bound.getsockname()[1]
    finally:
        server.trigger.pull_trigger(lambda: stop(server))
        thread.join()


def stop(server: Any) -> None:
    """Its loop ends when there is nothing left to watch."""
    server.task_dispatcher.shutdown()
    for each in list(server._map.values()):
        each.close()


def ask(host: str, port: int, method: str = "GET", path: str = "/health") -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(host, port, timeout=15)
    with contextlib.closing(connection):
        connection.request(method, path)
        answer = connection.getresponse()
        assert answer.getheader("Server") is None, "nobody needs to know what it is made of"
        return answer.status, answer.read()


@pytest.mark.parametrize("host", LOOPBACKS)
def test_without_a_host_it_answers_on_every_address(host: str) -> None:
    with served("") as port:
        assert ask(host, port) == (200, b'{"ok": true, "problems": []}\n')


@pytest.mark.parametrize("host", LOOPBACKS)
def test_with_a_host_it_answers_there_and_nowhere_else(host: str) -> None:
    with web.bind(host, 0) as bound:
        assert bound.getsockname()[0] == host
    with served(host) as port:
        assert ask(host, port)[0] == 200


def test_those_who_connect_and_say_nothing_keep_no_probe_out() -> None:
    with served("127.0.0.1") as port, contextlib.ExitStack() as silent:
        for _ in range(100):
            silent.enter_context(socket.create_connection(("127.0.0.1", port)))
        assert ask("127.0.0.1", port)[0] == 200


def test_real_server_answers_like_the_application() -> None:
    with served("127.0.0.1") as port:
        assert ask("127.0.0.1", port, "HEAD") == (200, b"")
        assert ask("127.0.0.1", port, path="/elsewhere")[0] == 404
        assert ask("127.0.0.1", port, "POST")[0] == 405
        status, body = ask("127.0.0.1", port, path="/metrics")
        assert status == 200
        assert b"cicd_queue_depth" in body


@pytest.mark.parametrize("host", LOOPBACKS)
def test_port_that_is_taken_is_a_setting_at_fault(host: str) -> None:
    with web.bind(host, 0) as taken:
        port = taken.getsockname()[1]
        address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        with pytest.raises(ConfigError, match=f"{re.escape(address)} .*[Aa]ddress already in use"):
            web.bind(host, port)


@pytest.mark.parametrize("host", LOOPBACKS)
def test_port_that_is_taken_on_one_address_is_not_free_on_all(host: str) -> None:
    with web.bind(host, 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=rf"\*:{port} "):
            web.bind("", port)


@pytest.mark.parametrize(
    ("host", "port", "address"),
    [
        ("127.0.0.1", 65536, "127.0.0.1:65536"),
        ("127.0.0.1", -1, "127.0.0.1:-1"),
        ("", 65536, "*:65536"),
        ("192.0.2.1", 0, "192.0.2.1:0"),  # TEST-NET: nobody's
        ("no..name", 0, "no..name:0"),
        ("[::1]", 0, "[[::1]]:0"),
    ],
)
def test_address_that_is_none_is_a_setting_at_fault(host: str, port: int, address: str) -> None:
    with pytest.raises(ConfigError) as refused:
        web.bind(host, port)
    assert str(refused.value).startswith(f"Cannot start: {address} cannot be listened on: ")


def test_port_of_a_controller_that_just_ended_is_free() -> None:
    """Though its last connections are still remembered by the machine."""
    with web.bind("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as client:
            first.accept()[0].close()  # Who closes first is who has to remember.
            assert client.recv(1) == b""
    with web.bind("127.0.0.1", port) as second:
        assert second.getsockname()[1] == port
