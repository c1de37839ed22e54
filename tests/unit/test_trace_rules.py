"""Whatever is known: there is always an answer, in words that anybody can read."""

import re
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import trace_cases as some
from tests.trace_strategies import cases
from webhook_fn.trace.case import Case
from webhook_fn.trace.finding import Finding, Kind
from webhook_fn.trace.rules import diagnose

UNREADABLE = re.compile(
    r"\bNone\b|\b1 (times|runners|boards|jobs|hours|minutes|days)\b|  |\.\.|\( "
)


def words(it: Finding) -> list[str]:
    return [it.summary, it.advice, *(each.what for each in it.evidence)]


@given(cases)
def test_there_is_always_an_answer_and_never_twice_the_same(case: Case) -> None:
    found = diagnose(case)
    kinds = [each.kind for each in found]
    assert kinds
    assert len({*kinds}) == len(kinds)
    for each in found:
        assert each.advice
        for text in words(each)[:2]:
            assert not UNREADABLE.search(text), text
            assert text.strip() == text
            assert text[-1] in ".!?"
        for text in words(each)[2:]:
            assert "None" not in text
    alone = {Kind.NOTHING_WRONG, Kind.NOTHING_KNOWN}
    assert len(found) == 1 or not alone & {*kinds}


@given(cases)
def test_a_job_that_does_not_wait_is_told_nothing_of_the_queue(case: Case) -> None:
    of_the_queue = {
        *(Kind.RECONCILER_STALE, Kind.RECONCILER_FAILING, Kind.GITHUB_LIMIT, Kind.BACKING_OFF),
        *(Kind.CAP_REACHED, Kind.RUNNER_COMING, Kind.WAITING_FOR_BOARD, Kind.NOT_PLANNED_YET),
    }
    if not case.pending:
        assert not of_the_queue & {each.kind for each in diagnose(case)}


@given(cases)
def test_a_job_that_has_a_row_came_and_one_that_has_none_does_not_wait(case: Case) -> None:
    kinds = {each.kind for each in diagnose(case)}
    if case.job is not None:
        never = {Kind.WEBHOOK_FAILED, Kind.WEBHOOK_NEVER_ARRIVED, Kind.WRONG_APP, Kind.NO_ROUTE}
        assert not never & kinds
    if case.job is not None and case.job.status in ("completed", "running"):
        assert not {Kind.SUSPENDED, Kind.NO_ACCESS} & kinds
    if case.refusal is not None:
        assert not {Kind.SUSPENDED, Kind.UNINSTALLED, Kind.NO_ACCESS} & kinds


@given(cases, st.randoms())
def test_the_order_in_which_limits_are_read_does_not_matter(case: Case, random: Any) -> None:
    """Of one key there is one row."""
    shuffled = list({each.key: each for each in case.limits}.values())
    before = replace(case, limits=tuple(shuffled))
    random.shuffle(shuffled)
    assert diagnose(before) == diagnose(replace(case, limits=tuple(shuffled)))


# Of each finding one that is sure to be made: each has words and advice.
EXAMPLES: dict[Kind, Callable[[], Case]] = {
    Kind.JOB_RUNNING: lambda: some.of_job(known=some.facts(job=some.a_job(status="running"))),
    Kind.JOB_OVER: lambda: some.of_job(known=some.facts(job=some.a_job(status="completed"))),
    Kind.JOB_CANCELLED: lambda: some.of_job(
        known=some.facts(job=some.a_job(status="completed", conclusion="cancelled"))
    ),
    Kind.GIVEN_UP: lambda: some.of_job(known=some.facts(job=some.a_job(status="failed"))),
    Kind.WEBHOOK_NEVER_ARRIVED: lambda: some.of_job(known=some.unknown()),
    Kind.NOTHING_WRONG: some.of_account,
    Kind.NOTHING_KNOWN: lambda: some.of_account(account=None),
}


@pytest.mark.parametrize("kind", EXAMPLES, ids=str)
def test_the_least_that_is_known_is_enough_for_an_answer(kind: Kind) -> None:
    found = diagnose(EXAMPLES[kind]())
    assert [each.kind for each in found] == [kind]


def test_a_case_has_no_field_that_these_tests_forget() -> None:
    assert [each.name for each in fields(Case)] == [
        *("now", "apps", "routes", "account", "facts", "repository", "of_installation"),
        *("known_as", "limits", "past", "comes_at"),
    ]
