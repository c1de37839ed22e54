"""docs/operations.md: a runbook for every alert, every reason and every outcome, and no other."""

import re
from enum import StrEnum

from reconcile.model import JobReason, Reason
from reconcile.policy.plan import Wait
from reconcile.run_outcome import RunOutcome
from tests.charts.helm import CHART, needs_helm, render
from tests.documents import OPERATIONS, ROOT, Document, entries

# Which section explains the words of what. A word of two of them has one entry for both.
REASONS: dict[str, type[StrEnum]] = {
    "Reasons: a worker failed": Reason,
    "Reasons: a job was given up": JobReason,
    "Reasons: a job waits": Wait,
    "Outcomes of a run": RunOutcome,
}


def explained() -> dict[str, dict[str, str]]:
    """By section: the words it has an entry for."""
    found = {title: entries(OPERATIONS.section(title)) for title in REASONS}
    return {
        title: {heading.strip("`"): text for heading, text in of_section.items()}
        for title, of_section in found.items()
    }


def test_every_reason_has_one_entry_and_every_entry_a_reason() -> None:
    found = explained()
    words = [word for of_section in found.values() for word in of_section]
    assert sorted(words) == sorted({word for kind in REASONS.values() for word in kind})
    for title, kind in REASONS.items():
        assert set(found[title]) <= set(kind), title


def test_every_word_is_found_under_its_section_or_by_a_link_from_there() -> None:
    found = explained()
    for title, kind in REASONS.items():
        section = OPERATIONS.section(title)
        for word in set(kind) - set(found[title]):
            assert f"[`{word}`](#{word})" in section, f"{title}: {word}"


def test_entries_say_what_it_means_how_to_confirm_it_and_what_to_do() -> None:
    for of_section in explained().values():
        for word, text in of_section.items():
            for part in ("\nFor the user: ", "\n**Confirm**: ", "\n**Do**: "):
                assert text.replace(":\n", ": \n").count(part) == 1, f"{word}: {part}"


def alerts() -> set[str]:
    template = (CHART / "templates" / "prometheusrule.yaml").read_text()
    found = set(re.findall(r'"name" "(\w+)"', template))
    assert found
    return found


def test_every_alert_has_its_runbook_and_every_runbook_its_alert() -> None:
    assert set(entries(OPERATIONS.section("Alerts"))) == alerts()


def test_runbooks_say_what_it_means_where_to_look_and_what_to_do() -> None:
    for name, text in entries(OPERATIONS.section("Alerts")).items():
        for part in ("**Means**:", "**Look**:", "**Do**:"):
            assert text.count(f"\n{part}") == 1, f"{name}: {part}"


@needs_helm
def test_alerts_point_to_their_runbooks() -> None:
    [rule] = render("everything").of("PrometheusRule")
    listed = [each for group in rule["spec"]["groups"] for each in group["rules"]]
    assert {each["alert"] for each in listed} == alerts()
    for each in listed:
        path, _, anchor = each["annotations"]["runbook"].partition("#")
        assert anchor in Document(ROOT / path).anchors, each["alert"]
