"""What strangers may see. The site is public: of a private repository neither name nor link, of
our own machines no address. What is not known to be public is private.
"""

import ipaddress
import re
from typing import Any

HIDDEN = "(private)"
# A runner that failed so has had no job, as far as is known, so that its log can tell of none.
BEFORE_ANY_JOB = frozenset(
    {
        "pod_stuck_pending",
        "runner_never_registered",
        "runner_idle",
        "provision_failed",
        "rate_limited",
    }
)

# What GitHub's runner writes when it takes a job; the job's name follows.
_TOOK_A_JOB = "Running job: "

_REPOSITORY_PATH = re.compile(r"(/repos/)[^/\s]+/[^/\s:?,;)'\"]+", re.IGNORECASE)
_GITHUB_PAGE = re.compile(
    r"(?<![\w.-])((?:www\.)?github\.com[/:])[^/\s]+/[^/\s:?,;)'\"]+", re.IGNORECASE
)
_URL_HOST = re.compile(r"\b([a-z][a-z0-9+.-]*://)[^/\s'\"]+", re.IGNORECASE)
# By what libpq, psycopg, TLS and resolvers call them: a name alone looks like any other word.
_QUOTED_HOST = re.compile(
    r"(\bhost(?:addr| ?name)?(?: ?[=:])? ?|server at |address |certificate for |valid for )"
    r"(['\"])[^'\"]*\2",
    re.IGNORECASE,
)
_LOOKED_UP = re.compile(r"(\blookup )[^\s:]+")
_IPV4 = re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b")
_IPV6 = re.compile(
    r"\[(?P<inside>[0-9a-f:.]*:[0-9a-f:.]*(?:%\w+)?)\](?::\d+)?"
    r"|(?<![\w:.])(?P<bare>(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?:%\w+)?)(?!\w)",
    re.IGNORECASE,
)


def public_text(text: str) -> str:
    """A message of ours, which may quote paths of GitHub's API and addresses."""
    text = _REPOSITORY_PATH.sub(rf"\1{HIDDEN}", text)
    text = _GITHUB_PAGE.sub(rf"\1{HIDDEN}", text)
    text = _URL_HOST.sub(r"\1…", text)
    text = _QUOTED_HOST.sub(r"\1\2…\2", text)
    text = _LOOKED_UP.sub(r"\1…", text)
    return _IPV6.sub(_without_ipv6, _IPV4.sub("…", text))


def _without_ipv6(found: re.Match[str]) -> str:
    """A time of day has colons, too; and one may follow the address."""
    text = found["inside"] or found["bare"]
    if _is_ipv6(text):
        return "…"
    return "…:" if text.endswith(":") and _is_ipv6(text[:-1]) else found[0]


def _is_ipv6(text: str) -> bool:
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True


def log_is_public(reason: str, public_job: bool | None, told: str = "") -> bool:
    """Whether a worker's log may be shown. `public_job` is None if it is not known to have taken
    one, which says little: a webhook may be missing. Then the way it failed must rule one out, and
    nothing that is `told` of it may name one."""
    if public_job is not None:
        return public_job
    return reason in BEFORE_ANY_JOB and _TOOK_A_JOB not in told


def without(value: Any, *secrets: str | None) -> Any:
    """A document without these names, wherever they stand in it."""
    names = [re.escape(secret) for secret in secrets if secret]
    if not names:
        return value
    return _without(value, re.compile("|".join(names), re.IGNORECASE))


def _without(value: Any, pattern: re.Pattern[str]) -> Any:
    if isinstance(value, str):
        return pattern.sub(HIDDEN, value)
    if isinstance(value, dict):
        return {name: _without(each, pattern) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_without(each, pattern) for each in value]
    return value
