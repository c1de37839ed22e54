"""From a request to a response: the order in which a delivery is checked and acted on."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

import psycopg

from . import log, signature
from .config import Config
from .events import (
    Delivery,
    HandToStaging,
    Outcome,
    Record,
    StoreJob,
    decide,
    read_delivery,
)
from .http import (
    BODY_LIMIT,
    Request,
    RequestError,
    Response,
    check_method,
    no_such_path,
    too_large,
)
from .job import PROGRESS, Status
from .payload import trim
from .store import Store

ROUTES = {
    "/": "POST",
    "/webhook": "POST",
    "/health": "GET",
    "/setup/org": "GET",
    "/setup/personal": "GET",
}
TRACES = "/trace/"  # Whatever begins so, if there is a secret for it.

MARKED = {
    Status.RUNNING: Outcome.JOB_MARKED_RUNNING,
    Status.COMPLETED: Outcome.JOB_MARKED_COMPLETED,
}
ALREADY = {
    Status.RUNNING: Outcome.JOB_ALREADY_RUNNING,
    Status.COMPLETED: Outcome.JOB_ALREADY_COMPLETED,
    Status.FAILED: Outcome.JOB_ALREADY_FAILED,
}
UNWRITTEN = Response(500, {"error": "The database could not be written."})
UNREAD = Response(503, {"error": "The database could not be read."})


@dataclass(frozen=True, slots=True)
class Receiver:
    config: Config
    store: Store
    clock: Callable[[], datetime]
    hand_on: Callable[[str, Mapping[str, str], bytes], None]

    def respond(self, request: Request) -> Response:
        """Never raises for what a sender or the database can do."""
        started = time.perf_counter()
        delivery_id = request.headers.get("x-github-delivery", "")[:64]
        try:
            response = self._route(request)
        except RequestError as error:
            response = error.response
        except psycopg.Error as error:
            _log_database_error(error)
            response = UNWRITTEN if request.method == "POST" else UNREAD
        if request.method == "HEAD":
            response = replace(response, bare=True)
        # Of what is read nothing is logged but a refusal, and of the URL the path alone.
        posted = request.method == "POST"
        said = response.body if posted else {"error": response.body.get("error")}
        log.emit(
            "request",
            method=request.method[:16],
            path=request.path[:256],
            status=response.status,
            delivery=delivery_id or None,
            github_event=said.get("event"),
            outcome=said.get("outcome"),
            error=said.get("error"),
            milliseconds=round((time.perf_counter() - started) * 1000, 2),
        )
        return response

    def _route(self, request: Request) -> Response:
        secret = self.config.trace_secret
        if request.path.startswith(TRACES) and secret is not None:
            from . import asking  # A cold start for a webhook should not pay for it.

            return asking.respond(request, secret, self.config, self.store, self.clock())
        method = ROUTES.get(request.path)
        if method is None:
            raise no_such_path()
        check_method(request, method)
        if request.path.startswith("/setup/"):
            return self._setup(request)
        return self._health() if method == "GET" else self._receive(request)

    def _setup(self, request: Request) -> Response:
        from . import setup  # Nor for this.

        try:
            return setup.respond(request, self.config, self.store, self.clock())
        except psycopg.Error as error:
            _log_database_error(error)
            return setup.unavailable(request, self.config)

    def _health(self) -> Response:
        try:
            self.store.ping()
        except psycopg.Error as error:
            _log_database_error(error)
            return Response(503, {"error": "The database does not answer."})
        return Response(200, {"status": "ok"})

    def _receive(self, request: Request) -> Response:
        body = request.read_body()
        if len(body) > BODY_LIMIT:
            raise too_large()
        header = request.headers.get("x-hub-signature-256")
        if header is None:
            raise RequestError(401, "The header X-Hub-Signature-256 is missing.")
        if not signature.is_valid(self.config.webhook_secret, body, header):
            raise RequestError(401, "The header X-Hub-Signature-256 does not match the body.")
        if request.headers.get("content-type", "").startswith("application/x-www-form"):
            raise RequestError(400, "The webhook's content type must be application/json.")
        delivery = read_delivery(request.headers, body, self.config.apps)
        # Everything that can be wrong with a delivery is found before the first write.
        payload = trim(delivery.payload, delivery.id)
        outcome = self._act(delivery, request.headers, body)
        self.store.append_event(delivery, outcome, payload, self.clock())
        return Response(200, {"event": delivery.qualified_event, "outcome": outcome})

    def _act(self, delivery: Delivery, headers: Mapping[str, str], body: bytes) -> Outcome:
        config = self.config
        match decide(delivery, config.routes, config.apps, proxying=config.proxying):
            case Record(outcome):
                return outcome
            case HandToStaging():
                if config.staging_url is None:  # config.py refuses this combination.
                    raise RequestError(502, "There is no staging to hand this to.")
                self.hand_on(config.staging_url, headers, body)
                return Outcome.PROXIED_TO_STAGING
            case StoreJob() as decision:
                return self._store_job(decision)

    def _store_job(self, decision: StoreJob) -> Outcome:
        job, route = decision.job, decision.route
        now = self.clock()
        if route is not None and job.status is Status.PENDING:
            stored = self.store.insert_job(job, route, now)
            return Outcome.JOB_STORED if stored else Outcome.JOB_ALREADY_EXISTS
        before = self.store.advance_job(job, now)
        if before is None:
            if route is None:
                return Outcome.JOB_NOT_FOUND
            if self.store.insert_job(job, route, now):
                return MARKED[job.status]
            # Another delivery of the same job came in between: now it is there.
            before = self.store.advance_job(job, now)
        if before is None:
            return Outcome.JOB_NOT_FOUND
        if PROGRESS.index(before) < PROGRESS.index(job.status):
            return MARKED[job.status]
        return ALREADY[before]


def _log_database_error(error: psycopg.Error) -> None:
    """The message can quote a row; class, code and the first line are enough to act on."""
    log.emit(
        "database_error",
        error=type(error).__name__,
        sqlstate=error.sqlstate,
        message=(error.diag.message_primary or str(error).partition("\n")[0])[:300],
    )
