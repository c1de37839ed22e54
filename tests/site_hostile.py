"""A site in which every text is hostile: markup, quotes, control characters, other directions."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.site_samples import Site

TEXTS = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "{{ 7 * 7 }}{% raw %}",
    "</td></tr></table><h1>gone</h1>",
    "<!-- ]]> --> &amp; &lt; &#x202e;",
    "\u202eevil \u2066right to left\u202c",
    "\u0645\u0631\u062d\u0628\u0627",
    "control \x00\x07\x1b[31mred\x1b[0m \x7f\x85\ufffe\udc80",
    "long" * 300,
    "long words " * 60,
    "\U0001f9ea\u0301\u0301\u0301 é",
    "line\r\nbreak\u2028and\ttab",
    "</title></style></script><svg onload=alert(1)>",
)
URLS = (
    "javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "//elsewhere.example/",
    "http://elsewhere.example/",
    " https://elsewhere.example/",
    'https://github.com/"onclick="alert(1)',
)
# What the system itself writes, and nobody outside can: times, days, counts, names of lists.
OURS = {
    *("list_name", "day", "at", "as_of", "time", "until", "oldest_queued_at", "running_at"),
    *("queued_at", "started_at", "completed_at", "created_at", "oldest_day"),
}
CHOSEN = {"status", "conclusion", "state", "last_state"}


class _Texts:
    """Each text in its turn, so that all of them come up, and each place has another."""

    def __init__(self) -> None:
        self.given = 0

    def of(self, key: str, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: self.of(name, each) for name, each in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(self.of(key, each) for each in value)
        if not isinstance(value, str) or key in OURS:
            return value
        self.given += 1
        if key == "url":
            return URLS[self.given % len(URLS)]
        # Some keep their state, so that what belongs to a state is shown, too.
        if key in CHOSEN and self.given % 3:
            return value
        text = TEXTS[self.given % len(TEXTS)]
        # No two workers have one name, and no two groups one account and the same labels.
        return f"{text} {self.given}" if key in ("name", "entity") else text


def hostile(site: "Site") -> "Site":
    texts = _Texts()
    for file, page in site.pages.items():
        site.pages[file] = page._replace(model=texts.of("", page.model))
    return site
