"""Times, durations, shares and addresses, as pages write them."""

import pytest

from static_site import formats


@pytest.mark.parametrize(
    ("seconds", "long", "short"),
    [
        (None, "", ""),
        (0, "0s", "0s"),
        (-3, "0s", "0s"),
        (59.9, "59s", "59s"),
        (60, "1m 00s", "1m"),
        (200, "3m 20s", "3m"),
        (3599, "59m 59s", "59m"),
        (3600, "1h 00m", "1h"),
        (4400, "1h 13m", "1.2h"),
        (36000, "10h 00m", "10h"),
        (86400, "1d 0h", "24h"),
        (260_000, "3d 0h", "3d"),
    ],
)
def test_durations_have_two_units_at_most(seconds: float | None, long: str, short: str) -> None:
    assert formats.duration(seconds) == long
    assert formats.short_duration(seconds) == short


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(None, ""), (0.004, "0.00s"), (2.345, "2.35s"), (10, "10s"), (90, "1m 30s")],
)
def test_short_times_are_written_exactly(seconds: float | None, words: str) -> None:
    assert formats.precise_duration(seconds) == words


@pytest.mark.parametrize(
    ("part", "whole", "words"),
    [(0, 0, ""), (0, 9, "0%"), (1, 3, "33%"), (9, 9, "100%"), (1, 900, "<1%"), (899, 900, ">99%")],
)
def test_share_is_nothing_or_all_only_if_it_is(part: int, whole: int, words: str) -> None:
    assert formats.percent(part, whole) == words


def test_times_are_cut_from_their_text() -> None:
    for time in ("2026-11-08T12:00:05Z", "2026-11-08T12:00:05.123456+00:00"):
        assert formats.clock(time) == "12:00:05"
        assert formats.moment(time) == "8 Nov 12:00:05"
        assert formats.day(time) == "8 Nov 2026"
    assert formats.clock(None) == formats.moment(None) == ""


def test_counts_have_their_noun() -> None:
    assert formats.counted(1, "job") == "1 job"
    assert formats.counted(1200, "job") == "1,200 jobs"


def test_addresses_are_encoded() -> None:
    assert formats.worker_address("a/../b?c") == "/workers/a%2F..%2Fb%3Fc"
    assert formats.search_address("jobs", account='"&é\udc80') == "/jobs?account=%22%26%C3%A9%3F"
    assert formats.list_address("jobs") == "/jobs"
    assert formats.list_address("jobs", None, 2, twin=True) == "/jobs.json?page=2"


@pytest.mark.parametrize(
    "url", [None, "", "javascript:x", "http://x", "//x", " https://x", "HTTPS://x"]
)
def test_only_https_leads_outside(url: str | None) -> None:
    assert formats.outside(url) is None
    assert formats.outside("https://github.com/") == "https://github.com/"
