"""What each event does: the rows it leaves and the outcome it is logged with."""

import pytest

from tests import github
from tests.function import Function


def test_queued_job_becomes_a_pending_row(function: Function) -> None:
    answer = function.deliver("workflow_job", github.WorkflowJob().payload("queued"))

    assert answer.outcome == "job_stored"
    [job] = function.jobs()
    assert {
        name: str(value) for name, value in job.items() if name not in ("created_at", "updated_at")
    } == {
        "job_id": "41000000001",
        "status": "pending",
        "failure_info": "None",
        "provider": "github",
        "entity_id": "21003710",
        "entity_name": "riseproject",
        "entity_type": "Organization",
        "repo_full_name": "riseproject/llvm-project",
        "installation_id": "7001",
        "job_labels": "['ubuntu-24.04-riscv']",
        "k8s_pool": "scw-em-rv1",
        "k8s_image": "registry.example/ubuntu-24.04:prod",
        "k8s_pod": "None",
        "html_url": "https://github.com/riseproject/llvm-project/actions/runs/9001/job/41000000001",
        "run_id": "9001",
        "run_attempt": "1",
        "job_name": "build (riscv64)",
        "workflow_name": "CI",
        "conclusion": "None",
        "queued_at": "2026-03-02 10:00:00+00:00",
        "started_at": "None",
        "completed_at": "None",
        "repo_private": "False",
        "steps": "None",
        "sender_id": "583231",
        "sender_name": "octocat",
        "missing_since": "None",
    }


def test_story_of_a_job(function: Function) -> None:
    job = github.WorkflowJob(conclusion="failure")
    outcomes = [
        function.deliver("workflow_job", job.payload(action)).outcome
        for action in ("queued", "queued", "in_progress", "in_progress", "completed", "completed")
    ]

    assert outcomes == [
        "job_stored",
        "job_already_exists",
        "job_marked_running",
        "job_already_running",
        "job_marked_completed",
        "job_already_completed",
    ]
    [row] = function.jobs()
    assert row["status"] == "completed"
    assert row["conclusion"] == "failure"
    assert row["k8s_pod"] == "rise-riscv-runner-abc123"
    assert row["started_at"].isoformat() == "2026-03-02T10:03:10+00:00"
    assert row["completed_at"].isoformat() == "2026-03-02T10:09:42+00:00"
    assert row["steps"][0]["conclusion"] == "success"
    assert [event["outcome"] for event in function.events()] == outcomes


def test_repeat_does_not_touch_the_row(function: Function) -> None:
    job = github.WorkflowJob()
    for action in ("queued", "in_progress", "completed"):
        function.deliver("workflow_job", job.payload(action))
    [before] = function.jobs()
    for action in ("queued", "in_progress", "completed"):
        function.deliver("workflow_job", job.payload(action))

    assert function.jobs() == [before]


def test_job_cancelled_in_the_queue_never_started(function: Function) -> None:
    job = github.WorkflowJob(runner=None, conclusion="cancelled")
    function.deliver("workflow_job", job.payload("queued"))
    function.deliver("workflow_job", job.payload("completed"))

    [row] = function.jobs()
    assert (row["status"], row["conclusion"]) == ("completed", "cancelled")
    assert (row["k8s_pod"], row["started_at"]) == (None, None)


def test_job_the_reconciler_gave_up_on_stays_failed_but_learns_its_conclusion(
    function: Function,
) -> None:
    job = github.WorkflowJob()
    function.deliver("workflow_job", job.payload("queued"))
    function.database.execute("UPDATE jobs SET status = 'failed'")

    assert (
        function.deliver("workflow_job", job.payload("completed")).outcome == "job_already_failed"
    )
    [row] = function.jobs()
    assert (row["status"], row["conclusion"]) == ("failed", "success")


def test_labels_are_stored_as_a_sorted_set_in_lower_case(function: Function) -> None:
    labels = ("Ubuntu-24.04-RISCV", "self-hosted", "ubuntu-24.04-riscv")
    function.deliver("workflow_job", github.WorkflowJob(labels=labels).payload("queued"))

    assert function.jobs()[0]["job_labels"] == ["self-hosted", "ubuntu-24.04-riscv"]


@pytest.mark.parametrize("action", ["queued", "in_progress", "completed"])
@pytest.mark.parametrize("labels", [("ubuntu-latest",), (github.LABEL, "gpu"), ()])
def test_job_with_other_labels_is_not_ours(
    function: Function, action: str, labels: tuple[str, ...]
) -> None:
    answer = function.deliver("workflow_job", github.WorkflowJob(labels=labels).payload(action))

    assert answer.outcome == ("ignored_no_label" if action == "queued" else "job_not_found")
    assert function.jobs() == []


def test_other_actions_are_ignored(function: Function) -> None:
    assert (
        function.deliver("workflow_job", github.WorkflowJob().payload("waiting")).outcome
        == "ignored_action"
    )
    assert function.jobs() == []


PERSON = github.account(583231, "octocat", "User")


def test_personal_account_is_served_by_the_personal_app(function: Function) -> None:
    payload = github.WorkflowJob(owner=PERSON).payload("queued")

    assert function.deliver("workflow_job", payload, github.PERSONAL_APP).outcome == "job_stored"
    assert function.jobs()[0]["entity_type"] == "User"
    assert function.events()[0]["entity_type"] == "User"


@pytest.mark.parametrize(
    ("owner", "app_id"),
    [(PERSON, github.ORG_APP), (github.account(), github.PERSONAL_APP)],
)
def test_job_through_the_app_for_other_accounts_is_ignored(
    function: Function, owner: github.Payload, app_id: int
) -> None:
    payload = github.WorkflowJob(owner=owner).payload("queued")

    assert function.deliver("workflow_job", payload, app_id).outcome == "ignored_wrong_app"
    assert function.jobs() == []


@pytest.mark.parametrize(
    ("event", "payload"),
    [
        *(
            ("installation", github.installation(action))
            for action in ("created", "deleted", "suspend", "unsuspend", "new_permissions_accepted")
        ),
        ("installation_repositories", github.installation_repositories("added")),
        ("installation_repositories", github.installation_repositories("removed")),
    ],
)
def test_installation_events_are_recorded(
    function: Function, event: str, payload: github.Payload
) -> None:
    assert function.deliver(event, payload).outcome == "recorded"
    [row] = function.events()
    assert row["source"] == "webhook"
    assert row["event"] == f"{event}.{payload['action']}"
    assert (row["installation_id"], row["app_id"]) == (7001, github.ORG_APP)
    assert (row["entity_type"], row["entity_id"]) == ("Organization", 21003710)
    assert row["entity_name"] == "riseproject"
    selection = payload["installation"]["repository_selection"]
    assert row["payload"]["installation"]["repository_selection"] == selection


def test_rename_is_recorded_under_the_new_name(function: Function) -> None:
    assert (
        function.deliver("installation_target", github.installation_target()).outcome == "recorded"
    )
    [row] = function.events()
    assert (row["event"], row["entity_name"]) == ("installation_target.renamed", "riscv-rise")
    assert row["payload"]["changes"] == {"login": {"from": "riseproject"}}


def test_enterprise_is_recorded_by_its_slug(function: Function) -> None:
    payload = github.installation("created")
    payload["installation"]["account"] = {"id": 5, "slug": "acme", "name": "Acme, Inc."}
    payload["installation"]["target_type"] = "Enterprise"

    assert function.deliver("installation", payload).outcome == "recorded"
    [row] = function.events()
    assert (row["entity_id"], row["entity_name"], row["entity_type"]) == (5, "acme", None)


def test_installation_without_its_account_is_known_by_its_target(function: Function) -> None:
    payload = github.installation("deleted")
    payload["installation"]["account"] = None

    assert function.deliver("installation", payload).outcome == "recorded"
    [row] = function.events()
    assert (row["entity_id"], row["entity_name"]) == (21003710, None)
    assert row["entity_type"] == "Organization"


def test_rename_that_names_nobody_is_recorded_all_the_same(function: Function) -> None:
    payload = github.installation_target()
    for name in ("login", "type"):
        del payload["account"][name]

    assert function.deliver("installation_target", payload).outcome == "recorded"
    [row] = function.events()
    assert (row["entity_id"], row["entity_name"]) == (21003710, None)


def test_ping_is_answered_and_its_secret_removed(function: Function) -> None:
    assert function.deliver("ping", github.ping()).outcome == "pong"
    [row] = function.events()
    assert row["event"] == "ping"
    assert row["payload"]["hook"]["config"] == {"secret": "[removed]"}


def test_any_other_event_is_recorded_as_unhandled(function: Function) -> None:
    owner = github.account()
    push = {
        "ref": "refs/heads/main",
        "repository": github.repository(owner),
        "installation": {"id": 3},
    }

    assert function.deliver("push", push).outcome == "unhandled_event"
    assert (
        function.deliver("security_advisory", {"action": "published"}).outcome == "unhandled_event"
    )
    first, second = function.events()
    assert (first["event"], first["entity_id"], first["installation_id"]) == (
        "push",
        owner["id"],
        3,
    )
    assert (second["event"], second["entity_id"]) == ("security_advisory.published", None)


TOKEN = "ghs_16C7e42F292c6912E7710c838347Ae178B4a"


def test_stored_payload_is_trimmed_and_names_its_delivery(function: Function) -> None:
    payload = github.WorkflowJob().payload("queued")
    body = github.encode(payload)
    headers = github.headers("workflow_job", body)
    function.post(body, headers)

    [row] = function.events()
    stored = row["payload"]
    assert stored["_delivery"] == headers["x-github-delivery"]
    assert stored["workflow_job"]["html_url"].startswith("https://github.com/")
    assert not [key for key in stored["repository"] if key.endswith("_url") and key != "html_url"]
    assert len(str(stored)) < len(str(payload)) / 2


def test_token_in_a_name_is_stored_nowhere(function: Function) -> None:
    payload = github.WorkflowJob().payload("completed")
    payload["workflow_job"]["name"] = f"deploy {TOKEN}"
    payload["workflow_job"]["steps"][0]["name"] = f"Run curl -H {TOKEN}"
    payload["repository"]["description"] = TOKEN
    function.deliver("workflow_job", payload)

    [job], [event] = function.jobs(), function.events()
    assert job["job_name"] == "deploy [removed]"
    assert TOKEN not in f"{job} {event}"
