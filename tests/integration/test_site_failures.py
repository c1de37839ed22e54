"""What becomes of the site when its place fails: whole at every moment, and mended next time."""

import json
import re
from typing import Any

import pytest

from static_site import reading, render
from static_site.errors import DatabaseError, PublishError
from static_site.publish import Order, publish
from static_site.routing import resolve
from static_site.targets import Object
from tests.published_site import Faulty, Site, links, pages
from tests.site_rows import NOW, SiteRows, ago

AS_OF = re.compile(rb"2026-11-18T12:\d\d:\d\dZ|12:\d\d:\d\d UTC")


def busy_day(rows: SiteRows) -> None:
    rows.boards()
    for n in range(1, 131):
        worker = rows.worker(status="completed", created_at=ago(minutes=n + 5))
        rows.ended_job(ended=ago(minutes=n), k8s_pod=worker)
    rows.failed_worker(failed=ago(minutes=20))
    rows.run()


def next_moment(rows: SiteRows) -> None:
    """Something changes on every page, and pages move on."""
    for _ in range(110):
        rows.job(created_at=NOW)
        rows.worker(created_at=NOW)
    rows.failed_worker(failed=ago(seconds=1))
    rows.run(started_at=ago(seconds=2))


def assert_whole(site: Site) -> None:
    """Every page can be read, and leads nowhere where there is nothing."""
    paths = site.place.paths()
    for path in paths:
        body = site.place.read(path)
        if path.endswith(".json"):
            json.loads(body)
        if path.endswith(".html"):
            text = body.decode()
            assert text.rstrip().endswith("</html>"), path
            for link in links(text):
                address, _, query = link.replace("&amp;", "&").partition("?")
                found = resolve(address, query, site.now.date())
                if "start=" in query:  # A day may have nothing to tell; days.json says which has.
                    continue
                assert found.file is not None, (path, link)
                assert found.file.removeprefix("/") in paths, (path, link)


def attempt(site: Site, *, fails_from: int) -> str | None:
    """Publishes to a place that takes so many objects and no more; why it failed, if it did."""
    broken = Faulty(site.place.target(), lambda count, _path: count >= fails_from)
    try:
        site.publish(target=broken)
    except PublishError as error:
        return str(error)
    return None


def test_failed_upload_leaves_the_old_site_whole_and_is_repaired_next_time(site: Site) -> None:
    busy_day(site.rows)
    site.publish()
    assert_whole(site)
    next_moment(site.rows)
    site.later(15)
    failed = 0
    for number in range(1, 200, 2):
        error = attempt(site, fails_from=number)
        assert_whole(site)
        if error is None:
            break
        assert "no space left" in error
        failed += 1
    assert failed >= 5
    site.later(minutes=11).publish()  # The day's files are made anew only now and then.
    mended = site.contents()
    site.publish(from_scratch=True)
    anew = site.contents()
    for each in (mended, anew):
        del each["manifest.json"]
    assert {path: AS_OF.sub(b"", body) for path, body in mended.items()} == {
        path: AS_OF.sub(b"", body) for path, body in anew.items()
    }


def test_one_object_that_cannot_be_put_is_put_next_time(site: Site) -> None:
    busy_day(site.rows)
    broken = Faulty(site.place.target(), lambda _count, path: path == "usage.html")
    with pytest.raises(PublishError, match=r"usage\.html: no space left"):
        site.publish(target=broken)
    assert "health.json" not in site.place.paths(), "it would say that all is as of now"
    again = site.later(15).uploads()
    assert pages("usage") <= again, "a page and its twin are of the same moment"
    assert "index.html" not in again, "what was done is remembered"
    assert_whole(site)


def test_page_that_cannot_be_made_is_told_and_keeps_no_other_from_being(
    file_site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy_day(file_site.rows)

    def html(template: str, *arguments: Any, **options: Any) -> str:
        if template == "usage":
            raise ZeroDivisionError("a fault")
        return made(template, *arguments, **options)

    made = render.html
    monkeypatch.setattr(render, "html", html)
    report = file_site.publish()
    assert report.problems == ["usage cannot be made: ZeroDivisionError('a fault')"]
    assert pages("index", "jobs") <= file_site.place.paths()
    assert not pages("usage") & file_site.place.paths()
    monkeypatch.undo()
    assert pages("usage") <= file_site.later(15).uploads()


def test_failed_worker_of_another_shape_has_a_page(file_site: Site) -> None:
    busy_day(file_site.rows)
    file_site.publish()
    odd = file_site.rows.failed_worker(failed=ago(seconds=1), k8s_node=None)
    file_site.rows.update("workers", "pod_name", odd, failure_info={"reason": ["?"], "pod": 7})
    assert pages(f"workers/{odd}") <= file_site.later(15).uploads()


def test_odd_values_stop_no_page(file_site: Site) -> None:
    busy_day(file_site.rows)
    rows = file_site.rows
    deep = "[" * 3000 + "]" * 3000
    for info in ('{"x": 1e5000}', f'{{"reason": "pod_failed", "x": {deep}}}', "7", '["a"]'):
        worker = rows.failed_worker(failed=ago(minutes=1))
        rows.database.execute(
            "UPDATE workers SET failure_info = %s::jsonb WHERE pod_name = %s", info, worker
        )
    rows.failed_worker(failed=ago(minutes=1), pod_name="x" * 300)
    job = rows.job(job_name="n" * 100_000, workflow_name="<" * 10_000)
    rows.database.execute("UPDATE jobs SET job_labels = '[1e5000]' WHERE job_id = %s", job)
    report = file_site.publish()
    assert report.problems == []
    assert len(file_site.place.read("jobs.html")) < 200_000


class Ticking:
    """A clock that only those move who take time."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def monotonic(self) -> float:
        return self.seconds


def test_slow_place_is_left_when_the_time_is_over(
    file_site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each object takes a second, of five. They are put eight at once, so that some are under way
    when the time is over; and then what was done is written down."""
    busy_day(file_site.rows)
    clock = Ticking()
    monkeypatch.setattr("static_site.publish.time", clock)

    class Slow(Faulty):
        def put(self, item: Object) -> str:
            clock.seconds += 1
            return super().put(item)

    slow = Slow(file_site.place.target())
    url = file_site.rows.database.role_url("prod_reconcile")
    with pytest.raises(PublishError, match="not done within 5 s") as raised:
        publish(Order(url, "prod", "prod", NOW, seconds=5), slow)
    assert 5 <= len(slow.puts) <= 5 + 8 + 1
    assert raised.value.uploaded == len(slow.puts)
    monkeypatch.undo()
    file_site.later(15).publish()
    assert_whole(file_site)


def test_time_that_is_over_is_told(file_site: Site) -> None:
    busy_day(file_site.rows)
    url = file_site.rows.database.role_url("prod_reconcile")
    with pytest.raises(PublishError, match="not done within 0 s"):
        publish(Order(url, "prod", "prod", NOW, seconds=0), file_site.place.target())


def test_database_that_cannot_be_reached_is_told(file_site: Site) -> None:
    url = "postgresql://nobody@127.0.0.1:1/none?connect_timeout=2"
    with pytest.raises(DatabaseError, match="The database cannot be reached"):
        publish(Order(url, "prod", "prod", NOW, seconds=30), file_site.place.target())


def test_site_of_another_environment_is_not_written_over(file_site: Site) -> None:
    file_site.publish()
    before = file_site.contents()
    url = file_site.rows.database.role_url("staging_reconcile")
    order = Order(url, "staging", "staging", NOW, seconds=30)
    with pytest.raises(PublishError, match="The site of prod is there already"):
        publish(order, file_site.place.target())
    assert file_site.contents() == before


def test_publisher_may_change_nothing(file_site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has the run's login, but its session only reads."""
    url = file_site.rows.database.role_url("prod_reconcile")
    monkeypatch.setitem(reading.QUERIES, "last_run", b"DELETE FROM boards RETURNING 1, 2, 3, 4")
    with reading.connect(url, "prod") as reader, pytest.raises(DatabaseError, match="read-only"):
        reader.live(NOW, 1, 1)
