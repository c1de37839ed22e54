"""What is kept of a payload: without noise, without secrets, whole otherwise."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhook_fn.http import RequestError
from webhook_fn.payload import DEPTH_LIMIT, parse, trim

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


@pytest.mark.parametrize(
    ("payload", "kept"),
    [
        ({"url": "x", "repos_url": "x", "html_url": "x"}, {"html_url": "x"}),
        ({"node_id": "x", "gravatar_id": "", "id": 1}, {"id": 1}),
        ({"client_secret": "x", "a": 1}, {"client_secret": "[removed]", "a": 1}),
        ({"Authorization": "y"}, {"Authorization": "[removed]"}),
        ({"token": None, "password": ""}, {"token": None, "password": ""}),
        ({"a": [{"encoded_jit_config": "eyJ"}]}, {"a": [{"encoded_jit_config": "[removed]"}]}),
        ({"webhook_secret": {"deep": "x"}}, {"webhook_secret": "[removed]"}),
        ({"m": f"use ghp_{'aB3' * 12} now"}, {"m": "use [removed] now"}),
        ({"m": f"x=github_pat_11AB{'0' * 18}_{'y' * 59}"}, {"m": "x=[removed]"}),
        ({"m": f"ghs_123_eyJh{'b' * 90}.eyJp{'c' * 200}.sig-_{'d' * 40}"}, {"m": "[removed]"}),
        ({f"gho_{'A' * 36}": 1}, {"[removed]": 1}),
        ({"m": "ghost_town"}, {"m": "ghost_town"}),
        ({"m": "ghp_short"}, {"m": "ghp_short"}),
        ({"m": "o/weighs_" + "less_" * 9}, {"m": "o/weighs_" + "less_" * 9}),
    ],
)  # fmt: skip
def test_trim(payload: dict[str, object], kept: dict[str, object]) -> None:
    parsed = parse(json.dumps(payload).encode())
    assert json.loads(trim(parsed, "d1")) == kept | {"_delivery": "d1"}


def nested(levels: int) -> bytes:
    return b'{"a":' * levels + b"1" + b"}" * levels


def test_depth_is_limited() -> None:
    trim(parse(nested(DEPTH_LIMIT)), "d")
    with pytest.raises(RequestError, match="nested deeper"):
        trim(parse(nested(DEPTH_LIMIT + 1)), "d")


@given(st.dictionaries(st.text(), json_values, max_size=5))
def test_what_is_kept_can_always_be_stored(payload: dict[str, object]) -> None:
    text = trim(parse(json.dumps(payload).encode()), "d")
    text.encode()  # no half surrogate pair
    stored = json.loads(text)
    assert "\x00" not in json.dumps(stored, ensure_ascii=False)
    assert "\\u0000" not in text.replace("\\\\", "")
