"""The webhook function under test, called as Lambda calls it."""

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests import github
from tests.database import Database, Row
from webhook_fn import app


@dataclass(frozen=True)
class Answer:
    status: int
    text: str
    headers: dict[str, str]

    @property
    def body(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.text)
        return document

    @property
    def outcome(self) -> str:
        assert self.status == 200, self
        outcome: str = self.body["outcome"]
        return outcome


def environment(database_url: str) -> dict[str, str]:
    return {
        "POSTGRES_URL": database_url,
        "RUNNERS_ENV": "prod",
        "GHAPP_WEBHOOK_SECRET": github.SECRET,
        "GHAPP_ORG_ID": str(github.ORG_APP),
        "GHAPP_PERSONAL_ID": str(github.PERSONAL_APP),
    }


@dataclass(frozen=True)
class Function:
    database: Database
    monkeypatch: pytest.MonkeyPatch

    @contextlib.contextmanager
    def started(self) -> Iterator["Function"]:
        self.configure(**environment(self.database.role_url("prod_webhook_fn")))
        yield self
        self._forget()

    def configure(self, **settings: str) -> None:
        """A cold start with these variables changed."""
        self._forget()
        for name, value in settings.items():
            self.monkeypatch.setenv(name, value)

    def call(self, event: Any) -> Answer:
        result = app.handler(event, None)
        assert set(result) == {"statusCode", "headers", "body"}
        return Answer(result["statusCode"], result["body"], result["headers"])

    def post(self, body: bytes, headers: dict[str, str], **options: Any) -> Answer:
        return self.call(github.lambda_event(body, headers, **options))

    def get(
        self,
        path: str,
        query: str = "",
        *,
        token: str | None = None,
        method: str = "GET",
        **headers: str,
    ) -> Answer:
        if token is not None:
            headers["authorization"] = f"Bearer {token}"
        return self.call(github.lambda_event(b"", headers, method=method, path=path, query=query))

    def deliver(
        self, event: str, payload: github.Payload, app_id: int = github.ORG_APP, **options: Any
    ) -> Answer:
        body = github.encode(payload)
        return self.post(body, github.headers(event, body, app_id), **options)

    def jobs(self) -> list[Row]:
        return self.database.rows("SELECT * FROM jobs ORDER BY job_id")

    def events(self) -> list[Row]:
        return self.database.rows("SELECT * FROM installation_events ORDER BY id")

    def _forget(self) -> None:
        if app._receiver.cache_info().currsize:
            app._receiver().store.close()
            app._receiver.cache_clear()
