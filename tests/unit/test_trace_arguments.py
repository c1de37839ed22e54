"""What can be asked together, and what is refused before anything is read."""

import argparse

import pytest

from reconcile import trace_arguments
from reconcile.errors import ConfigError


def wanted(*words: str) -> trace_arguments.Wanted:
    parser = argparse.ArgumentParser()
    trace_arguments.add_arguments(parser)
    return trace_arguments.wanted(parser.parse_args(words))


def test_a_timeline_has_fifty_lines_unless_it_is_said() -> None:
    assert wanted("--entity", "riseproject").limit == 50
    assert wanted("--entity", "riseproject", "--limit", "7").limit == 7


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--job", "41", "--limit", "7"), "--job goes without --limit."),
        (("--job", "41", "--before", "3"), "--job goes without --before."),
        (("--payload", "9", "--at", "2026-03-02"), "--payload goes without --at."),
        (
            ("--payload", "9", "--limit", "7", "--repository", "a/b"),
            "--payload goes without --limit and --repository.",
        ),
    ],
)
def test_what_says_nothing_of_the_subject_is_refused(words: tuple[str, ...], named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        wanted(*words)


def test_a_job_may_be_asked_about_with_a_time_and_a_repository() -> None:
    asked = wanted("--job", "41", "--at", "2026-03-02T09:00", "--repository", "a/b")
    assert (asked.job, asked.repository) == (41, "a/b")
    assert asked.at is not None
    assert asked.at.isoformat() == "2026-03-02T09:00:00+00:00", "without a zone it is UTC"
