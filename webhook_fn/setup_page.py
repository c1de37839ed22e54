"""A setup page as HTML. It has no script and fetches nothing, and the policy holds it to that."""

import base64
import hashlib
import html
import json
import re

from .routes import Routes
from .setup_words import PAGES, Kind, Verdict

STYLE = """
:root {
  color-scheme: light dark;
  --page: #f5f6f8; --card: #fff; --sunken: #f2f4f6; --line: #e2e6eb; --text: #1b2026;
  --muted: #566070; --accent: #2f55c8; --plain: #566070; --good: #0f7553; --bad: #b8301a;
  --mono: ui-monospace, SFMono-Regular, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0d1015; --card: #151920; --sunken: #1b2029; --line: #272e39; --text: #e5e9ef;
    --muted: #99a4b2; --accent: #8eaeff; --plain: #99a4b2; --good: #55cfa2; --bad: #ff917c;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; padding: 6vh 16px; background: var(--page); color: var(--text);
  font: 16px/1.55 -apple-system, BlinkMacSystemFont, "Segoe UI", "Noto Sans", Helvetica, Arial,
    sans-serif;
}
main {
  max-width: 42rem; margin: 0 auto; padding: 28px 32px; background: var(--card);
  border: 1px solid var(--line); border-top: 4px solid var(--tone); border-radius: 10px;
}
.plain { --tone: var(--plain); }
.good { --tone: var(--good); }
.bad { --tone: var(--bad); }
h1 { margin: 0 0 8px; font-size: 1.5rem; line-height: 1.25; color: var(--tone); }
.plain h1 { color: var(--text); }
h2 { margin: 28px 0 8px; font-size: 1.05rem; }
p, ol { margin: 0 0 12px; }
ol { padding-left: 1.4em; }
li { margin-bottom: 6px; }
code, pre { font-family: var(--mono); font-size: .875rem; }
pre {
  margin: 0 0 12px; padding: 12px 14px; overflow-x: auto; background: var(--sunken);
  border: 1px solid var(--line); border-radius: 8px;
}
a { color: var(--accent); }
a:focus-visible, pre:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.muted { color: var(--muted); }
@media (max-width: 480px) { body { padding: 16px; } main { padding: 20px; } }
"""
_STYLE_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()

HEADERS = {
    "content-security-policy": (
        f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none';"
        " form-action 'none'; frame-ancestors 'none'"
    ),
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",  # The address has the installation's number in it.
}

# Everything else is quoted: a label may look like a number, a truth or nothing at all.
_PLAIN = re.compile(r"[a-z][a-z0-9]*(?:[._-][a-z0-9]+)*")
_WORDS = {"true", "false", "yes", "no", "on", "off", "y", "n", "null"}


def render(verdict: Verdict, kind: Kind, routes: Routes) -> str:
    page = PAGES[verdict]
    parts = [f"<h1>{_text(page.title, kind)}</h1>", f"<p>{_text(page.lead, kind)}</p>"]
    if page.steps:
        steps = "\n".join(f"<li>{_text(step, kind)}</li>" for step in page.steps)
        parts.append(f"<ol>\n{steps}\n</ol>")
    if page.again:
        # To the page's own address, which is nowhere written in it.
        parts.append('<p><a href="">Look again now</a></p>')
    if page.workflow:
        parts.append(_workflow(routes))
    content = "\n".join(parts)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{_text(page.title, kind)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<style>{STYLE}</style>
</head>
<body>
<main class="{page.tone}">
{content}
</main>
</body>
</html>
"""


def _text(template: str, kind: Kind) -> str:
    words = {name: getattr(kind, name) for name in Kind.__slots__}
    escaped = html.escape(template.format(**words))
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escaped)


def _workflow(routes: Routes) -> str:
    """Routes for certain accounts or repositories alone are nobody else's business."""
    lines = list(
        dict.fromkeys(runs_on(each.labels) for each in routes.routes if not each.is_limited)
    )
    heading = "<h2>In a workflow</h2>"
    if not lines:
        return f"{heading}\n<p>Ask whoever runs this service which labels to use.</p>"
    first, *others = lines
    example = f"jobs:\n  hello:\n    {first}\n    steps:\n      - run: uname -m"
    parts = [heading, _code(example, "An example of a workflow")]
    if others:
        parts.append("<p>In place of that line, any of these will do:</p>")
        parts.append(_code("\n".join(others), "Other runners"))
    parts.append(
        '<p class="muted">All labels of a line belong together: with one more or less of them a'
        " job finds no runner.</p>"
    )
    return "\n".join(parts)


def _code(text: str, name: str) -> str:
    # It may be wider than a phone, and is then scrolled, also without a mouse.
    code = f"<code>{html.escape(text)}</code>"
    return f'<pre tabindex="0" role="region" aria-label="{name}">{code}</pre>'


def runs_on(labels: tuple[str, ...]) -> str:
    each = [_scalar(label) for label in labels]
    return f"runs-on: {each[0] if len(each) == 1 else '[' + ', '.join(each) + ']'}"


def _scalar(label: str) -> str:
    if _PLAIN.fullmatch(label) and label not in _WORDS:
        return label
    return json.dumps(label, ensure_ascii=False)
