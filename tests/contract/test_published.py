"""That GitHub's published description is at hand, or else that nothing was checked against it."""

import pytest

from reconcile.sim.http import Request, Response
from tests import published


@pytest.mark.parametrize("name", ["OPENAPI", "WEBHOOK_SCHEMAS"])
def test_shapes_are_checked_against_githubs_description(name: str) -> None:
    if getattr(published, name) is None:
        pytest.skip(f"GITHUB_{name} names no file: shapes were not checked in this run")


def test_wrong_answer_would_be_noticed() -> None:
    if published.OPENAPI is None:
        pytest.skip("GITHUB_OPENAPI names no file")
    asked = Request("GET", "/app/installations/1", {}, {}, b"", "")
    wrong = Response(200, b'{"id": "one"}', {"Content-Type": "application/json"})
    assert any("$.id" in problem for problem in published.api_problems(asked, wrong))
    unknown = Response(401, b'{"error": "no"}', {"Content-Type": "application/json"})
    assert published.api_problems(asked, unknown) != []


def test_wrong_webhook_would_be_noticed() -> None:
    if published.WEBHOOK_SCHEMAS is None:
        pytest.skip("GITHUB_WEBHOOK_SCHEMAS names no file")
    assert published.webhook_problems("workflow_job", {"action": "queued"}) != []
