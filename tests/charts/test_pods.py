"""The three pods: what they run, how they are watched, when they are ended."""

from pathlib import Path

import pytest
import yaml

from reconcile import cli
from reconcile.controller.metrics import Metrics
from reconcile.controller.state import State
from reconcile.controller.web import App
from reconcile.settings import Settings
from tests.charts.helm import (
    CHART,
    EVERY_FILE,
    Object,
    Pod,
    changed_chart,
    example,
    needs_helm,
    render,
)

pytestmark = needs_helm

LONGEST_RUN = Settings().run.deadline + Settings().run.grace


# What they run.


@pytest.mark.parametrize(
    ("name", "pods"),
    [
        ("minimal", {"controller", "backstop", "check"}),
        ("other_cluster", {"controller", "check"}),  # Its backstop is off.
    ],
)
def test_there_are_these_pods(name: str, pods: set[str]) -> None:
    assert set(example(name).pods) == pods


@pytest.mark.parametrize(
    ("component", "arguments"),
    [("controller", ["controller"]), ("backstop", ["run"]), ("check", ["check"])],
)
def test_pod_runs_a_command_that_there_is(component: str, arguments: list[str]) -> None:
    container = example("everything").pods[component].container
    assert container["args"] == arguments
    assert "command" not in container, "the image's entry point is `reconcile`"
    assert cli._parser().parse_args(arguments).command


@pytest.mark.parametrize("name", EVERY_FILE)
def test_all_pods_have_the_same_image_settings_and_account(name: str) -> None:
    controller, *others = example(name).pods.values()
    for other in others:
        for key in ("image", "imagePullPolicy", "env", "envFrom", "volumeMounts"):
            assert other.container.get(key) == controller.container.get(key), key
        for key in ("serviceAccountName", "volumes", "affinity", "tolerations", "nodeSelector"):
            assert other.spec.get(key) == controller.spec.get(key), key


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ({}, "registry.example/riscv-runners:{version}"),
        ({"tag": "1.2.3"}, "registry.example/riscv-runners:1.2.3"),
        (
            {"tag": "1.2.3", "digest": "sha256:" + "0" * 64},
            "registry.example/riscv-runners@sha256:" + "0" * 64,
        ),
    ],
)
def test_image_is_the_digest_or_the_tag_or_the_version_of_the_chart(
    image: Object, expected: str
) -> None:
    version = yaml.safe_load((CHART / "Chart.yaml").read_text())["appVersion"]
    pod = render("minimal", values={"image": image}).pods["controller"]
    assert pod.container["image"] == expected.format(version=version)


# The controller.


@pytest.mark.parametrize("name", EVERY_FILE)
def test_there_is_never_a_second_controller(name: str) -> None:
    spec = example(name).one("Deployment")["spec"]
    assert spec["replicas"] == 1
    assert spec["strategy"] == {"type": "Recreate"}
    assert "HorizontalPodAutoscaler" not in {each["kind"] for each in example(name).objects}


def http_port(pod: Pod) -> int:
    [port] = pod.container["ports"]
    assert port["name"] == "http"
    return int(port["containerPort"])


def test_controller_listens_where_it_is_asked() -> None:
    rendered = example("everything")
    controller = rendered.pods["controller"]
    port = http_port(controller)
    assert port == cli._parser().parse_args(controller.container["args"]).port
    [policy] = rendered.one("NetworkPolicy")["spec"]["ingress"]
    assert policy["ports"] == [{"protocol": "TCP", "port": port}]


def status(path: str) -> str:
    """What a controller that has just started answers."""
    state, told = State(), list[str]()
    app = App(state, Metrics(state.observed), interval=15)
    app({"REQUEST_METHOD": "GET", "PATH_INFO": path}, lambda status, _: told.append(status))
    return told[0]


def test_probes_ask_for_what_the_controller_answers() -> None:
    """Alive is not ready: without a database it must not be started anew for ever."""
    container = example("minimal").pods["controller"].container
    asked = {
        kind: container[kind]["httpGet"]
        for kind in ("startupProbe", "livenessProbe", "readinessProbe")
    }
    assert {each["port"] for each in asked.values()} == {"http"}
    answers = {kind: status(each["path"]) for kind, each in asked.items()}
    assert answers == {
        "startupProbe": "200 OK",
        "livenessProbe": "200 OK",
        "readinessProbe": "503 Service Unavailable",
    }


def test_controller_may_finish_its_run_before_it_is_killed() -> None:
    assert example("minimal").pods["controller"].spec["terminationGracePeriodSeconds"] > LONGEST_RUN


# The backstop and the check.


def test_backstop_is_one_run_a_minute_and_never_two() -> None:
    spec = example("minimal").one("CronJob")["spec"]
    assert spec["schedule"] == "* * * * *"
    assert spec["concurrencyPolicy"] == "Forbid"
    assert not spec.get("suspend")
    job = spec["jobTemplate"]["spec"]
    assert job["backoffLimit"] == 0, "the next minute's is the retry"
    assert job["template"]["spec"]["restartPolicy"] == "Never"


def test_backstop_goes_on_after_an_outage() -> None:
    """Without a deadline for a start, a hundred missed ones stop it for good; and the controller
    of CronJobs looks every 10 seconds."""
    assert 10 < example("minimal").one("CronJob")["spec"]["startingDeadlineSeconds"] <= 100 * 60


def test_backstop_ends_after_a_run_must_have() -> None:
    job = example("minimal").one("CronJob")["spec"]["jobTemplate"]["spec"]
    assert job["activeDeadlineSeconds"] > LONGEST_RUN


def test_backstop_leaves_few_jobs_behind() -> None:
    spec = example("minimal").one("CronJob")["spec"]
    assert spec["successfulJobsHistoryLimit"] == 1
    assert spec["failedJobsHistoryLimit"] == 3
    assert spec["jobTemplate"]["spec"]["ttlSecondsAfterFinished"] == 3600


@pytest.mark.parametrize("name", EVERY_FILE)
def test_check_is_run_by_helm_test_only_and_its_log_stays(name: str) -> None:
    pod = example(name).pods["check"]
    assert pod.annotations["helm.sh/hook"] == "test"
    assert pod.annotations["helm.sh/hook-delete-policy"] == "before-hook-creation"
    assert pod.spec["restartPolicy"] == "Never"
    assert pod.spec["activeDeadlineSeconds"] == 180


# An upgrade.


def test_next_version_can_be_installed_over_this_one(tmp_path: Path) -> None:
    """What Kubernetes lets nobody change stays as it is: a selector, what a binding refers to."""
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    chart |= {"version": "9.9.9", "appVersion": "9.9.9"}
    changed = changed_chart(tmp_path, {"Chart.yaml": yaml.safe_dump(chart)})
    before, later = render("minimal"), render("minimal", chart=changed)
    assert later.pods["controller"].container["image"].endswith(":9.9.9")
    assert later.names == before.names
    assert (
        later.one("Deployment")["spec"]["selector"] == before.one("Deployment")["spec"]["selector"]
    )
    for kind in ("RoleBinding", "ClusterRoleBinding"):
        assert later.one(kind)["roleRef"] == before.one(kind)["roleRef"]


def test_upgrade_that_is_not_about_the_pod_leaves_it_running() -> None:
    values = {"podMonitor": {"enabled": True}, "dashboard": {"enabled": True}}
    after = render("minimal", values=values).one("Deployment")
    assert after["spec"]["template"] == example("minimal").one("Deployment")["spec"]["template"]
