"""From a plan to pods: names that are taken, and the account for what was made."""

from collections.abc import Iterator

import pytest

from reconcile.phases import context
from tests.database import Database
from tests.simulated import LABEL
from tests.simulation import situations as it
from tests.system import PREFIX, System, system


@pytest.fixture
def s(database: Database) -> Iterator[System]:
    with system(database) as made:
        yield made


class Chance:
    """Names in this order, instead of by chance."""

    def __init__(self, *suffixes: str) -> None:
        self._left = list(suffixes)

    def token_hex(self, length: int) -> str:
        return self._left.pop(0)


def test_names_taken_in_the_database_at_github_and_in_the_cluster_are_passed_over(
    s: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    s.boards(2)
    s.push()
    s.world.time.step(2)
    s.database.execute(
        "INSERT INTO workers (pod_name, provider, entity_id, entity_name, entity_type,"
        " installation_id, k8s_pool, k8s_image, status)"
        " VALUES (%s, 'github', 1, 'o', 'Organization', 1, 'p', 'i', 'completed')",
        f"{PREFIX}row",
    )
    it.registered(s, f"{PREFIX}github")
    it.make_pod(s, f"{PREFIX}pod")
    monkeypatch.setattr(context, "secrets", Chance("row", "github", "pod", "free"))
    s.good_run()
    assert [row["pod_name"] for row in s.workers()] == [f"{PREFIX}free", f"{PREFIX}row"]
    assert s.pods() == [f"{PREFIX}free", f"{PREFIX}pod"], "what is not ours is not touched"
    assert s.runners() == [f"{PREFIX}free", f"{PREFIX}github"], "and what was made is taken back"


def test_name_that_is_taken_again_and_again_is_a_failure_that_backs_off(
    s: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    s.boards(1)
    s.push()
    s.world.time.step(2)
    for number in range(3):
        it.registered(s, f"{PREFIX}{number}")
    monkeypatch.setattr(context, "secrets", Chance("0", "1", "2"))
    report = s.run()
    assert report.status == "partial"
    assert s.reasons() == ["provision_failed"]
    assert s.database.rows("SELECT failures FROM demand_back_off") == [{"failures": 1}]


def test_pod_is_as_specified_and_its_configuration_is_in_a_secret_it_owns(s: System) -> None:
    s.boards(1)
    s.push()
    s.world.time.step(2)
    s.good_run()
    [name] = s.pods()
    pod = s.world.cluster.pod(name)
    [secret] = s.world.cluster.secrets()
    [container] = pod["spec"]["containers"]
    assert pod["metadata"]["labels"] == {
        "app": "rise-riscv-runner",
        "riseproject.dev/board": "scw-em-rv1",
    }
    assert pod["spec"]["nodeSelector"] == {"riseproject.dev/board": "scw-em-rv1"}
    assert pod["spec"]["hostNetwork"] is True
    assert pod["spec"]["activeDeadlineSeconds"] == 525_600
    assert container["securityContext"]["privileged"] is True
    assert container["resources"]["limits"]["riseproject.com/runner"] == "1"
    assert container["resources"]["limits"]["ephemeral-storage"] == "90Gi"
    assert container["resources"]["requests"]["ephemeral-storage"] == "40Gi"
    assert secret["metadata"]["ownerReferences"][0]["uid"] == pod["metadata"]["uid"]
    assert secret["data"]["jitconfig"] not in str(pod)
    assert LABEL in s.workers()[0]["job_labels"]
