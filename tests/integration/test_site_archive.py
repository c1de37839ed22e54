"""Days: complete, made once, and the same cost however many there are."""

from datetime import timedelta
from pathlib import Path

import pytest

from static_site import archive
from static_site.errors import PublishError
from tests.published_site import Bucket, Directory, Faulty, Site, at, pages
from tests.site_history import add_history
from tests.site_rows import NOW, ago


def day(number: int) -> str:
    return f"2026-11-{number:02}"


def files(number: int) -> set[str]:
    return {f"days/{day(number)}/{name}" for name in pages("jobs", "workers", "runs")}


@pytest.fixture
def old(site: Site) -> Site:
    """Jobs of today, and of three days in the past; published."""
    for days in (0, 1, 2, 9):
        worker = site.rows.failed_worker(failed=ago(hours=1, days=days))
        site.rows.ended_job(ended=ago(hours=1, days=days), k8s_pod=worker)
    site.publish()
    return site


def test_every_day_with_rows_has_files_and_is_listed(old: Site) -> None:
    listed = old.document("days.json")["days"]
    assert [each["day"] for each in listed] == [day(18), day(17), day(16), day(9)]
    assert [each["settled"] for each in listed] == [False, True, True, True]
    assert listed[0]["jobs"] == {"rows": 1, "pages": 1}
    assert files(18) | files(17) | files(16) | files(9) <= old.place.paths()
    assert len(old.rows_of(f"days/{day(9)}/jobs.json")) == 1


def test_failed_workers_of_old_days_have_their_pages(old: Site) -> None:
    names = [
        each["name"]
        for number in (18, 17, 16, 9)
        for each in old.rows_of(f"days/{day(number)}/workers.json")
    ]
    assert len(names) == 4
    assert {path for name in names for path in pages(f"workers/{name}")} <= old.place.paths()


def test_settled_day_is_kept_for_ever_by_caches(s3_site: Site) -> None:
    s3_site.rows.ended_job(ended=ago(days=2))
    s3_site.publish()
    bucket = s3_site.place
    assert isinstance(bucket, Bucket)
    settled = bucket.head(f"days/{day(16)}/jobs.html")["CacheControl"]
    assert settled == "public, max-age=31536000, immutable"
    assert bucket.head(f"days/{day(18)}/jobs.html")["CacheControl"] == "public, max-age=60"


def test_settled_day_does_not_change_any_more(old: Site) -> None:
    before = old.contents()
    [job] = old.rows_of(f"days/{day(16)}/jobs.json")
    old.rows.update("jobs", "job_id", job["id"], conclusion="failure")
    for _ in range(4):
        old.later(minutes=11).publish()
    after = old.contents()
    assert {path: after[path] for path in files(16)} == {path: before[path] for path in files(16)}


def test_settled_day_is_made_anew_from_scratch(old: Site) -> None:
    [job] = old.rows_of(f"days/{day(16)}/jobs.json")
    old.rows.update("jobs", "job_id", job["id"], conclusion="failure")
    changed = old.uploads(from_scratch=True)
    shown = {f"days/{day(16)}/{path}" for path in pages("jobs", "workers")}
    assert changed & files(16) == shown, "a worker's row names its job's end"


def test_day_is_not_settled_while_a_job_of_it_goes_on(file_site: Site) -> None:
    site = file_site
    site.rows.job(status="running", created_at=ago(days=1), started_at=ago(days=1))
    site.publish()
    assert site.document("days.json")["days"][1]["settled"] is False
    [job] = site.rows_of(f"days/{day(17)}/jobs.json")
    site.rows.update(
        "jobs", "job_id", job["id"], status="completed", conclusion="success", completed_at=NOW
    )
    site.later(minutes=11).publish()
    assert site.document("days.json")["days"][1]["settled"] is True
    assert site.rows_of(f"days/{day(17)}/jobs.json")[0]["conclusion"] == "success"
    assert "as_of" in site.document(f"days/{day(17)}/jobs.json")


def test_day_is_settled_only_an_hour_after_its_end(file_site: Site) -> None:
    site = file_site
    site.rows.ended_job(ended=ago(minutes=5))
    site.publish()
    site.now = NOW.replace(hour=0, minute=30) + timedelta(days=1)
    site.publish()
    assert site.document("days.json")["days"][-1] == {
        "day": day(18),
        "settled": False,
        "jobs": {"rows": 1, "pages": 1},
        "workers": {"rows": 0, "pages": 1},
        "runs": {"rows": 0, "pages": 1},
    }
    site.later(minutes=40).publish()
    assert site.document("days.json")["days"][-1]["settled"] is True


def test_large_day_is_in_parts(file_site: Site) -> None:
    add_history(file_site.rows.database, 2600, 0.4)
    file_site.publish()
    name = f"days/{day(18)}/jobs"
    parts = [file_site.document(f"{name}{part}.json") for part in ("", ".2", ".3")]
    rows = sum(len(part["rows"]) for part in parts)
    listed = file_site.document("days.json")["days"]
    assert rows == sum(each["jobs"]["rows"] for each in listed if each["day"] == day(18))
    assert {(part["page"], part["pages"]) for part in parts} == {(1, 3), (2, 3), (3, 3)}
    ids = [row["id"] for part in parts for row in part["rows"]]
    assert len(set(ids)) == len(ids)


def test_new_job_changes_only_the_last_part_of_its_day(file_site: Site) -> None:
    add_history(file_site.rows.database, 2600, 0.4)
    file_site.publish()
    file_site.rows.job(created_at=NOW)
    changed = file_site.later(minutes=11).uploads()
    parts = {path for path in changed if path.startswith(f"days/{day(18)}/jobs")}
    assert parts == {f"days/{day(18)}/jobs.3.{each}" for each in ("html", "json")}


def test_history_is_made_bit_by_bit_the_newest_first(
    file_site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = file_site
    for days in range(6):
        site.rows.ended_job(ended=ago(days=days))
    monkeypatch.setattr("static_site.publish.BACKFILL_SECONDS", 0.0)
    for number in (17, 16, 15, 14, 13):
        site.later(15).publish()
        assert list_of_days(site) == [day(each) for each in range(18, number - 1, -1)]
    site.later(15).publish()
    assert site.later(15).uploads() == set()


def list_of_days(site: Site) -> list[str]:
    return [each["day"] for each in site.document("days.json")["days"]]


def test_long_time_in_which_nobody_published_is_made_up_for_bit_by_bit(
    file_site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = file_site
    for days in range(9):
        site.rows.ended_job(ended=ago(days=days))
    site.now = NOW - timedelta(days=7)
    site.publish()
    site.now = NOW
    monkeypatch.setattr("static_site.publish.BACKFILL_SECONDS", 0.0)
    for count in (4, 5, 6, 7, 8, 9, 9):
        site.later(15).publish()
        assert len(list_of_days(site)) == count
    assert site.later(15).uploads() == set()


@pytest.mark.parametrize("failing", ["days/2026-11-14/jobs.json", "days.json"])
def test_day_that_could_not_be_put_is_looked_for_again(
    file_site: Site, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    site = file_site
    for days in range(7):
        site.rows.ended_job(ended=ago(days=days))
    monkeypatch.setattr("static_site.publish.BACKFILL_SECONDS", 0.0)
    site.publish()
    monkeypatch.undo()
    broken = Faulty(site.place.target(), lambda _count, path: path == failing)
    with pytest.raises(PublishError):
        site.later(15).publish(target=broken)
    assert site.document("health.json")["as_of"] == at(site.now), "what is live is as of now"
    for _ in range(2):
        site.later(15).publish()
    assert list_of_days(site) == [day(number) for number in range(18, 11, -1)]
    for number in range(12, 19):
        assert files(number) <= site.place.paths()


def test_parts_of_a_day_that_became_shorter_are_deleted(file_site: Site) -> None:
    """The database was restored from a backup."""
    add_history(file_site.rows.database, 1600, 0.4)
    file_site.publish()
    assert f"days/{day(18)}/jobs.2.json" in file_site.place.paths()
    file_site.rows.database.execute("DELETE FROM jobs WHERE created_at > %s", ago(hours=8))
    file_site.later(minutes=11).publish()
    assert f"days/{day(18)}/jobs.2.json" not in file_site.place.paths()


def test_log_of_a_job_that_turns_out_private_hours_later_is_hidden(file_site: Site) -> None:
    """A missed webhook is asked for again, and comes late."""
    logs = {"logs": {"runner": "something to hide"}}
    worker = file_site.rows.failed_worker("runner_idle", failed=ago(hours=2), info=logs)
    file_site.publish()
    assert "something to hide" in file_site.text(f"workers/{worker}.html")
    file_site.rows.job(k8s_pod=worker, repo_private=True, status="running", started_at=ago(hours=3))
    file_site.later(minutes=11).publish()
    assert "something to hide" not in file_site.text(f"workers/{worker}.html")
    assert "something to hide" not in file_site.text(f"workers/{worker}.json")


def test_days_on_which_nobody_published_are_made_up_for(file_site: Site) -> None:
    site = file_site
    site.rows.ended_job(ended=ago(days=5))
    site.now = NOW - timedelta(days=5)
    site.publish()
    for days in (4, 3, 1):
        site.rows.ended_job(ended=ago(days=days))
    site.now = NOW
    site.publish()
    listed = [(each["day"], each["settled"]) for each in site.document("days.json")["days"]]
    assert listed == [
        (day(18), False),
        *((day(number), True) for number in (17, 15, 14, 13)),
    ]


def test_deleted_file_of_a_settled_day_comes_back(old: Site) -> None:
    gone = {f"days/{day(16)}/jobs.html", f"days/{day(9)}/workers.json"}
    for path in gone:
        old.place.delete(path)
    uploaded: set[str] = set()
    for _ in range(3):
        uploaded |= old.later(minutes=11).uploads()
    assert gone <= uploaded
    assert not files(17) & uploaded


def test_deleted_page_of_a_failed_worker_comes_back(old: Site) -> None:
    [worker] = old.rows_of(f"days/{day(9)}/workers.json")
    old.place.delete(f"workers/{worker['name']}.html")
    assert f"workers/{worker['name']}.html" in old.later(minutes=11).uploads()


def test_all_failed_workers_are_looked_after_in_turn(
    file_site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "AUDITED_WORKERS", 3)
    names = [file_site.rows.failed_worker(failed=ago(minutes=n)) for n in range(1, 11)]
    file_site.publish()
    for name in names:
        file_site.place.delete(f"workers/{name}.json")
    for _ in range(6):
        file_site.later(minutes=11).publish()
    assert {f"workers/{name}.json" for name in names} <= file_site.place.paths()


def test_lost_list_of_days_is_made_anew(old: Site) -> None:
    before = old.document("days.json")
    old.place.delete("days.json")
    for _ in range(3):
        old.later(minutes=11).publish()
    assert old.document("days.json") == before


def test_history_that_was_removed_from_the_database_stays_published(old: Site) -> None:
    before = old.contents()
    old.rows.database.execute("DELETE FROM jobs WHERE created_at < %s", ago(days=1))
    for _ in range(4):
        old.later(minutes=11).publish()
    old.publish(from_scratch=True)
    after = old.contents()
    for number in (16, 9):
        for path in files(number):
            assert after[path] == before[path]
    assert [each["day"] for each in old.document("days.json")["days"]][-1] == day(9)


def all_lists_of(number: int, site: Site) -> dict[str, bytes]:
    return {path: site.place.read(path) for path in files(number)}


def test_removing_history_makes_nothing_to_be_published(old: Site) -> None:
    old.later(minutes=11).publish()
    for table in ("jobs", "workers", "reconcile_runs"):
        old.rows.database.execute(f"DELETE FROM {table} WHERE created_at < %s", ago(days=8))
    seen = set().union(*(old.later(minutes=11).uploads() for _ in range(4)))
    assert not {path for path in seen if path.startswith(("days", "workers/"))}


def test_day_that_lost_its_runs_only_is_looked_after_in_all_else(site: Site) -> None:
    """They are kept for less long than jobs."""
    site.rows.ended_job(ended=ago(days=9))
    site.rows.run(started_at=ago(days=9))
    site.publish()
    before = all_lists_of(9, site)
    site.rows.database.execute("DELETE FROM reconcile_runs")
    site.publish(from_scratch=True)
    assert all_lists_of(9, site) == before
    site.place.delete(f"days/{day(9)}/jobs.json")
    for _ in range(3):
        site.later(minutes=11).publish()
    assert all_lists_of(9, site) == before
    assert site.document("days.json")["days"][-1]["runs"] == {"rows": 1, "pages": 1}


def test_old_day_on_which_a_job_still_goes_on_keeps_the_rows_that_went(file_site: Site) -> None:
    """It never settled. What is left of it in the database is less than what was published."""
    site = file_site
    waiting = site.rows.job(created_at=ago(days=9))
    site.rows.ended_job(ended=ago(days=9, hours=1))
    site.rows.run(started_at=ago(days=9))
    site.publish()
    before = all_lists_of(9, site)
    site.rows.database.execute("DELETE FROM jobs WHERE status = 'completed'")
    site.rows.database.execute("DELETE FROM reconcile_runs")
    site.later(minutes=11).publish()
    assert all_lists_of(9, site) == before
    site.rows.update("jobs", "job_id", waiting, status="completed", completed_at=NOW)
    site.later(minutes=11).publish()
    listed = site.document("days.json")["days"][-1]
    assert (listed["settled"], listed["jobs"]["rows"], listed["runs"]["rows"]) == (True, 2, 1)
    assert all_lists_of(9, site).keys() == before.keys()
    for name in ("jobs", "runs"):
        assert len(site.rows_of(f"days/{day(9)}/{name}.json")) == listed[name]["rows"]


def test_a_restored_database_is_shown_as_it_is_for_a_week(file_site: Site) -> None:
    """Before that nothing is removed for being old: what is missing is not known to have been."""
    site = file_site
    site.rows.job(created_at=ago(days=6))
    lost = site.rows.ended_job(ended=ago(days=6))
    site.publish()
    site.rows.database.execute("DELETE FROM jobs WHERE job_id = %s", lost)
    site.later(minutes=11).publish()
    assert len(site.rows_of(f"days/{day(12)}/jobs.json")) == 1


def test_lost_file_of_a_day_that_is_gone_is_made_of_what_is_left_once(old: Site) -> None:
    """And the list of days says so: it leads nowhere else."""
    old.place.delete(f"days/{day(9)}/jobs.html")
    old.rows.database.execute("DELETE FROM jobs WHERE created_at < %s", ago(days=8))
    for _ in range(2):
        old.later(minutes=11).publish()
    listed = old.document("days.json")["days"][-1]
    assert (listed["day"], listed["jobs"]["rows"], listed["workers"]["rows"]) == (day(9), 0, 1)
    assert files(9) <= old.place.paths()
    assert old.rows_of(f"days/{day(9)}/workers.json") != []
    seen = set().union(*(old.later(minutes=11).uploads() for _ in range(4)))
    assert not seen & files(9)


def test_from_scratch_in_a_new_place_there_is_what_the_database_still_has(
    old: Site, tmp_path: Path
) -> None:
    for table in ("jobs", "workers"):
        old.rows.database.execute(f"DELETE FROM {table} WHERE created_at < %s", ago(days=8))
    elsewhere = Site(old.rows, Directory(tmp_path / "elsewhere"))
    elsewhere.publish(from_scratch=True)
    assert list_of_days(elsewhere) == [day(18), day(17), day(16)]
    assert not files(9) & elsewhere.place.paths()
    assert list_of_days(old)[-1] == day(9), "there it stays"


def test_runs_that_found_nothing_to_do_are_not_listed(file_site: Site) -> None:
    file_site.rows.run(jobs_updated=0)
    told = [file_site.rows.run(), file_site.rows.run(jobs_updated=0, status="partial")]
    file_site.rows.run(status="running", completed_at=None)
    file_site.publish()
    assert {each["id"] for each in file_site.rows_of("runs.json")} == set(told)
    assert len(file_site.rows_of(f"days/{day(18)}/runs.json")) == 2
