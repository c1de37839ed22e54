"""Pages say what their models say."""

import re
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree
from xml.etree.ElementTree import Element

import pytest

from static_site import headers, render
from tests.site_pages import by_class, by_id, failed_worker, page, parsed, text
from tests.site_samples import sites

LISTS = ("jobs", "workers", "runs")


def test_environment_is_told_unless_it_is_production() -> None:
    assert [text(each) for each in by_class(page("broken", "/index.html"), "badge")] == ["staging"]
    assert by_class(page("calm", "/index.html"), "badge") == []


@pytest.mark.parametrize(
    ("file", "current"),
    [("/index.html", "/"), ("/usage.html", "/usage"), *((f"/{x}.2.html", f"/{x}") for x in LISTS)],
)
def test_navigation_tells_where_one_is(file: str, current: str) -> None:
    navigation = by_class(page("busy", file), "nav")[0]
    assert [each.get("href") for each in navigation.iter("a") if each.get("aria-current")] == [
        current
    ]


@pytest.mark.parametrize(
    ("file", "twin"),
    [
        ("/index.html", "/index.json"),
        ("/usage.html", "/usage.json"),
        ("/jobs.html", "/jobs.json"),
        ("/jobs.2.html", "/jobs.json?page=2"),
        ("/days/2026-11-17/jobs.2.html", "/jobs.json?start=2026-11-17&end=2026-11-17&page=2"),
    ],
)
def test_twin_is_linked_in_the_head_and_in_sight(file: str, twin: str) -> None:
    root = page("busy", file)
    alternate = next(each for each in root.iter("link") if each.get("rel") == "alternate")
    assert alternate.get("href") == twin
    assert twin in [each.get("href") for each in by_class(root, "foot")[0].iter("a")]


def test_policy_is_in_the_page_as_well() -> None:
    metas = {
        each.get("http-equiv"): each.get("content")
        for each in page("calm", "/404.html").iter("meta")
    }
    assert metas["Content-Security-Policy"] == headers.META_CONTENT_SECURITY_POLICY


def test_time_of_a_page_is_told_and_settled_days_say_that_they_stay() -> None:
    assert text(by_id(page("busy", "/jobs.html"), "as-of")) == "as of 12:00:05 UTC"
    settled = page("busy", "/days/2026-11-16/jobs.html")
    assert text(by_id(settled, "as-of")) == "will not change any more"
    assert "settled" in text(settled.find(".//main"))
    assert next(settled.iter("body")).get("data-live") is None


def test_assets_are_named_by_their_content() -> None:
    names = [path.split(".")[0::2] for path in render.assets()]
    assert sorted(map(tuple, names)) == [
        ("assets/favicon", "svg"),
        ("assets/site", "css"),
        ("assets/site", "js"),
    ]
    html = sites()["calm"].html("/index.html")
    assert all(f'"/{path}"' in html for path in render.assets())


def test_version_changes_with_any_template(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert render._version() == render.VERSION
    templates = copytree(render._TEMPLATES, tmp_path / "templates")
    monkeypatch.setattr(render, "_TEMPLATES", templates)
    assert render._version() == render.VERSION
    (templates / "_jobs.html").write_text("another")
    assert render._version() != render.VERSION


# Overview, usage, a failed worker -------------------------------------------------------------


def cells(root: Element) -> Iterator[Element]:
    for table in by_class(root, "heat-map"):
        yield from table.iter("td")


def test_heat_map_tells_every_cell_in_words_and_figures() -> None:
    for cell in cells(page("broken", "/index.html")):
        assert re.search(
            r"(wait p95 .+|nothing began), (\d+ of \d+ failed|nothing ended)",
            cell.get("title") or "",
        )
        spans = cell.findall("span")
        assert len(spans) in (1, 2)
        assert len(spans) == 1 or all(text(each) for each in spans)


def test_broken_platform_is_a_red_column_and_a_broken_pipeline_red_cells() -> None:
    table = by_class(page("broken", "/index.html"), "heat-map")[0]
    red = [
        [cell.findall("span")[-1].get("class") == "h4" for cell in row.findall("td")]
        for row in table.iterfind("tbody/tr")
    ]
    assert all(row[17] and row[18] for row in red)
    names = [text(row.find("th")) for row in table.iterfind("tbody/tr")]
    assert all(red[names.index("ggml-org")][20:24])


def test_charts_say_what_they_show_and_have_their_numbers_in_a_table() -> None:
    root = page("busy", "/index.html")
    charts = by_class(root, "chart")
    assert len(charts) == 3
    for chart in charts:
        title, words = (chart.get("aria-labelledby") or "").split()
        assert text(by_id(root, title))
        assert text(by_id(root, words))
    for name in ("waits", "hourly", "daily"):
        assert len(list(by_id(root, f"{name}-numbers").iterfind("table/tbody/tr"))) in (7, 24)


def test_empty_overview_has_words_instead_of_charts() -> None:
    root = page("empty", "/index.html")
    assert by_class(root, "chart") == []
    assert len(by_class(root, "empty")) == 8


def test_usage_tells_what_is_left_out() -> None:
    root = page("busy", "/usage.html")
    model = sites()["busy"].pages["/usage.html"].model
    told = [text(each) for each in by_class(root, "more")]
    assert f"{model['more_groups']} more groups" in told[-1]
    left = [group["more_jobs"] for group in model["groups"] if group["more_jobs"]]
    assert left
    assert [int(re.findall(r"\d+", each)[0]) for each in told if "all jobs" in each] == left


def test_few_groups_are_unfolded_and_many_are_not() -> None:
    usage = sites()["busy"].pages["/usage.html"].model
    one = {**usage, "groups": usage["groups"][:1]}
    for model, unfolded in ((one, True), (usage, False)):
        root = parsed(render.html("usage", model, environment="prod", as_of=None))
        assert {each.get("open") is not None for each in by_class(root, "group")} == {unfolded}


def test_failed_worker_says_what_it_means_and_what_to_do() -> None:
    file = failed_worker()
    reason = sites()["broken"].pages[file].model["reason"]
    said = text(by_class(page("broken", file), "reason")[0])
    assert reason["slug"] in said
    assert reason["words"] in said
    assert reason["advice"] in said


def test_hidden_log_is_explained_and_missing_parts_are_told() -> None:
    assert "may tell about a private repository" in text(page("broken", failed_worker(1)))
    said = text(page("broken", failed_worker(2)))
    assert "The pod could not be read" in said
    assert "There is no log" in said
    assert "no events about this pod" in said


def test_missing_page_leads_on() -> None:
    links = {each.get("href") for each in page("calm", "/404.html").iter("a")}
    assert {"/", "/usage", "/jobs", "/workers", "/runs"} <= links
