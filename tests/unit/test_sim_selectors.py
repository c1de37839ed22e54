"""Label and field selectors, and the quantities that are compared elsewhere."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconcile.sim.cluster.quantity import parse
from reconcile.sim.cluster.selectors import SelectorError, field_selector, label_selector

KEYS = st.sampled_from(["a", "b.c", "x.example/d"])
VALUES = st.sampled_from(["", "1", "two", "t-h_r.ee"])
LABELS = st.dictionaries(KEYS, VALUES)


@pytest.mark.parametrize(
    ("text", "labels", "matches"),
    [
        ("", {}, True),
        ("a=1", {"a": "1"}, True),
        ("a=1", {}, False),
        ("a==1,b=2", {"a": "1", "b": "2"}, True),
        ("a==1,b=2", {"a": "1"}, False),
        ("a!=1", {}, True),
        ("a = 1 , b", {"a": "1", "b": ""}, True),
        ("a=", {"a": ""}, True),
        ("a in (1,2),b", {"a": "2", "b": "x"}, True),
        ("a in ( 1 , 2 )", {"a": "3"}, False),
        ("a notin (1)", {}, True),
        ("a notin (1)", {"a": "1"}, False),
        ("!a", {}, True),
        ("! a", {"a": ""}, False),
        ("a in ()", {"a": ""}, True),
        ("a>3", {"a": "4"}, True),
        ("a<3", {"a": "4"}, False),
        ("a>3", {"a": "four"}, False),
        ("a>3", {}, False),
    ],
)
def test_labels_match(text: str, labels: dict[str, str], matches: bool) -> None:
    assert label_selector(text)(labels) is matches


@pytest.mark.parametrize(
    "text", ["a in b", "a=b c", "=b", "a,", ",a", "a in (b", "a=(b)", "-a=b", "a=-b", "a>b", "a b"]
)
def test_what_is_no_selector_is_refused(text: str) -> None:
    with pytest.raises(SelectorError):
        label_selector(text)


@given(LABELS, KEYS, VALUES)
def test_equality_and_sets_agree_and_their_opposites_are_opposite(
    labels: dict[str, str], key: str, value: str
) -> None:
    holds = label_selector(f"{key}={value}")(labels)
    assert label_selector(f"{key} in ({value})")(labels) is holds
    assert label_selector(f"{key}!={value}")(labels) is not holds
    assert label_selector(f"{key} notin ({value})")(labels) is not holds
    assert label_selector(key)(labels) is not label_selector(f"!{key}")(labels)


FIELDS = frozenset({"metadata.name", "status.phase"})


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("", True),
        ("status.phase=Running", True),
        ("status.phase==Running,metadata.name=a", True),
        ("status.phase!=Running", False),
        ("status.phase!=Failed,status.phase!=Succeeded", True),
        ("metadata.name=", False),
    ],
)
def test_fields_match(text: str, matches: bool) -> None:
    fields = {"metadata.name": "a", "status.phase": "Running"}
    assert field_selector(text, FIELDS)(fields) is matches


@pytest.mark.parametrize("text", ["spec.color=red", "status.phase", "status.phase>1"])
def test_fields_that_are_not_supported_are_refused(text: str) -> None:
    with pytest.raises(SelectorError):
        field_selector(text, FIELDS)


@pytest.mark.parametrize(
    ("text", "canonical", "whole"),
    [
        ("1", "1", 1),
        ("0.5", "500m", 1),
        ("1000m", "1", 1),
        ("1500m", "1500m", 2),
        ("1000", "1k", 1000),
        ("1024Mi", "1Gi", 2**30),
        ("1.5Gi", "1536Mi", 3 * 2**29),
        ("128974848", "128974848", 128974848),
        ("1e3", "1e3", 1000),
        ("12E", "12E", 12 * 10**18),
        ("0", "0", 0),
        ("0Gi", "0", 0),
        (".5Ki", "512", 512),
        ("+1k", "1k", 1000),
        ("-1", "-1", -1),
    ],
)
def test_quantities_have_a_canonical_form(text: str, canonical: str, whole: int) -> None:
    assert str(parse(text)) == canonical
    assert parse(text).whole == whole


@pytest.mark.parametrize("text", ["", "lots", "1 Gi", "1GiB", "Gi", "1..2", "0x10", "1e99", "--1"])
def test_what_is_no_quantity_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="quantit"):
        parse(text)


@given(st.integers(0, 10**15), st.sampled_from(["", "m", "k", "M", "Ki", "Mi", "Gi"]))
def test_canonical_form_means_the_same(number: int, suffix: str) -> None:
    quantity = parse(f"{number}{suffix}")
    assert parse(str(quantity)).value == quantity.value
    assert str(parse(str(quantity))) == str(quantity)
