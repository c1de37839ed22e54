"""The deliveries the tests are made of have GitHub's published shapes."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from tests import github

SCHEMAS = os.environ.get("GITHUB_WEBHOOK_SCHEMAS")
pytestmark = pytest.mark.skipif(
    not SCHEMAS, reason="GITHUB_WEBHOOK_SCHEMAS names no file with GitHub's webhook schemas"
)

PERSON = github.account(583231, "octocat", "User")
PAYLOADS = {
    **{
        f"workflow_job${action}": github.WorkflowJob().payload(action)
        for action in ("queued", "in_progress", "completed", "waiting")
    },
    **{
        f"installation${action}": github.installation(action, PERSON)
        for action in ("created", "deleted", "suspend", "unsuspend", "new_permissions_accepted")
    },
    **{
        f"installation_repositories${action}": github.installation_repositories(action)
        for action in ("added", "removed")
    },
    "installation_target$renamed": github.installation_target(),
}


@pytest.fixture(scope="module")
def schemas() -> dict[str, Any]:
    assert SCHEMAS is not None
    loaded: dict[str, Any] = json.loads(Path(SCHEMAS).read_text())
    return loaded


@pytest.mark.parametrize("name", PAYLOADS)
def test_delivery_has_githubs_shape(name: str, schemas: dict[str, Any]) -> None:
    schema = {"$ref": f"#/definitions/{name}", "definitions": schemas["definitions"]}
    errors = Draft7Validator(schema).iter_errors(PAYLOADS[name])
    assert [f"{error.json_path}: {error.message}"[:300] for error in errors] == []
