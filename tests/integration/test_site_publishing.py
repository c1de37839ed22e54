"""Publishing to a directory and to moto's S3 server: what is uploaded, and what is not."""

import pytest

from static_site import reading, render
from static_site.errors import BusyError
from tests.published_site import Bucket, Faulty, Site, pages
from tests.site_history import add_history
from tests.site_rows import NOW, SiteRows, ago

FIRST = pages("index", "usage", "jobs", "workers", "runs", "404") | {"health.json", "manifest.json"}
DAY = {f"days/2026-11-18/{name}" for name in pages("jobs", "workers", "runs")} | {"days.json"}


@pytest.fixture
def small(site: Site) -> Site:
    """A little of everything, published."""
    _little_of_everything(site.rows)
    site.publish()
    return site


def _little_of_everything(rows: SiteRows) -> None:
    rows.boards()
    rows.waits("no_board")
    rows.run()
    rows.ended_job(ended=ago(minutes=30))
    rows.job(created_at=ago(minutes=5))
    rows.worker()


def test_first_publish_makes_the_whole_site(site: Site) -> None:
    _little_of_everything(site.rows)
    assert site.uploads() == FIRST | DAY | set(render.assets())
    assert site.place.paths() == FIRST | DAY | set(render.assets())


def test_empty_database_makes_a_site_too(site: Site) -> None:
    assert site.uploads() >= FIRST
    assert site.rows_of("jobs.json") == []


def test_no_change_uploads_nothing(small: Site) -> None:
    assert small.uploads() == set()
    assert small.later(20).uploads() == set()


def test_nothing_new_for_a_minute_is_told_by_a_sign_of_life(small: Site) -> None:
    assert small.later(61).uploads() == {"health.json"}
    assert small.document("health.json")["as_of"] == "2026-11-18T12:01:08Z"


def test_from_scratch_uploads_only_what_is_other_than_what_is_there(small: Site) -> None:
    assert small.uploads(from_scratch=True) <= {"manifest.json", "health.json"}


def test_changed_job_uploads_only_what_shows_it(small: Site) -> None:
    [job] = [each["id"] for each in small.rows_of("jobs.json") if each["status"] == "pending"]
    small.rows.update("jobs", "job_id", job, status="running", started_at=ago(seconds=5))
    changed = small.later(15).uploads()
    assert changed == pages("index", "usage", "jobs") | {"health.json", "manifest.json"}
    assert [each["status"] for each in small.rows_of("jobs.json")] == ["running", "completed"]


def test_change_deep_in_the_list_uploads_that_page_alone(site: Site) -> None:
    jobs = [site.rows.ended_job(ended=ago(minutes=2 * n)) for n in range(1, 331)]
    site.publish()
    site.rows.update("jobs", "job_id", jobs[250], conclusion="failure")
    assert site.later(15).uploads() == pages("jobs.3") | {"health.json", "manifest.json"}


def test_new_jobs_leave_the_other_pages_where_they_are(file_site: Site) -> None:
    site = file_site
    for n in range(330):
        site.rows.ended_job(ended=ago(minutes=10 + n))
    site.publish()
    for _ in range(20):
        site.rows.job(created_at=NOW)
    changed = site.later(15).uploads()
    assert changed == pages("index", "usage", "jobs") | {"health.json", "manifest.json"}
    assert len(site.rows_of("jobs.json")) == 120
    assert len(site.rows_of("jobs.2.json")) == 100


def test_long_page_passes_its_older_half_on(file_site: Site) -> None:
    site = file_site
    for n in range(330):
        site.rows.ended_job(ended=ago(minutes=10 + n))
    site.publish()
    for _ in range(100):
        site.rows.job(created_at=NOW)
    changed = site.later(15).uploads()
    assert pages("jobs", "jobs.2") <= changed
    assert len(changed) <= 20
    lengths = [len(site.rows_of(f"jobs{page}.json")) for page in ("", ".2", ".3", ".4")]
    assert lengths == [100, 100, 100, 130]
    assert site.later(15).uploads() == set()


def test_busy_fleet_changes_20_objects_at_most_and_no_page_gets_too_long(file_site: Site) -> None:
    """Twenty jobs change between any two publishings, and never there is nothing to do."""
    site = file_site
    add_history(site.rows.database, 1400, 2, failed_every=10_000)
    site.publish(from_scratch=True)
    for _ in range(60):
        for _ in range(7):
            site.rows.job(created_at=site.now)
            site.rows.worker(created_at=site.now)
        site.rows.run(started_at=site.now)
        assert len(site.later(1).uploads()) <= 20
        longest = max(len(site.rows_of(f"{name}.json")) for name in ("jobs", "jobs.2", "workers"))
        assert longest < 300


def test_every_row_is_on_exactly_one_live_page(file_site: Site) -> None:
    site = file_site
    for n in range(1, 1151):
        site.rows.job(created_at=ago(minutes=n))
    site.publish()
    for _ in range(70):
        site.rows.job(created_at=site.now)
    site.later(15).publish()
    names = ["jobs", *(f"jobs.{page}" for page in range(2, 11))]
    shown = [each["id"] for name in names for each in site.rows_of(f"{name}.json")]
    assert len(shown) == len(set(shown)) == 1070


@pytest.mark.parametrize("remembered", [True, False])
def test_page_gone_from_a_list_that_became_shorter_is_deleted(
    file_site: Site, remembered: bool
) -> None:
    site = file_site
    jobs = [site.rows.ended_job(ended=ago(minutes=2 * n)) for n in range(1, 131)]
    site.publish()
    assert "jobs.2.html" in site.place.paths()
    site.rows.database.execute("DELETE FROM jobs WHERE job_id <> %s", jobs[0])
    if not remembered:
        site.place.delete("manifest.json")
    assert set(site.later(15).publish().deleted) == pages("jobs.2")


def test_deleted_objects_come_back(small: Site) -> None:
    live = pages("index", "usage", "jobs", "workers", "runs", "404") | set(render.assets())
    for path in live:
        small.place.delete(path)
    assert small.later(15).uploads() >= live
    for path in live | {"manifest.json", "health.json"}:
        small.place.delete(path)
    assert small.later(15).uploads() >= live | {"manifest.json", "health.json"}


def test_object_that_somebody_wrote_over_is_mended(small: Site) -> None:
    before = small.text("index.html")
    small.place.write("index.html", b"<h1>It works!</h1>")
    assert "index.html" in small.later(15).uploads()
    assert small.text("index.html") == before


@pytest.mark.parametrize("damage", [b"", b"{}", b"[1]", b"\x1f\x8bnonsense", b'{"version": 7}'])
def test_memory_that_cannot_be_read_costs_one_publishing_and_nothing_else(
    small: Site, damage: bytes
) -> None:
    for path in ("manifest.json", "health.json", "days.json"):
        small.place.write(path, damage)
    assert small.later(15).uploads() >= {"manifest.json", "health.json", "days.json"}
    assert small.later(15).uploads() == set()


def test_what_a_page_leads_to_is_there_before_it(site: Site) -> None:
    _little_of_everything(site.rows)
    site.rows.failed_worker()
    recorded = Faulty(site.place.target())
    site.publish(target=recorded)
    puts = recorded.puts
    last_asset = max(puts.index(path) for path in render.assets())
    first_page = min(index for index, path in enumerate(puts) if path.endswith(".html"))
    assert last_asset < first_page
    [worker] = [path for path in puts if path.startswith("workers/") and path.endswith(".html")]
    assert puts.index(worker) < puts.index("workers.html")
    assert puts[-2:] == ["manifest.json", "health.json"]


def test_two_publishers_do_not_get_in_each_others_way(small: Site) -> None:
    url = small.rows.database.role_url("prod_reconcile")
    with reading.connect(url, "prod"), pytest.raises(BusyError):
        small.publish()
    with reading.connect(url, "staging"):
        small.publish()


def test_stored_objects_say_what_they_are(s3_site: Site) -> None:
    _little_of_everything(s3_site.rows)
    s3_site.publish()
    bucket = s3_site.place
    assert isinstance(bucket, Bucket)
    [style] = [path for path in render.assets() if path.endswith(".css")]
    for path, content_type, cache in (
        ("index.html", "text/html; charset=utf-8", "public, max-age=5"),
        ("jobs.json", "application/json", "public, max-age=5"),
        ("health.json", "application/json", "public, max-age=5"),
        (style, "text/css; charset=utf-8", "public, max-age=31536000, immutable"),
        ("days/2026-11-18/jobs.json", "application/json", "public, max-age=60"),
    ):
        head = bucket.head(path)
        assert (head["ContentType"], head["CacheControl"]) == (content_type, cache), path
        assert head["ContentEncoding"] == "gzip"


def test_stored_list_pages_say_how_many_there_are(s3_site: Site) -> None:
    for n in range(1, 131):
        s3_site.rows.ended_job(ended=ago(minutes=n))
    s3_site.publish()
    bucket = s3_site.place
    assert isinstance(bucket, Bucket)
    assert bucket.head("jobs.json")["Metadata"] == {"pages": "2"}
    assert bucket.head("jobs.2.html")["Metadata"] == {"pages": "2"}
    assert bucket.head("workers.json")["Metadata"] == {}
