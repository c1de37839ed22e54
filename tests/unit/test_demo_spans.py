"""Spans of time, to words and back."""

import pytest

from reconcile.demo.spans import in_words, parse_span


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-3, "0 s"),
        (0, "0 s"),
        (0.04, "0 s"),
        (0.24, "0.2 s"),
        (3, "3 s"),
        (9.94, "9.9 s"),
        (9.96, "10 s"),
        (45.4, "45 s"),
        (59.6, "1 min"),
        (60, "1 min"),
        (250, "4 min 10 s"),
        (3599.4, "59 min 59 s"),
        (3599.6, "1 h"),
        (3900, "1 h 5 min"),
        (7199, "2 h"),
        (86_399, "1 d"),
        (97_200, "1 d 3 h"),
    ],
)
def test_span_is_told_in_two_units_at_most(seconds: float, words: str) -> None:
    assert in_words(seconds) == words


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("60s", 60),
        ("5m", 300),
        ("5min", 300),
        ("1h30m", 5400),
        ("90", 90),
        ("0.5", 0.5),
        ("1.5h", 5400),
        (" 2H 5M 1s ", 7501),
        ("4 min 10 s", 250),
        ("7d", 604_800),
        ("1d1s", 86_401),
    ],
)
def test_span_of_an_option_is_read(text: str, seconds: float) -> None:
    assert parse_span(text) == seconds


@pytest.mark.parametrize("seconds", [1, 45, 60, 250, 3600, 3900, 97_200, 604_800])
def test_what_is_told_can_be_read_again(seconds: float) -> None:
    assert parse_span(in_words(seconds)) == seconds


NONE = [
    *("", " ", "s", "m", "five", "-5", "-5s", "+5", "1e3", "inf", "nan", "infinity", "5x", "5 5"),
    *("5ms", "5m1h", "1h1h", "٣s", "1.s", ".5", "1,5h", "1h-5m", "0x10", "1\n2", "9" * 12, "5m\0"),
]


@pytest.mark.parametrize("text", NONE)
def test_what_is_no_span_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no span of time: write 90, 60s, 5m or 1h30m\.$"):
        parse_span(text)


@pytest.mark.parametrize("text", ["0", "0s", "0.0", "0h0m0s"])
def test_no_time_at_all_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"must be more than 0 seconds\.$"):
        parse_span(text)


@pytest.mark.parametrize("text", ["8d", "7d1s", "604801", "169h", "999999999d"])
def test_more_than_a_week_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=rf"^'{text}' is too long: at most 7 days\.$"):
        parse_span(text)


def test_refusal_does_not_repeat_all_that_was_said() -> None:
    with pytest.raises(ValueError, match=r"^'x{39}…' is no span"):
        parse_span("x" * 10_000)
