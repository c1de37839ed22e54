"""The setup pages as HTML: valid, without scripts, and nothing of the visitor's in them."""

import base64
import hashlib
import re
from collections import Counter
from xml.etree.ElementTree import Element

import pytest
import yaml

from reconcile.sim.github import workflow
from tests.site_hostile import TEXTS
from tests.site_pages import parsed, text
from webhook_fn import setup_page
from webhook_fn.routes import Accounts, Route, Routes
from webhook_fn.setup_page import render, runs_on
from webhook_fn.setup_words import ORGANIZATIONS, PAGES, PERSONAL, Kind, Verdict

LABELS = ("ubuntu-24.04-riscv",)
ROUTES = Routes(
    (
        Route(("for-a-few",), "p", "i", entities=Accounts(frozenset({1}))),
        Route(LABELS, "p", "i"),
        Route(("self-hosted", *LABELS), "p", "i"),
        Route(("for-one",), "p", "i", repositories=frozenset({"a/b"})),
        Route(LABELS, "another-pool", "i"),
    )
)
EVERY = [(verdict, kind) for verdict in Verdict for kind in (ORGANIZATIONS, PERSONAL)]
NAMES = [f"{verdict}-{kind.type}" for verdict, kind in EVERY]
EVERY_PAGE = pytest.mark.parametrize(("verdict", "kind"), EVERY, ids=NAMES)


def page(verdict: Verdict, kind: Kind = ORGANIZATIONS, routes: Routes = ROUTES) -> Element:
    return parsed(render(verdict, kind, routes))


def codes(root: Element) -> list[str]:
    return ["".join(each.itertext()) for each in root.iter("pre")]


def test_there_is_a_page_for_every_verdict() -> None:
    assert set(PAGES) == set(Verdict)


@EVERY_PAGE
def test_page_is_strictly_valid_and_has_its_landmarks(verdict: Verdict, kind: Kind) -> None:
    root = page(verdict, kind)
    assert root.get("lang") == "en"
    counts = Counter(each.tag for each in root.iter())
    assert (counts["h1"], counts["main"], counts["title"]) == (1, 1, 1)
    title, heading = (text(next(root.iter(tag))) for tag in ("title", "h1"))
    assert title == heading
    assert any(each.get("name") == "viewport" for each in root.iter("meta"))


@EVERY_PAGE
def test_texts_are_whole(verdict: Verdict, kind: Kind) -> None:
    shown = text(next(page(verdict, kind).iter("main")))
    assert not re.search(r"[{}`]|None|  ", shown)
    assert "a organization" not in shown


@EVERY_PAGE
def test_page_fetches_nothing_and_runs_nothing(verdict: Verdict, kind: Kind) -> None:
    for each in page(verdict, kind).iter():
        assert each.tag not in ("script", "link", "img", "iframe", "form", "object")
        for name in each.attrib:
            assert not name.lower().startswith("on")
            assert name not in ("style", "src")
        # The page's own address, and no other.
        assert each.get("href", "") == ""
        assert each.get("http-equiv") is None


def test_policy_allows_the_style_and_nothing_else() -> None:
    [style] = page(Verdict.GENERAL).iter("style")
    digest = hashlib.sha256((style.text or "").encode()).digest()
    policy = setup_page.HEADERS["content-security-policy"].split("; ")
    assert policy[0] == "default-src 'none'"
    assert policy[1] == f"style-src 'sha256-{base64.b64encode(digest).decode()}'"
    assert policy[2:] == ["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"]
    assert setup_page.HEADERS["referrer-policy"] == "no-referrer"


@EVERY_PAGE
def test_other_app_is_named_only_where_it_is_wanted(verdict: Verdict, kind: Kind) -> None:
    shown = text(next(page(verdict, kind).iter("main")))
    wanted = verdict in (Verdict.WRONG_ACCOUNT, Verdict.REQUESTED_WRONGLY)
    assert (kind.other_app in shown) == wanted


# Workflows ---------------------------------------------------------------------------------------


def test_example_is_a_workflow_for_the_first_route_that_everybody_has() -> None:
    example, others = codes(page(Verdict.INSTALLED))
    [job] = yaml.safe_load(example)["jobs"].values()
    assert job["runs-on"] == "ubuntu-24.04-riscv"
    workflow.parse("on: push\n" + example)
    assert others == "runs-on: [self-hosted, ubuntu-24.04-riscv]"


def test_routes_for_a_few_are_nobody_elses_business() -> None:
    for verdict in Verdict:
        html = render(verdict, ORGANIZATIONS, ROUTES)
        assert "for-a-few" not in html
        assert "for-one" not in html
        assert "another-pool" not in html


def test_without_a_route_for_everybody_people_are_told_to_ask() -> None:
    root = page(Verdict.INSTALLED, routes=Routes(ROUTES.routes[:1]))
    assert codes(root) == []
    assert "Ask whoever runs this service" in text(next(root.iter("main")))


ODD = ["true", "no", "null", "1", "1.0", "0x1f", "1e3", "~", "-", "a: b", "#x", "[x]", "x,y", "é"]
ODD += [
    "*a",
    "&a",
    "!a",
    "%a",
    "@a",
    "`a`",
    "'a'",
    '"a"',
    "a\\b",
    "{a}",
    "<b>",
    " a ",
    "y",
    "=",
    "",
]


@pytest.mark.parametrize("label", ODD)
def test_odd_labels_are_themselves_in_yaml(label: str) -> None:
    assert yaml.safe_load(runs_on((label,))) == {"runs-on": label}
    assert yaml.safe_load(runs_on((label, "x"))) == {"runs-on": [label, "x"]}


@pytest.mark.parametrize("label", [each for each in TEXTS if each.isprintable()])
def test_markup_in_labels_is_text(label: str) -> None:
    root = page(Verdict.INSTALLED, routes=Routes((Route((label,), "p", "i"),)))
    assert yaml.safe_load(codes(root)[0])["jobs"]["hello"]["runs-on"] == label
    plain = {each.tag for each in page(Verdict.INSTALLED).iter()}
    assert {each.tag for each in root.iter()} <= plain
