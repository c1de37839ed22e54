"""What a publisher remembers: whole, or not at all."""

import json
from datetime import UTC, date, datetime
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from static_site import memory, render
from static_site.memory import Archive, Entry, Memory
from static_site.model import LISTS, Figures
from static_site.rows import Place

texts = st.text(max_size=20)
moments = st.integers(0, 2**51).map(lambda n: datetime.fromtimestamp(n / 1e6, UTC))
numbers = st.integers(0, 2**63 - 1)
entries = st.builds(Entry, texts, st.none() | texts, st.dictionaries(texts, texts, max_size=2))
archives = st.builds(
    Archive,
    st.none() | moments,
    st.none() | st.dates(min_value=date(2020, 1, 1)),
    st.none() | st.dates(min_value=date(2020, 1, 1)),
    st.booleans(),
    st.sampled_from(["", "2026-10"]),
    texts,
)


def places(which: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Place]]:
    return st.lists(st.tuples(moments, which), max_size=10)


@st.composite
def figures(draw: st.DrawFn) -> Figures:
    made = {name: draw(st.lists(numbers, max_size=2)) for name in Figures.__required_keys__}
    return cast("Figures", {**made, "at": draw(texts)})


memories = st.builds(
    Memory,
    pages=st.dictionaries(texts, entries, max_size=4),
    cuts=st.fixed_dictionaries(
        {},
        optional={"jobs": places(numbers), "workers": places(texts), "runs": places(numbers)},
    ),
    figures=st.none() | figures(),
    usual_seconds=st.dictionaries(texts, st.floats(0, 1e9), max_size=3),
    failures_until=st.none() | moments,
    failures=st.dictionaries(texts, texts, max_size=3),
    archive=archives,
)
anything: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)


def well_formed(found: Any) -> bool:
    """What the rest of the site relies on."""
    kinds = {"jobs": int, "workers": str, "runs": int}
    return (
        all(isinstance(each, Entry) for each in found.pages.values())
        and all(isinstance(each.as_of, str | None) for each in found.pages.values())
        and all(isinstance(each.tokens, dict) for each in found.pages.values())
        and set(found.cuts) <= set(LISTS)
        and all(
            isinstance(at, datetime) and at.tzinfo is not None and type(which) is kinds[name]
            for name, cuts in found.cuts.items()
            for at, which in cuts
        )
        and (found.figures is None or isinstance(found.figures["at"], str))
        and all(0 <= each < float("inf") for each in found.usual_seconds.values())
        and isinstance(found.archive, Archive)
    )


@settings(max_examples=100, deadline=None)
@given(memories)
def test_what_is_kept_is_remembered(kept: Memory) -> None:
    assert memory.load(kept.dump()) == kept


def test_the_same_is_kept_the_same() -> None:
    """Else it would be uploaded at every run."""
    one, other = Memory(), Memory()
    for kept, names in ((one, ("a", "b")), (other, ("b", "a"))):
        for name in names:
            kept.pages[name] = Entry("digest", None, {"json": "1", "html": "2"})
    assert one.dump() == other.dump()


def test_nothing_kept_is_nothing_remembered() -> None:
    assert memory.load(None) == Memory()


def full() -> Memory:
    at = datetime(2026, 11, 18, 12, tzinfo=UTC)
    kept = Memory(
        pages={"index": Entry("d", "2026-11-18T12:00:00Z", {"json": "1", "html": "2"})},
        cuts={"jobs": [(at, 7)], "workers": [(at, "rise-1")], "runs": [(at, 3)]},
        figures=cast("Figures", {name: [] for name in Figures.__required_keys__} | {"at": "x"}),
        usual_seconds={"pool": 60.0},
        failures_until=at,
        failures={"rise-1": "state"},
    )
    kept.archive.refreshed_at, kept.archive.oldest = at, at.date()
    return kept


@given(st.integers(0, len(full().dump()) - 1))
def test_text_cut_short_is_nothing_remembered(length: int) -> None:
    assert memory.load(full().dump()[:length]) == Memory()


@given(st.binary(max_size=60))
def test_no_text_at_all_is_nothing_remembered(stored: bytes) -> None:
    assert memory.load(stored) == Memory()


@pytest.mark.parametrize(
    "stored",
    [b"", b"null", b"[]", b"7", b'"text"', b"{}", b"[" * 100_000, b'{"version": 1}', b"\xff\xfe"],
)
def test_other_text_is_nothing_remembered(stored: bytes) -> None:
    assert memory.load(stored) == Memory()


def nodes(document: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every part of it."""
    inner: dict[Any, Any] = {}
    if isinstance(document, dict | list):
        inner = document if isinstance(document, dict) else dict(enumerate(document))
    return [path, *(found for key, each in inner.items() for found in nodes(each, (*path, key)))]


@settings(max_examples=300, deadline=None)
@given(st.data(), anything)
def test_damaged_part_is_never_believed(data: st.DataObject, damage: Any) -> None:
    document = json.loads(full().dump())
    way = data.draw(st.sampled_from(nodes(document)[1:]))
    inside = document
    for key in way[:-1]:
        inside = inside[key]
    inside[way[-1]] = damage
    assert well_formed(memory.load(json.dumps(document).encode()))


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("cuts", {"jobs": [["2026-11-18T12:00:00+00:00", "seven"]]}),
        ("cuts", {"workers": [["2026-11-18T12:00:00+00:00", 7]]}),
        ("figures", {}),
        ("figures", []),
        ("usual_seconds", {"pool": float("nan")}),
        ("usual_seconds", {"pool": 10**400}),
        ("pages", {"index": ["digest", 7, {}]}),
        ("pages", {"index": ["digest", None, 7]}),
        ("archive", None),
    ],
)
def test_part_of_the_wrong_kind_makes_it_nothing_remembered(name: str, damage: Any) -> None:
    """What is believed here fails later, at every run."""
    document = json.loads(full().dump()) | {name: damage}
    assert memory.load(json.dumps(document).encode()) == Memory()


def test_figures_of_another_version_of_the_site_are_not_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept = full().dump()
    monkeypatch.setattr(render, "VERSION", "another")
    found = memory.load(kept)
    assert found.figures is None
    assert found.cuts == full().cuts


def test_memory_of_another_form_is_not_used() -> None:
    document = json.loads(full().dump()) | {"version": memory.VERSION + 1}
    assert memory.load(json.dumps(document).encode()) == Memory()
