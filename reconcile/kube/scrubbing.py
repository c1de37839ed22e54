"""Texts from outside, made fit to be kept: without credentials, without what PostgreSQL refuses,
and no longer than they may be. Pure.

What is scrubbed is taken out of the whole text before anything is cut off it, so that no cut can
make half a credential unrecognisable.
"""

import re
from collections.abc import Callable

SCRUBBED = "[scrubbed]"
MESSAGE_LIMIT = 2_000
LOOKED_AT = 16_384  # of a message; its rest is not worth the time

# Base64 in both alphabets, and as it looks escaped in a URL or in JSON (%2B, \/, \n).
_CODE = r"[A-Za-z0-9+/_=%\\-]"
_START = rf"(?<!{_CODE})"  # at the start of a run only: scrubbing takes time linear in the text
_NO_RULER = r"(?=[+/_=%\\-]*[A-Za-z0-9])"  # a line of dashes hides nothing
_LINE = rf"{_NO_RULER}{_CODE}{{60,}}"
_BREAK = r"[ \t\r]*\n[ \t]*"


def _without_jwt(found: re.Match[str]) -> str:
    """A JWT begins with an object in base64. A word before it is its name, more is a part of it."""
    text = found[0]
    start = text.find("eyJ")
    if start < 0:
        return text
    return (text[:start] if start < 24 else "") + SCRUBBED


# In this order: each looks at what the ones before it left.
_PATTERNS: list[tuple[str, str | Callable[[re.Match[str]], str]]] = [
    # A runner's configuration by its name, as an environment shows it, JSON or a command line.
    (r"(?i)(jit_?config[\\\"']*[ \t]*[:=][ \t]*[\\\"']*)[^\s\"']+", rf"\1{SCRUBBED}"),
    (r"(?i)(--jitconfig[ \t]+[\\\"']*)[^\s\"']+", rf"\1{SCRUBBED}"),
    # A header's value is everything up to the end of its line, whatever its scheme.
    (r"(?i)(authorization[\\\"']*[ \t]*[:=]).*", rf"\1 {SCRUBBED}"),
    (r"(?i)(bearer(?:[ \t:=\\\"']|%20)+)[^\s\"']+", rf"\1{SCRUBBED}"),
    # GitHub's tokens. The newer ones of installations hold a JWT, so with dots. What looks like
    # one within something longer is a part of that, and the rest must not stay behind.
    (rf"(?:{_START}{_CODE}{{24,}})?(?:gh[oprsu]|github_pat)_[A-Za-z0-9_.-]{{16,}}", SCRUBBED),
    # Whatever has dots in it; what is done about it depends on whether it is a JWT.
    (rf"{_START}{_CODE}++(?:\.{_CODE}++)+", _without_jwt),
    # Anything long enough to be a configuration or a key, also when it was wrapped into lines.
    (rf"{_START}{_NO_RULER}{_CODE}{{120,}}", SCRUBBED),
    (rf"{_START}{_LINE}(?:{_BREAK}{_LINE})+(?:{_BREAK}{_CODE}+)?", SCRUBBED),
]
_RULES = [(re.compile(pattern), replacement) for pattern, replacement in _PATTERNS]

# PostgreSQL's jsonb holds neither.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def scrub(text: str) -> str:
    """The text without anything that could be a credential, and storable."""
    text = _UNSTORABLE.sub(_REPLACEMENT, text)
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text


def message(value: object, limit: int = MESSAGE_LIMIT) -> str | None:
    """A text of the API's, if it is one."""
    if not isinstance(value, str) or not value:
        return None
    if len(value) > LOOKED_AT:
        # Up to the last word that is whole: half of one could be half a credential.
        end = max(value.rfind(space, 0, LOOKED_AT) for space in " \t\n")
        value = value[: end + 1] + "…"
    text = scrub(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"
