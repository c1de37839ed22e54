"""Pages of the sample sites as elements, parsed as strictly as it can be done."""

from functools import cache
from typing import Any
from xml.etree.ElementTree import Element

import html5lib

from tests.site_samples import Site, listed, sites


def parsed(html: str) -> Element:
    parser = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False)
    found: Element = parser.parse(html)
    return found


@cache
def page(kind: str, file: str) -> Element:
    return parsed(sites()[kind].html(file))


def of_list(name: Any, rows: list[Any], day: str | None = None) -> Element:
    """The first page of a list of these rows."""
    site = Site("prod", listed(name, rows, day), sites()["calm"].health, {"days": []})
    return parsed(site.html(next(iter(site.pages))))


def failed_worker(number: int = 0) -> str:
    """The file of the first one's page, or of another."""
    return [file for file in sites()["broken"].pages if file.startswith("/workers/")][number]


def text(element: Element | None) -> str:
    assert element is not None
    return " ".join("".join(element.itertext()).split())


def by_class(root: Element, name: str) -> list[Element]:
    return [each for each in root.iter() if name in (each.get("class") or "").split()]


def by_id(root: Element, name: str) -> Element:
    return next(each for each in root.iter() if each.get("id") == name)
