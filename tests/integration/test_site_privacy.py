"""Nothing of a private repository and no address of ours is published, wherever a row has it."""

import gzip
from collections.abc import Sequence
from typing import Any

import pytest

from reconcile.model import Reason
from static_site.privacy import BEFORE_ANY_JOB
from tests.published_site import Bucket, Site
from tests.site_rows import NOW, ago
from tests.site_secrets import (
    FORBIDDEN,
    KINDS,
    hushed_day,
    hushed_job,
    hushed_rest,
    hushed_worker,
)


@pytest.fixture
def hushed(site: Site) -> Site:
    """Today and three days ago, each full of what nobody may see; and a public job or two."""
    site.rows.boards()
    for end in (ago(minutes=5), ago(days=3)):
        hushed_day(site.rows, end)
        site.rows.ended_job(ended=end, job_name="compile in public", workflow_name="open flow")
    hushed_rest(site.rows)
    return site


def assert_nothing_leaked(site: Site) -> None:
    for path, body in site.contents().items():
        for text in (path.encode(), body):
            low = text.lower()
            for word in FORBIDDEN:
                at = low.find(word)
                around = text[max(0, at - 80) : at + 60]
                assert at < 0, f"{path} has {word!r}: …{around!r}…"


def assert_published(site: Site, days: Sequence[str] = ("2026-11-18", "2026-11-15")) -> None:
    """That the pages are really there that could have told."""
    paths = site.place.paths()
    assert len([path for path in paths if path.startswith("workers/")]) == 2 * (2 * 3 * 9 + 1)
    lists = [site.rows_of(f"days/{day}/jobs.json") for day in days]
    assert all(sum(row["private"] for row in rows) == 3 * (2 + 5 + 10) for rows in lists)
    assert all(row["error"] for row in site.rows_of("runs.json"))


def test_nothing_private_is_published_by_a_run(hushed: Site) -> None:
    hushed.publish()
    assert_published(hushed)
    assert_nothing_leaked(hushed)


def test_nothing_private_is_published_from_scratch(hushed: Site) -> None:
    hushed.publish(from_scratch=True)
    assert_published(hushed)
    assert_nothing_leaked(hushed)


def test_nothing_private_is_published_by_one_run_after_the_other(file_site: Site) -> None:
    site = file_site
    site.publish()
    hushed_rest(site.rows)
    jobs = [hushed_job(site.rows, kind) for kind in KINDS]
    site.later(15).publish()
    for job, kind in zip(jobs, KINDS, strict=True):
        worker = hushed_worker(site.rows, kind, NOW, Reason.POD_FAILED)
        site.rows.update("jobs", "job_id", job, status="running", started_at=NOW, k8s_pod=worker)
    site.later(15).publish()
    for job in jobs:
        ended = {"status": "completed", "conclusion": "failure", "completed_at": NOW}
        site.rows.update("jobs", "job_id", job, **ended)
    for _ in range(3):
        site.later(minutes=11).publish()
        assert_nothing_leaked(site)
    site.later(days=1).publish()
    assert_nothing_leaked(site)


def test_stored_bytes_say_no_more_than_pages_do(s3_site: Site) -> None:
    """Neither packed nor in what is stored with them."""
    hushed_day(s3_site.rows, ago(minutes=5))
    hushed_rest(s3_site.rows)
    s3_site.publish()
    bucket = s3_site.place
    assert isinstance(bucket, Bucket)
    for path in bucket.paths():
        got = bucket.client.get_object(Bucket=bucket.name, Key=bucket.key(path))
        stored = got["Body"].read()
        assert b"hush" not in gzip.decompress(stored).lower()
        assert "hush" not in str(got["Metadata"]) + str(got["ResponseMetadata"])


def test_what_is_public_is_shown(hushed: Site) -> None:
    hushed.publish()
    for name in ("jobs", "days/2026-11-18/jobs", "days/2026-11-15/jobs"):
        [public] = [row for row in hushed.rows_of(f"{name}.json") if not row["private"]][:1]
        assert public["repository"] == "riseproject/firmware"
        assert public["workflow"] == "open flow"
        assert public["name"] == "compile in public"
        assert public["url"].startswith("https://github.com/riseproject/firmware/actions/")
        text = hushed.text(f"{name}.html")
        assert "compile in public" in text
        assert "riseproject/firmware" in text


def test_private_job_is_shown_without_its_names(file_site: Site) -> None:
    job = hushed_job(file_site.rows, KINDS[0], status="running", started_at=ago(minutes=4))
    file_site.publish()
    [row] = file_site.rows_of("jobs.json")
    assert (row["id"], row["private"], row["entity"]) == (job, True, "riseproject")
    hidden = [row[name] for name in ("repository", "workflow", "name", "url", "message")]
    assert hidden == [None] * 5
    assert (row["status"], row["wait_seconds"], row["pool"]) == ("running", 60, "scw-em-rv1")


# A failed worker's log --------------------------------------------------------------------------

LOG = {
    "logs": {"runner": "last words\n"},
    "containers": [{"name": "runner", "state": {"terminated": {"message": "last words"}}}],
}


def shown(site: Site, worker: str) -> dict[str, Any]:
    page: dict[str, Any] = site.document(f"workers/{worker}.json")
    open_log = bool(page["logs"])
    assert page["logs_hidden"] is not open_log
    for path in (f"workers/{worker}.json", f"workers/{worker}.html"):
        assert ("last words" in site.text(path)) is open_log, "messages go with the log"
    return page


@pytest.mark.parametrize("private", [False, True, None])
def test_log_is_shown_if_the_job_was_public_whatever_the_reason(
    file_site: Site, private: bool | None
) -> None:
    workers = [file_site.rows.failed_worker(str(reason), info=LOG) for reason in Reason]
    for worker in workers:
        file_site.rows.job(k8s_pod=worker, repo_private=private)
    file_site.publish()
    for worker in workers:
        assert bool(shown(file_site, worker)["logs"]) is (private is False)


@pytest.mark.parametrize("reason", [str(reason) for reason in Reason])
def test_log_of_a_worker_without_a_job_is_shown_if_it_can_have_had_none(
    file_site: Site, reason: str
) -> None:
    worker = file_site.rows.failed_worker(reason, info=LOG)
    file_site.publish()
    assert bool(shown(file_site, worker)["logs"]) is (reason in BEFORE_ANY_JOB)


def test_log_that_tells_of_a_job_nobody_knows_is_not_shown(file_site: Site) -> None:
    took_one = LOG | {"logs": {"runner": "Running job: hush build\nlast words\n"}}
    worker = file_site.rows.failed_worker("runner_never_registered", info=took_one)
    file_site.publish()
    assert not shown(file_site, worker)["logs"]
    assert_nothing_leaked(file_site)


def test_log_is_taken_back_once_its_job_is_known_to_be_private(file_site: Site) -> None:
    """The webhook came late."""
    worker = file_site.rows.failed_worker("runner_never_registered", info=LOG)
    file_site.publish()
    assert shown(file_site, worker)["logs"]
    hushed_job(file_site.rows, KINDS[0], k8s_pod=worker, status="running", started_at=NOW)
    file_site.later(15).publish()
    assert not shown(file_site, worker)["logs"]
    assert_nothing_leaked(file_site)


def test_log_of_a_public_and_a_private_job_is_not_shown(file_site: Site) -> None:
    """A runner takes one job; should rows say otherwise, the private one counts."""
    worker = file_site.rows.failed_worker("pod_failed", info=LOG)
    hushed_job(file_site.rows, KINDS[0], k8s_pod=worker, created_at=ago(minutes=9))
    file_site.rows.job(k8s_pod=worker, created_at=ago(minutes=8))
    file_site.publish()
    assert not shown(file_site, worker)["logs"]
    assert_nothing_leaked(file_site)


def test_repository_of_a_personal_account_is_shown_if_its_job_was_public(file_site: Site) -> None:
    owner = {"entity_id": 2, "entity_name": "ada", "entity_type": "User"}
    of_public = file_site.rows.worker(repo_full_name="ada/engine", **owner)
    without_job = file_site.rows.worker(repo_full_name="ada/hush-notes", **owner)
    file_site.rows.job(repo_full_name="ada/engine", k8s_pod=of_public, **owner)
    file_site.publish()
    told = {row["name"]: row["repository"] for row in file_site.rows_of("workers.json")}
    assert told == {of_public: "ada/engine", without_job: None}
