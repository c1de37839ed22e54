"""From a body to a payload, and from a payload to what is kept of it.

PostgreSQL refuses some things JSON allows (NUL, half a surrogate pair) and JSON refuses some
things Python's parser allows (NaN). They are settled here, so that nothing further in can fail
on a value's spelling.
"""

import functools
import json
import math
import re
from typing import Any, cast

from .http import malformed

Payload = dict[str, Any]

DEPTH_LIMIT = 32  # GitHub's payloads nest six deep.
REMOVED = "[removed]"

# The two escapes by which a JSON string can hold what PostgreSQL refuses: rare, so most bodies
# pay one search for it. (A raw NUL is no JSON, a raw surrogate no UTF-8.)
_SUSPICIOUS_ESCAPE = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")

_SECRET_WORDS = ("token", "secret", "password", "private_key", "authorization", "jit_config")
# GitHub's five kinds of token and its fine-grained one; longer than a name that looks like one.
_TOKEN = re.compile(r"(?<![A-Za-z0-9])(?:gh[pousr]|github_pat)_[A-Za-z0-9_.-]{30,}")
_TOKEN_START = re.compile(r"gh[pousr]_|github_pat_")  # twenty times as fast to find nothing with
_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_NOISE = frozenset({"url", "node_id", "gravatar_id"})


def parse(body: bytes) -> Payload:
    """The body as a JSON object whose every string PostgreSQL can store, and without tokens."""
    try:
        text = body.decode()
        if _TOKEN_START.search(text):
            # A token has no character that JSON escapes, so it can be cut out of the text.
            text = _TOKEN.sub(REMOVED, text)
        payload: Any = _DECODER.decode(text)
    except UnicodeDecodeError:
        raise malformed("The body is not UTF-8.") from None
    except RecursionError:
        raise malformed(_TOO_DEEP) from None
    except ValueError:
        raise malformed("The body is not valid JSON.") from None
    if not isinstance(payload, dict):
        raise malformed("The body is not a JSON object.")
    if _SUSPICIOUS_ESCAPE.search(body):
        payload = _storable(payload, DEPTH_LIMIT)
    return cast("Payload", payload)


def trim(payload: Payload, delivery_id: str) -> str:
    """What the event log keeps: the payload as JSON text without API URLs and secrets.

    The delivery's id is added as `_delivery`, to find it again in the App's delivery log.
    """
    kept = _trimmed(payload, DEPTH_LIMIT)
    kept["_delivery"] = delivery_id
    return _COMPACT.encode(kept)


def _trimmed(value: Any, depth: int) -> Any:
    if depth == 0:
        raise malformed(_TOO_DEEP)
    if isinstance(value, list):
        return [
            _trimmed(item, depth - 1) if isinstance(item, (dict, list)) else item for item in value
        ]
    kept = {}
    for key, item in value.items():
        if _is_noise(key):
            continue
        if item and _names_secret(key):
            kept[key] = REMOVED
        elif isinstance(item, (dict, list)):
            kept[key] = _trimmed(item, depth - 1)
        else:
            kept[key] = item
    return kept


# GitHub has a few hundred keys, and a warm function knows them all.
@functools.lru_cache(maxsize=4096)
def _is_noise(key: str) -> bool:
    return key in _NOISE or (key.endswith("_url") and key != "html_url")


@functools.lru_cache(maxsize=4096)
def _names_secret(key: str) -> bool:
    lowered = key.lower()
    return any(word in lowered for word in _SECRET_WORDS)


def _storable(value: Any, depth: int) -> Any:
    if depth == 0:
        raise malformed(_TOO_DEEP)
    if isinstance(value, str):
        return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, dict):
        return {_storable(key, 1): _storable(item, depth - 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_storable(item, depth - 1) for item in value]
    return value


def _finite_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


_DECODER = json.JSONDecoder(parse_float=_finite_float, parse_constant=_refuse_constant)
_TOO_DEEP = f"The body is nested deeper than {DEPTH_LIMIT} levels."
