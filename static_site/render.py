"""Page models to HTML, and the files that pages need.

Whatever names, labels and logs say stays text: everything is escaped, and what no HTML may hold is
replaced. `VERSION` is another one whenever pages would look another way.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from .formats import clock
from .headers import META_CONTENT_SECURITY_POLICY
from .views import lists, overview, usage, worker

_HERE = Path(__file__).parent
_TEMPLATES = _HERE / "templates"
_ASSETS = _HERE / "assets"
_CODE = ("render.py", "charts.py", "formats.py", "views/*.py")

NAVIGATION = (
    ("overview", "/", "Overview"),
    ("usage", "/usage", "Usage"),
    ("jobs", "/jobs", "Jobs"),
    ("workers", "/workers", "Workers"),
    ("runs", "/runs", "Runs"),
)

View = Callable[[Mapping[str, Any]], dict[str, Any]]


def _missing(_model: Mapping[str, Any]) -> dict[str, Any]:
    return {"section": "", "title": "No such page", "address": "", "twin": ""}


_VIEWS: dict[str, View] = {
    "overview": overview.view,
    "usage": usage.view,
    "list": lists.view,
    "worker": worker.view,
    "missing": _missing,
}


def html(template: str, model: Mapping[str, Any], *, environment: str, as_of: str | None) -> str:
    """A page. `as_of` is when it was made, None for what will not change any more."""
    said = _VIEWS[template](model)
    common = {"environment": environment, "as_of": as_of, "as_of_clock": clock(as_of)}
    page = _environment().get_template(f"{template}.html").render(said, **common)
    # Almost every page is printable, which is found out much sooner.
    return page if page.replace("\n", "").isprintable() else _UNFIT.sub(_visible, page)


@cache
def assets() -> dict[str, bytes]:
    """By their path in the site. Their names have their hash, so they can be kept for ever."""
    found = {}
    for path in sorted(_ASSETS.iterdir()):
        content = path.read_bytes()
        name = f"{path.stem}.{sha256(content).hexdigest()[:12]}{path.suffix}"
        found[f"assets/{name}"] = content
    return found


def _asset(name: str) -> str:
    stem, _, suffix = name.partition(".")
    return next(
        f"/{path}"
        for path in assets()
        if path.startswith(f"assets/{stem}.") and path.endswith(f".{suffix}")
    )


def _version() -> str:
    digest = sha256()
    code = [path for pattern in _CODE for path in sorted(_HERE.glob(pattern))]
    for path in [*code, *sorted(_TEMPLATES.iterdir()), *sorted(_ASSETS.iterdir())]:
        digest.update(f"{path.name}\0{path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


VERSION = _version()


# Templates -------------------------------------------------------------------------------------


class _Trimmed(FileSystemLoader):
    """Templates are indented for those who read them; pages need not be."""

    def get_source(
        self, environment: Environment, template: str
    ) -> tuple[str, str, Callable[[], bool]]:
        source, name, current = super().get_source(environment, template)
        return re.sub(r"\n\s+", "\n", source), name, current


@cache
def _environment() -> Environment:
    made = Environment(
        loader=_Trimmed(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        auto_reload=False,
        cache_size=-1,
    )
    made.globals.update(
        navigation=NAVIGATION,
        policy=META_CONTENT_SECURITY_POLICY,
        css=_asset("site.css"),
        js=_asset("site.js"),
        favicon=_asset("favicon.svg"),
    )
    return made


def warm_up() -> None:
    """All templates compiled, for whoever forks for each publishing."""
    for name in _environment().list_templates():
        _environment().get_template(name)


# What no HTML may hold, not even escaped, and what turns the direction of the words around it.
# Nothing of ours has it: it comes from names and logs.
_BEYOND = range(0x1FFFE, 0x110000, 0x10000)
_UNFIT = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"
    + "".join(f"{chr(code)}{chr(code + 1)}" for code in _BEYOND)
    + "]"
)


def _visible(match: re.Match[str]) -> str:
    """Control characters have pictures of their own; for the rest stands one sign."""
    code = ord(match[0])
    return chr(0x2400 + code) if code < 0x20 else "\u2421" if code == 0x7F else "\ufffd"
