"""The function's own cost: against its two statements alone, and against importing psycopg."""

import contextlib
import io
import itertools
import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from typing import Any

import psycopg

from tests import github
from tests.bench.figures import Figure, interleaved, milliseconds, ratio
from tests.bench.world import fresh_database
from tests.database import Database
from tests.function import environment
from webhook_fn import app, config
from webhook_fn.events import Outcome, StoreJob, decide, read_delivery
from webhook_fn.payload import trim
from webhook_fn.store import QUERIES, event_parameters, job_parameters

ROUNDS = 30
DELIVERIES_A_ROUND = 50
IMPORT_ROUNDS = 15
DELIVERIES_A_PROCESS = 1500


def run() -> Iterator[Figure]:
    with fresh_database() as database:
        handler, statements = interleaved(
            ROUNDS, *_warm_contestants(database.role_url("prod_webhook_fn"))
        )
        yield ratio("warm handler against its two statements", handler, statements, 2)
        one = _throughput(database, processes=1)
        four = _throughput(database, processes=4)
        yield Figure("deliveries a second, one process", f"{one:.0f}")
        yield Figure(
            "deliveries a second, four processes", f"{four:.0f}", f"{os.cpu_count()} cores"
        )
    ours, psycopgs = interleaved(
        IMPORT_ROUNDS, lambda: _import("webhook_fn.app"), lambda: _import("psycopg")
    )
    yield ratio("cold import against importing psycopg", ours, psycopgs, 1.5)


def _warm_contestants(url: str) -> tuple[Callable[[], float], Callable[[], float]]:
    """One round of the handler, and one of the statements with the very same parameters."""
    os.environ.update(environment(url))
    settings = config.from_environment(os.environ)
    job_ids = itertools.count(1)

    def handler_round() -> float:
        events = [_queued(next(job_ids)) for _ in range(DELIVERIES_A_ROUND)]
        deliveries = iter(events)
        with contextlib.redirect_stdout(io.StringIO()):
            return milliseconds(lambda: app.handler(next(deliveries), None), DELIVERIES_A_ROUND)

    connection = psycopg.connect(settings.conninfo, autocommit=True)
    connection.execute("SET search_path = prod")

    def statements_round() -> float:
        events = [_queued(next(job_ids)) for _ in range(DELIVERIES_A_ROUND)]
        parameters = iter([_parameters(event, settings) for event in events])

        def both() -> None:
            job, event = next(parameters)
            connection.execute(QUERIES["insert_job"], job).fetchone()
            connection.execute(QUERIES["append_event"], event)

        return milliseconds(both, DELIVERIES_A_ROUND)

    return handler_round, statements_round


def _parameters(event: Any, settings: config.Config) -> tuple[dict[str, Any], dict[str, Any]]:
    now = datetime.now(UTC)
    request = app.read_event(event)
    delivery = read_delivery(request.headers, request.read_body(), settings.apps)
    decision = decide(delivery, settings.routes, settings.apps, proxying=True)
    assert isinstance(decision, StoreJob)
    assert decision.route is not None
    return (
        job_parameters(decision.job, decision.route, now),
        event_parameters(delivery, Outcome.JOB_STORED, trim(delivery.payload, delivery.id), now),
    )


def _queued(job_id: int) -> github.Payload:
    body = github.encode(github.WorkflowJob(job_id=job_id).payload("queued"))
    return github.lambda_event(body, github.headers("workflow_job", body))


def _throughput(database: Database, processes: int) -> float:
    """Each delivery is a job of its own. Spawned, not forked: each process is an execution
    environment of its own, as in Lambda."""
    url = database.role_url("prod_webhook_fn")
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        return sum(pool.map(_deliveries_a_second, [url] * processes, range(processes)))


def _deliveries_a_second(url: str, number: int) -> float:
    os.environ.update(environment(url))
    first = time.time_ns() // 1000 * 10
    events = [_queued(first + 10 * n + number) for n in range(DELIVERIES_A_PROCESS)]
    started = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()):
        for event in events:
            assert app.handler(event, None)["statusCode"] == 200
    return len(events) / (time.perf_counter() - started)


def _import(module: str) -> float:
    """Milliseconds in a fresh interpreter, bytecode cached as on a second start."""
    script = (
        "import sys, time; t = time.perf_counter(); "
        f"import {module}; print((time.perf_counter() - t) * 1000)"
    )
    environ = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environ
    )
    return float(done.stdout)
