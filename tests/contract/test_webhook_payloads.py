"""The deliveries the tests are made of have GitHub's published shapes."""

import pytest

from tests import github
from tests.published import WEBHOOK_SCHEMAS, webhook_problems

pytestmark = pytest.mark.skipif(
    not WEBHOOK_SCHEMAS,
    reason="GITHUB_WEBHOOK_SCHEMAS names no file with GitHub's webhook schemas",
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


@pytest.mark.parametrize("name", PAYLOADS)
def test_delivery_has_githubs_shape(name: str) -> None:
    assert webhook_problems(name.partition("$")[0], PAYLOADS[name]) == []
