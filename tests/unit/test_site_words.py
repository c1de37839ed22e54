"""The system's slugs in words. The site may not import the run: this keeps the two together."""

from datetime import UTC, datetime

import pytest

from reconcile.model import JobReason, Reason
from reconcile.policy.plan import Wait as Planned
from static_site import words
from static_site.words import JOB_REASONS, UNKNOWN, WORKER_REASONS, Supply, Wait

UNTIL = datetime(2026, 11, 18, 12, 30, 5, 900_000, tzinfo=UTC)


def supply(
    slots: int | None = 12, usable: int = 12, workers: int = 20, account: str = "RISE"
) -> Supply:
    return Supply("scw-em-rv1", slots, usable, account, workers)


def told(wait: Wait, **of_supply: int | None) -> str:
    return words.waiting(wait, supply(**of_supply))["words"]  # type: ignore[arg-type]


def is_a_sentence(text: str) -> bool:
    return text[0].isupper() and text.endswith(".") and "  " not in text and "None" not in text


def test_every_reason_of_a_worker_has_words_and_advice_and_no_other_has() -> None:
    assert set(WORKER_REASONS) == set(Reason)
    for slug in Reason:
        reason = words.worker_reason(slug)
        assert reason["slug"] == slug
        assert is_a_sentence(reason["words"]), slug
        assert is_a_sentence(reason["advice"]), slug
    assert len({each.words for each in WORKER_REASONS.values()}) == len(WORKER_REASONS)


def test_every_reason_of_a_job_has_words_and_no_other_has() -> None:
    assert set(JOB_REASONS) == set(JobReason)
    for slug in JobReason:
        assert is_a_sentence(words.job_reason(slug)), slug


@pytest.mark.parametrize("slug", ["", "unknown", "of_tomorrow", "Pod_Failed"])
def test_reason_of_another_version_is_told_as_such(slug: str) -> None:
    assert words.worker_reason(slug) == {
        "slug": slug,
        "words": UNKNOWN.words,
        "advice": UNKNOWN.advice,
    }
    assert words.job_reason(slug) == UNKNOWN.words


def test_everything_a_job_can_wait_for_has_words() -> None:
    unknown = told(Wait("of_tomorrow"))
    found = {slug: told(Wait(slug)) for slug in Planned}
    assert unknown not in found.values()
    for slug, text in found.items():
        assert is_a_sentence(text), slug
    # Parked is backing off for longer; everything else reads differently.
    assert len(set(found.values())) == len(Planned) - 1


def test_job_that_no_plan_has_seen_has_only_just_come() -> None:
    assert words.waiting(Wait(None), supply()) == {
        "reason": "new",
        "words": "It has only just come: the next run looks at it.",
        "until": None,
    }


def test_end_of_a_wait_is_told_in_whole_seconds() -> None:
    assert words.waiting(Wait("rate_limited", UNTIL), supply())["until"] == "2026-11-18T12:30:05Z"


@pytest.mark.parametrize(
    ("slots", "usable", "expected"),
    [
        (None, 0, "There is no board of the pool scw-em-rv1 in the cluster."),
        (12, 0, "No board of scw-em-rv1 can take a job now: all are cordoned or not ready."),
        (12, 1, "The only usable board of scw-em-rv1 is busy."),
        (12, 11, "All 11 usable boards of scw-em-rv1 are busy."),
    ],
)
def test_missing_board_is_told_by_what_there_is(
    slots: int | None, usable: int, expected: str
) -> None:
    assert told(Wait("no_board"), slots=slots, usable=usable) == expected


@pytest.mark.parametrize(
    ("workers", "expected"),
    [
        (1, "RISE has 1 runner, as many as it may have at once."),
        (20, "RISE has 20 runners, as many as it may have at once."),
    ],
)
def test_cap_is_told_with_its_number(workers: int, expected: str) -> None:
    assert told(Wait("cap_reached"), workers=workers) == expected


@pytest.mark.parametrize("slug", ["backing_off", "parked"])
@pytest.mark.parametrize(
    ("wait", "expected"),
    [
        (
            (UNTIL, 3, "pod_failed"),
            "Its runners failed 3 times in a row (pod_failed): the next is tried later.",
        ),
        ((UNTIL, 1, "pod_failed"), "Its runners failed lately (pod_failed): the next is tried "),
        ((UNTIL, None, None), "Its runners failed lately: the next is tried later."),
        (
            (None, 3, "pod_failed"),
            "Its runners failed 3 times in a row (pod_failed): one is tried before there are more.",
        ),
    ],
)
def test_failing_demand_is_told_with_how_often_and_why(
    slug: str, wait: tuple[datetime | None, int | None, str | None], expected: str
) -> None:
    assert told(Wait(slug, *wait)).startswith(expected)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0, "about a minute"),
        (89, "about a minute"),
        (90, "about 2 min"),
        (2400, "about 40 min"),
        (5399, "about 90 min"),
        (5400, "about 2 h"),
        (172_799, "about 48 h"),
        (172_800, "about 2 days"),
        (8_640_000, "about 100 days"),
    ],
)
def test_estimate_is_as_rough_as_it_is_known(seconds: float, expected: str) -> None:
    assert words.about(seconds) == expected


def test_time_is_written_as_github_writes_it() -> None:
    assert words.stamp(UNTIL) == "2026-11-18T12:30:05Z"
