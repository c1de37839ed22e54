"""Lists: what each row says, and where pages and days lead."""

from xml.etree.ElementTree import Element

import pytest

from static_site import model, render
from tests.site_pages import by_class, by_id, of_list, page, parsed, text
from tests.site_sample_rows import job, run, worker
from tests.site_samples import sites


def test_job_that_waits_says_what_for_and_until_when() -> None:
    wait = {
        "reason": "backing_off",
        "words": "Its runners failed.",
        "until": "2026-11-18T12:04:00Z",
    }
    row = by_id(of_list("jobs", [job(7, "2026-11-18T11:00:00Z", "pending", waiting=wait)]), "j7")
    assert text(by_class(row, "why")[0]) == "Its runners failed. backing_off until 18 Nov 12:04:00"
    assert text(by_class(row, "pill")[0]) == "waiting"


def test_job_that_was_given_up_says_why() -> None:
    given_up = job(7, "2026-11-18T11:00:00Z", "failed", reason="job_gone", message="It is gone.")
    row = by_id(of_list("jobs", [given_up]), "j7")
    assert text(by_class(row, "why")[0]) == "It is gone. job_gone"
    assert (row.get("data-status"), text(by_class(row, "pill")[0])) == ("failed", "given up")


@pytest.mark.parametrize(
    ("conclusion", "status", "tone", "word"),
    [
        ("success", "completed success", "ok", "succeeded"),
        ("failure", "completed failure", "bad", "failed"),
        ("timed_out", "completed failure", "bad", "timed out"),
        ("skipped", "completed cancelled", "off", "skipped"),
        (None, "completed", "off", "completed"),
    ],
)
def test_conclusion_is_told_by_shape_and_word(
    conclusion: str | None, status: str, tone: str, word: str
) -> None:
    rows = [job(7, "2026-11-18T11:00:00Z", "completed", conclusion=conclusion)]
    row = by_id(of_list("jobs", rows), "j7")
    pill = by_class(row, "pill")[0]
    assert (row.get("data-status"), pill.get("class"), text(pill)) == (status, f"pill {tone}", word)


def test_private_job_tells_its_account_and_nothing_else() -> None:
    none = dict.fromkeys(("repository", "workflow", "name", "url", "attempt"))
    rows = [job(7, "2026-11-18T11:00:00Z", "running", private=True, entity="acme", **none)]
    row = by_id(of_list("jobs", rows), "j7")
    assert text(row.find("th")) == "Private jobacme, private repository"
    assert row.find("th/a") is None


def test_worker_is_linked_only_if_it_failed() -> None:
    rows = [
        job(7, "2026-11-18T11:00:00Z", "completed", worker="a", worker_failed=True),
        job(8, "2026-11-18T11:00:00Z", "completed", worker="b", worker_failed=False),
    ]
    root = of_list("jobs", rows)
    links = {each.get("href") for each in root.iter("a")}
    assert "/workers/a" in links
    assert "/workers/b" not in links


def test_failed_worker_is_linked_in_the_list_of_workers() -> None:
    states = enumerate(("failed", "completed"))
    rows = [worker(number, "2026-11-18T11:00:00Z", state) for number, state in states]
    links = {each.get("href") for each in of_list("workers", list(rows)).iter("a")}
    assert [f"/workers/{each['name']}" in links for each in rows] == [True, False]


def test_long_errors_of_runs_are_folded_and_short_ones_are_not() -> None:
    rows = [run(1, "2026-11-18T11:00:00Z"), run(2, "2026-11-18T11:00:00Z")]
    rows[0]["error"] = "short"
    rows[1]["phases"][0] |= {"success": False, "error": "first line\n" + "more " * 200}
    root = of_list("runs", list(rows))
    assert text(by_id(root, "r1").find("td/p[@class='error']")) == "short"
    details = by_id(root, "r2-0")
    assert text(details.find("summary")).startswith("sync_jobs first line…")
    assert text(details.find("pre")).endswith("more more")


def numbers(root: Element) -> list[str]:
    return [text(each) for each in by_id(root, "pager").iter("li")]


def test_pager_leads_to_all_of_a_few_pages() -> None:
    root = page("busy", "/jobs.2.html")
    assert numbers(root) == [str(number) for number in range(1, 11)]
    links = {each.get("rel"): each.get("href") for each in by_id(root, "pager").iter("a")}
    assert (links["prev"], links["next"]) == ("/jobs", "/jobs?page=3")


def test_pager_leaves_out_most_of_many_pages() -> None:
    model = {**sites()["busy"].pages["/jobs.html"].model, "pages": 40, "page": 12}
    root = parsed(render.html("list", model, environment="prod", as_of=None))
    assert numbers(root) == ["1", "…", "10", "11", "12", "13", "14", "…", "40"]


def test_day_leads_to_the_days_around_it_and_to_its_parts() -> None:
    root = page("busy", "/days/2026-11-17/jobs.2.html")
    days = [each.get("href") for each in by_id(root, "days").iter("a")]
    assert days == [
        "/jobs?start=2026-11-16&end=2026-11-16",
        "/jobs?start=2026-11-18&end=2026-11-18",
        "/jobs",
    ]
    older = by_id(root, "page-older").get("href")
    assert older == "/jobs?start=2026-11-17&end=2026-11-17&page=3"
    assert by_id(root, "f-start").get("value") == "2026-11-17"


def test_newest_pages_lead_to_the_days_of_what_is_older() -> None:
    root = page("busy", "/jobs.10.html")
    address = next(by_id(root, "page-day").iter("a")).get("href")
    assert address == "/jobs?start=2026-11-17&end=2026-11-17"


@pytest.mark.parametrize("name", model.LISTS)
def test_empty_list_says_so(name: str) -> None:
    assert by_id(page("empty", f"/{name}.html"), "empty").get("hidden") is None
    assert by_id(page("busy", f"/{name}.html"), "empty").get("hidden") is not None
