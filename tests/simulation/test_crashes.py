"""A run may be killed anywhere. From wherever it was, the next two runs put everything right."""

import contextlib
import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from reconcile.sim.cluster.images import Behaviour
from reconcile.sim.github.deliveries import Mishap, MishapRule
from reconcile.sim.github.model import Account, Conclusion, Job, RunnerGroup
from tests.database import Cluster, Row
from tests.simulated import GROUP, LABEL
from tests.simulation.crashing import Command, Point, When, watched_run
from tests.system import BOARD, PREFIX, System, system

OTHER_BOARD, OTHER_LABEL, OTHER_NODE = "scw-em-rv2", "ubuntu-24.04-riscv-rv2", "rv2-000"
ROUTES = "".join(
    f"""
    [[route]]
    labels = ["{label}"]
    pool = "{pool}"
    image = "registry.example/ubuntu-24.04:prod"
    """
    for label, pool in ((LABEL, BOARD), (OTHER_LABEL, OTHER_BOARD))
)
GRACE = 3600  # how long terminal pods stay
USUAL = f"[timeouts]\npod_delete_grace = {GRACE}\n"
# One thing after the other, so that a point is the same moment every time.
ONE_BY_ONE = USUAL + "[run]\nprovision_parallel = 1\n[github]\nparallel = 1\n"
BETWEEN_RUNS = 90  # longer than a new pod may stay unseen, and than the first back-off
PARTS = 16
# What may be said of a worker that failed here. Not among it: a runner that found no job because
# there was a second one.
FAILURES = {
    "node_unreachable",
    "pod_failed",
    "pod_stuck_pending",
    "pod_vanished",
    "provision_failed",
    "runner_never_registered",
}
# What the run must have done, or it is not the one that this is about.
WRITES = {
    "github.create_jit_config_org",
    "github.create_jit_config_repo",
    "github.create_runner_group",
    "github.create_token",
    "github.delete_org_runner",
    "github.redeliver",
    "k8s.create_pod",
    "k8s.create_secret",
    "k8s.delete_pod",
    "k8s.patch_pod",
}


class Scene:
    """The moment before a run that has everything to do: provision for an organization that is
    new to it and for a personal account; fail a worker whose runner never came, one that no node
    took and one on a dead node; complete one whose job's webhook got lost; remove a left-over
    registration and an old pod; have a refused webhook delivered again. And leave a busy runner
    alone."""

    def __init__(self, s: System, toml: str) -> None:
        self.s = s
        self.time, self.cluster, self.github = s.world.time, s.world.cluster, s.world.github
        s.toml = toml
        s.boards(12)
        self.cluster.add_node(OTHER_NODE, OTHER_BOARD)
        _, self.new, _ = s.tenant("second")
        _, self.unheard_of, _ = s.tenant("third")
        self._before()
        self._long_nothing()
        self._just_now()

    def _before(self) -> None:
        """Of five pods one never comes to GitHub and one is on a node that dies before it starts:
        the other three take the first three jobs. No node takes the sixth."""
        s = self.s
        s.push(seconds=10)
        [self.busy] = s.push(seconds=6000).jobs
        s.push(seconds=300)
        s.push(seconds=900, count=2)
        s.push(seconds=900, labels=(OTHER_LABEL,))
        self.time.step(5)
        s.good_run()
        self.cluster.cordon(OTHER_NODE)
        self.cluster.next_pod(Behaviour.NEVER_REGISTERS)
        self.time.step(15)
        [*_, last] = [pod for pod in self.cluster.pods() if "nodeName" in pod["spec"]]
        self.cluster.silence(last["spec"]["nodeName"])
        self.time.step(40)
        s.good_run()

    def _long_nothing(self) -> None:
        """The pods get old, and the tokens expire."""
        self._mishap(Mishap.DROP, "workflow_job.completed")
        self.time.step(GRACE + 200)

    def _just_now(self) -> None:
        s = self.s
        self._mishap(Mishap.REFUSE, "workflow_job.queued")
        s.push(self.unheard_of, seconds=900)
        self.time.step(5)
        s.push(self.new, seconds=900, count=2)
        s.push(s.personal, seconds=900)
        self.time.step(5)
        [ours] = self.groups(s.organization)
        self.github.runners.register(s.organization, ours, PREFIX + "left-over", [LABEL])

    def _mishap(self, mishap: Mishap, event: str) -> None:
        self.github.deliveries.misbehave(MishapRule(mishap, event, times=1))

    def goes_on(self) -> None:
        """The two runs after the one that was killed."""
        self.time.step(BETWEEN_RUNS)
        self.s.good_run()
        self.cluster.uncordon(OTHER_NODE)
        self.time.step(BETWEEN_RUNS)
        self.s.good_run()

    def comes_to_its_end(self) -> None:
        """Every job runs to its end, and the pods' grace passes."""
        for seconds in (3000, GRACE):
            self.time.step(seconds)
            self.s.good_run()
        self.time.step(60)

    # What there is to see --------------------------------------------------------------------

    def groups(self, organization: Account) -> list[RunnerGroup]:
        groups = self.github.runners.groups_of(organization)
        return [group for group in groups if group.name == GROUP]

    def pods(self) -> tuple[set[str], set[str]]:
        """The living, and all."""
        pods = {pod["metadata"]["name"]: pod["status"]["phase"] for pod in self.cluster.pods()}
        return {name for name, phase in pods.items() if phase in ("Pending", "Running")}, set(pods)

    def secrets(self) -> set[str]:
        return {secret["metadata"]["name"] for secret in self.cluster.secrets()}

    def active(self) -> list[Row]:
        return [row for row in self.s.workers() if row["status"] in ("pending", "running")]

    def state(self) -> dict[str, Any]:
        """Without what chance names, and without how far things got: a run that was killed costs
        time."""
        living, _ = self.pods()
        runners = self.github.runners.all()
        jobs = self.github.engine.jobs.values()
        return {
            "jobs": Counter((_owner(job), job.conclusion) for job in jobs),
            "known jobs": Counter((job["entity_name"], _is_over(job)) for job in self.s.jobs()),
            "workers": Counter(row["entity_name"] for row in self.active()),
            "pods": len(living),
            "secrets": len(self.secrets() & living),
            "runners": Counter(runner.labels for runner in runners),
            "groups": [len(self.groups(each)) for each in (self.s.organization, self.new.owner)],
        }

    # What must hold --------------------------------------------------------------------------

    def check(self) -> None:
        active = self.active()
        names = {row["pod_name"] for row in active}
        living, pods = self.pods()
        assert living == names, "a pod without a row, or a row without a pod"
        assert set(self.s.runners()) == names, "a registration too many or too few"
        assert living <= self.secrets() <= pods, "a Secret too many or too few"
        open_jobs = [job for job in self.github.engine.jobs.values() if job.conclusion is None]
        wanted = Counter((_owner(job), job.spec.labels) for job in open_jobs)
        there = Counter((row["entity_name"], tuple(row["job_labels"])) for row in active)
        assert there == wanted, "not one runner for each job"
        self._check_busy()

    def check_end(self) -> None:
        jobs, workers = self.s.jobs(), self.s.workers()
        conclusions = {job.conclusion for job in self.github.engine.jobs.values()}
        assert conclusions == {Conclusion.SUCCESS}
        assert [(job["status"], job["conclusion"]) for job in jobs] == [
            ("completed", "success")
        ] * len(self.github.engine.jobs)
        took = [job["k8s_pod"] for job in jobs]
        assert sorted(took) == sorted(
            row["pod_name"] for row in workers if row["status"] == "completed"
        ), "not each job by one runner, or not each runner one job"
        assert set(self.s.reasons()) <= FAILURES
        assert (self.pods(), self.secrets(), self.s.runners()) == ((set(), set()), set(), [])

    def _check_busy(self) -> None:
        """Neither its pod nor its registration was touched."""
        assert self.busy.runner is not None
        name, number = self.busy.runner.name, self.busy.runner.id
        assert self.busy.conclusion is None
        assert self.busy.runner.online
        touched = [
            call
            for server in (self.s.world.cluster_server, self.s.world.github_server)
            for call in server.calls
            if call.method in ("DELETE", "PATCH")
            and call.target.partition("?")[0].endswith((f"/pods/{name}", self._runner(number)))
        ]
        assert not touched

    def _runner(self, number: int) -> str:
        return f"/orgs/{self.s.organization.login}/actions/runners/{number}"


def _owner(job: Job) -> str:
    return job.repository.owner.login


def _is_over(job: Row) -> bool:
    return job["status"] in ("completed", "failed")


@dataclasses.dataclass(frozen=True)
class Reference:
    """What a run does that nobody kills, and what it leads to."""

    effects: list[str]
    state: dict[str, Any]

    @property
    def points(self) -> list[Point]:
        """Before every effect, and after every request. After a round trip to PostgreSQL is
        before the next effect: the world is the same, and the process is gone."""
        last = len(self.effects) - 1
        return [
            Point(number, when)
            for number, name in enumerate(self.effects)
            for when in When
            if when is When.BEFORE or number == last or not name.startswith("db.")
        ]


Play = Callable[..., contextlib.AbstractContextManager[Scene]]


@pytest.fixture(scope="module")
def play(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Play:
    routes_file = tmp_path_factory.mktemp("routes") / "routes.toml"
    routes_file.write_text(ROUTES)

    @contextlib.contextmanager
    def play(toml: str = ONE_BY_ONE) -> Iterator[Scene]:
        with cluster.new_database() as database, system(database, routes_file=routes_file) as s:
            yield Scene(s, toml)

    return play


@pytest.fixture(scope="module")
def reference(play: Play) -> Reference:
    with play() as scene:
        effects = watched_run(scene.s)
        scene.goes_on()
        state = scene.state()
        scene.check()
        scene.comes_to_its_end()
        scene.check_end()
    return Reference(effects, state)


@contextlib.contextmanager
def telling(point: Point, effects: list[str]) -> Iterator[None]:
    """Which point it was that something fails for."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"Killed {point.when} effect {point.effect}: {effects[point.effect]}")
        raise


def test_the_run_that_is_killed_does_everything_a_run_does_outside(reference: Reference) -> None:
    assert {each for each in reference.effects if not each.startswith("db.")} == WRITES
    assert len(reference.points) >= 100


@pytest.mark.parametrize("part", range(PARTS))
def test_killed_at_any_effect_two_runs_lead_to_the_same_state(
    part: int, play: Play, reference: Reference
) -> None:
    for point in reference.points[part::PARTS]:
        with telling(point, reference.effects), play() as scene:
            effects = watched_run(scene.s, point)
            assert effects == reference.effects[: point.effect + 1]
            scene.goes_on()
            scene.check()
            assert scene.state() == reference.state
            if not effects[-1].startswith("db."):  # The same state leads to the same end.
                scene.comes_to_its_end()
                scene.check_end()


@pytest.mark.parametrize("part", range(2))
def test_killed_while_it_does_many_things_at_once_it_is_the_same(
    part: int, play: Play, reference: Reference
) -> None:
    """What else was under way may have been done or not."""
    first = reference.effects.index("github.create_jit_config_org")
    for number in range(first + 1 + part, first + 9, 2):
        point = Point(number, When.AFTER)
        with telling(point, reference.effects), play(USUAL) as scene:
            watched_run(scene.s, point)
            scene.goes_on()
            scene.check()
            assert scene.state() == reference.state
            scene.comes_to_its_end()
            scene.check_end()


def test_the_command_killed_before_a_pod_has_its_configuration_is_the_same(
    play: Play, reference: Reference
) -> None:
    point = Point(reference.effects.index("k8s.create_secret"), When.BEFORE)
    with play() as scene:
        assert watched_run(scene.s, point, Command)[-1] == "k8s.create_secret"
        scene.goes_on()
        scene.check()
        assert scene.state() == reference.state
