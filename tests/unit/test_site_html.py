"""Pages: valid HTML, to which names and logs add text and nothing else."""

import re
from collections import Counter
from urllib.parse import urlsplit

import pytest

from static_site import render
from tests.site_hostile import TEXTS
from tests.site_pages import by_class, by_id, failed_worker, of_list, page, parsed, text
from tests.site_sample_rows import job
from tests.site_samples import sites

PAGES = [(kind, file) for kind, site in sites().items() for file in site.pages]
SOME = [(kind, file) for kind, file in PAGES if not re.search(r"\.([3-9]|\d\d)\.html", file)]


# Every page ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "file"), PAGES)
def test_page_is_strictly_valid(kind: str, file: str) -> None:
    page(kind, file)


@pytest.mark.parametrize(("kind", "file"), SOME)
def test_ids_are_unique_and_what_refers_to_them_finds_them(kind: str, file: str) -> None:
    root = page(kind, file)
    ids = Counter(each.get("id") for each in root.iter() if each.get("id"))
    assert [name for name, count in ids.items() if count > 1] == []
    assert not [name for name in ids if re.search(r"\s", name or "")]
    for each in root.iter():
        for attribute in ("for", "list", "aria-labelledby", "aria-describedby"):
            for name in (each.get(attribute) or "").split():
                assert name in ids, f"{attribute}={name}"
        if (href := each.get("href") or "").startswith("#"):
            assert href[1:] in ids, href


@pytest.mark.parametrize(("kind", "file"), SOME)
def test_nothing_is_inline_that_the_policy_forbids(kind: str, file: str) -> None:
    for each in page(kind, file).iter():
        assert "style" not in each.attrib
        assert each.tag != "style"
        assert not [name for name in each.attrib if name.lower().startswith("on")]
        if each.tag == "script":
            assert each.get("src")
            assert not each.text


KNOWN = re.compile(
    r"/|/(usage|jobs|workers|runs)|/workers/[^/]+"
    r"|/(index|usage|jobs|workers|runs|health|days)\.json|/workers/[^/]+\.json"
    r"|/assets/[a-z]+\.[0-9a-f]{12}\.(css|js|svg)"
)
ASKED = re.compile(r"(start|end|page|status|entity|text)=[^&]*(&|$)")


@pytest.mark.parametrize(("kind", "file"), SOME)
def test_links_lead_to_pages_there_are_or_out_by_https(kind: str, file: str) -> None:
    for each in page(kind, file).iter():
        for address in filter(None, (each.get("href"), each.get("src"), each.get("action"))):
            if each.tag == "a" and address.startswith("https://github.com/"):
                continue
            if address.startswith("#"):
                continue
            parts = urlsplit(address)
            assert not parts.scheme, address
            assert not parts.netloc, address
            assert KNOWN.fullmatch(parts.path), address
            assert not ASKED.sub("", parts.query), address


@pytest.mark.parametrize(("kind", "file"), SOME)
def test_page_has_its_landmarks_and_one_heading_above_all(kind: str, file: str) -> None:
    root = page(kind, file)
    counts = Counter(each.tag for each in root.iter())
    assert (counts["h1"], counts["main"], counts["title"]) == (1, 1, 1)
    assert counts["header"] >= 1
    assert counts["footer"] == 1
    for table in root.iter("table"):
        assert table.find("caption") is not None or "reasons" in (table.get("class") or "")
        assert all(cell.get("scope") for cell in table.iter("th"))


# Markup in names -------------------------------------------------------------------------------


def shown(hostile: str) -> str:
    """What is seen of a text, with spaces as HTML has them."""
    return " ".join(render._UNFIT.sub(render._visible, hostile).replace("\r\n", "␍ ").split())


@pytest.mark.parametrize("file", sites()["hostile"].pages)
def test_names_make_no_elements(file: str) -> None:
    """Every element and attribute of a hostile page is one that harmless pages have as well."""
    template = sites()["hostile"].pages[file].template
    ours = set()
    for kind in ("calm", "busy", "broken"):
        for other, its in sites()[kind].pages.items():
            if its.template == template and (kind, other) in SOME:
                ours |= {
                    (str(e.tag), name) for e in page(kind, other).iter() for name in ["", *e.attrib]
                }
    found = {(str(e.tag), n) for e in page("hostile", file).iter() for n in ["", *e.attrib]}
    assert found - ours == set()


@pytest.mark.parametrize("hostile", TEXTS)
def test_hostile_text_is_shown_as_it_is(hostile: str) -> None:
    names = dict.fromkeys(("name", "repository", "entity", "pool"), hostile)
    none = dict.fromkeys(("workflow", "attempt", "url"))
    made = job(7, "2026-11-18T11:00:00Z", "pending", labels=[hostile], **names, **none)
    row = by_id(of_list("jobs", [made]), "j7")
    assert text(row.find("th/b")) == shown(hostile)
    assert text(row.find("th/p")) == shown(hostile)
    assert text(row.find("td/code")) == shown(hostile)
    assert shown(row.get("data-entity") or "") == shown(hostile)


@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", "http://github.com/", "//github.com/", "JAVASCRIPT:x", " https://x"],
)
def test_only_https_becomes_a_link(url: str) -> None:
    row = by_id(of_list("jobs", [job(7, "2026-11-18T11:00:00Z", "running", url=url)]), "j7")
    assert row.find("th/a") is None
    assert row.find("th/b") is not None


def test_log_keeps_its_lines_and_loses_its_colours() -> None:
    said = "plain\n\x1b[31mred\x1b[0m\r\n<b>bold</b>\n\n\tend\n"
    model = {**sites()["broken"].pages[failed_worker()].model}
    model["logs"] = [{"container": "runner", "text": said}]
    log = by_class(parsed(render.html("worker", model, environment="prod", as_of=None)), "log")[0]
    lines = ["".join(each.itertext()) for each in log.findall("span")]
    assert lines == ["1plain\n", "2red\n", "3<b>bold</b>\n", "4\n", "5\tend\n"]
