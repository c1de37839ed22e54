"""Lessons 19, 23, 24 and 25: what leaks, and what grows. Whole runs on the simulated world."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from reconcile.sim import faults
from reconcile.sim.cluster.images import Behaviour
from reconcile.sim.github import workflow
from reconcile.sim.github.deliveries import Mishap, MishapRule
from reconcile.sim.http import Request, Response
from tests.database import Database
from tests.simulated import LABEL, private_key
from tests.simulation import situations as it
from tests.system import System, system

HOUR, DAY = 3600, 86_400
KIB = 1024


@pytest.fixture
def s(database: Database) -> Iterator[System]:
    with system(database) as made:
        yield made


# 19: a JIT configuration is a credential -------------------------------------------------------


def everything_stored(s: System) -> str:
    """Every row of every table, as text."""
    tables = s.database.rows("SELECT tablename FROM pg_tables WHERE schemaname = 'prod'")
    rows = [
        row
        for table in tables
        for row in s.database.rows(f"SELECT t::text AS text FROM {table['tablename']} AS t")
    ]
    assert len(rows) > 5
    return "\n".join(row["text"] for row in rows)


class Secrets:
    """What GitHub gave out, as its answers said it."""

    def __init__(self, s: System) -> None:
        self.texts: set[str] = {private_key().splitlines()[1]}
        s.world.github_server.observers.append(self._observe)

    def _observe(self, request: Request, response: Response) -> None:
        if response.status != 201:
            return
        answer = json.loads(response.body)
        if jit := answer.get("encoded_jit_config"):
            files = json.loads(base64.b64decode(jit))
            self.texts |= {jit, *files.values()}
        if token := answer.get("token"):
            self.texts.add(token)

    def in_text(self, text: str) -> list[str]:
        """Also in parts, and encoded once more."""
        found = []
        for secret in self.texts:
            again = base64.b64encode(secret.encode()).decode()
            parts = [secret, again, secret[:60], secret[60:120] or secret, secret[-60:]]
            found += [part for part in parts if part in text]
        return found


@pytest.mark.parametrize("ending", ["failed by its node", "stopped by us"])
def test_lesson_19_a_configuration_that_the_container_prints_is_nowhere_to_be_found(
    s: System, ending: str, capfd: pytest.CaptureFixture[str]
) -> None:
    given = Secrets(s)
    s.boards(2)
    s.world.cluster.next_pod(Behaviour.LEAKS, 2)
    runs = [it.provisioned(s), it.provisioned(s, s.personal)]
    for run in runs:
        s.world.github.engine.cancel(run)
    s.world.time.step(60)
    s.good_run()
    if ending == "stopped by us":
        s.world.time.step(600)
    else:
        for name in s.pods():
            it.kube(s, "PATCH", f"pods/{name}", {"spec": {"activeDeadlineSeconds": 2}})
        s.world.time.step(15)
    s.good_run()
    infos = [row["failure_info"] for row in s.workers()]
    assert len(infos) == 2
    for info in infos:
        log = info["logs"]["runner"]
        assert "RUNNER_JITCONFIG=[scrubbed]" in log
        assert "Listening for Jobs" in log, "what is no secret is kept"
    output = capfd.readouterr()
    assert len(given.texts) > 6
    assert given.in_text(everything_stored(s)) == []
    assert given.in_text(output.err + output.out) == []
    assert "worker_failed" in output.err


def test_lesson_19_the_pod_that_anybody_may_read_holds_no_configuration(s: System) -> None:
    given = Secrets(s)
    s.boards(1)
    it.working(s)
    assert given.in_text(json.dumps(s.world.cluster.pods())) == []
    assert given.in_text(json.dumps(s.world.cluster.events())) == []
    [secret] = s.world.cluster.secrets()
    assert base64.b64decode(secret["data"]["jitconfig"]).decode() in given.texts


def test_lesson_19_an_error_while_provisioning_tells_no_secret(
    s: System, capfd: pytest.CaptureFixture[str]
) -> None:
    given = Secrets(s)
    s.boards(4)
    for endpoint in ("k8s.create_pod", "k8s.create_secret", "github.create_jit_config_org"):
        for fault in (faults.status(500, after_effect=True), faults.half_body()):
            s.world.faults.next(endpoint, fault, times=2)
            s.push()
            s.world.time.step(1200)
            assert s.run().status in ("partial", "completed")
            s.world.faults.clear()
    assert len(given.texts) > 6
    assert given.in_text(everything_stored(s)) == []
    output = capfd.readouterr()
    assert given.in_text(output.err + output.out) == []


def test_lesson_19_of_a_long_log_the_last_64_kib_are_kept_and_scrubbed(s: System) -> None:
    """A megabyte of it, with a configuration on every tenth line."""
    token = "ghs_" + "a1B2" * 9
    lines = [
        f"RUNNER_JITCONFIG={'QUJD' * 90}" if number % 10 == 0 else f"line {number} {token} end"
        for number in range(12_000)
    ]
    s.boards(1)
    it.idle(s)
    s.world.time.step(600)

    service = s.world.cluster
    original = service.respond

    def respond(endpoint: object, request: Request) -> Response:
        if not request.path.endswith("/log"):
            return original(endpoint, request)  # type: ignore[arg-type]
        kept = lines[-int(request.query.get("tailLines", len(lines))) :]
        text = "".join(f"{line}\n" for line in kept).encode()
        return Response(200, text[: int(request.query.get("limitBytes", len(text)))])

    vars(service)["respond"] = respond
    s.good_run()
    del vars(service)["respond"]
    [worker] = s.workers()
    log = worker["failure_info"]["logs"]["runner"]
    assert 32 * KIB < len(log.encode()) <= 64 * KIB
    assert "line 11999 " in log
    assert token not in log
    assert "QUJD" not in log


# 23: bans ----------------------------------------------------------------------------------------

ROUTE = """
[[route]]
labels = ["ubuntu-24.04-riscv"]
pool = "scw-em-rv1"
image = "registry.example/ubuntu-24.04:prod"
"""


def ban(s: System, directory: Path, **lists: list[int | str]) -> None:
    """From now on, as far as the run is concerned: what was queued before is queued."""
    path = directory / "banned.toml"
    path.write_text("\n".join(f"{name} = {json.dumps(of)}" for name, of in lists.items()) + ROUTE)
    s.environment["ROUTES_FILE"] = str(path)


@pytest.mark.parametrize("by_name", [True, False])
def test_lesson_23_a_ban_of_an_entity_acts_on_what_is_queued(
    s: System, tmp_path: Path, by_name: bool
) -> None:
    s.boards(1)
    running = it.working(s, count=3, seconds=120)
    other = s.push(s.personal, seconds=60)
    s.world.time.step(2)
    who: int | str = "RiseProject" if by_name else s.organization.id
    ban(s, tmp_path, banned_entities=[who])
    s.good_run()
    assert s.statuses()[0] == ["running", "failed", "failed", "pending"]
    assert it.job_reasons(s) == [None, "banned", "banned", None]
    s.ticks(24)
    assert s.statuses()[0] == ["completed", "failed", "failed", "completed"]
    assert str(running.jobs[0].conclusion) == "success", "what runs is left to end"
    assert it.conclusions(other) == {"success"}
    assert len(s.workers()) == 2, "nothing is provisioned for what is banned"


@pytest.mark.parametrize("by_name", [True, False])
def test_lesson_23_a_ban_of_a_sender_acts_on_what_they_queued(
    s: System, tmp_path: Path, by_name: bool
) -> None:
    mallory = s.world.github.accounts.add_user("Mallory")
    one = workflow.uniform((LABEL,), seconds=60)
    s.world.github.engine.push(s.repository, one, actor=mallory)
    good = s.push(seconds=60)
    s.world.time.step(2)
    assert "Mallory" in {row["sender_name"] for row in s.jobs()}
    ban(s, tmp_path, banned_senders=["mallory" if by_name else mallory.id])
    s.boards(2)
    s.good_run()
    assert sorted(s.statuses()[0]) == ["failed", "pending"]
    assert len(s.workers()) == 1
    s.ticks(10)
    assert it.conclusions(good) == {"success"}


def test_lesson_23_a_worker_that_waits_for_a_banned_job_does_not_run_for_ever(
    s: System, tmp_path: Path
) -> None:
    s.boards(1)
    it.provisioned(s)
    ban(s, tmp_path, banned_entities=[s.organization.id])
    s.good_run()
    assert it.job_reasons(s) == ["banned"]
    s.world.time.step(1300)
    s.good_run()
    s.world.time.step(60)
    s.good_run()
    assert set(s.statuses()[1]) <= {"completed", "failed"}
    assert s.runners() == []


# 24: what is remembered does not grow ----------------------------------------------------------

REMEMBERED = (
    "github_polls",
    "github_credentials",
    "github_scopes",
    "demand_back_off",
    "demand_waits",
    "webhook_cursors",
    "webhook_redeliveries",
)


def sizes(s: System) -> dict[str, int]:
    """The bytes of each table's rows."""
    return {
        table: s.database.rows(
            f"SELECT coalesce(sum(length(t::text)), 0) AS size FROM {table} AS t"
        )[0]["size"]
        for table in REMEMBERED
    }


def a_day(s: System) -> int:
    """Jobs that end, a worker that fails, webhooks that fail; the statements of its last run."""
    s.world.cluster.next_pod(Behaviour.CRASHES)
    s.world.github.deliveries.misbehave(MishapRule(Mishap.REFUSE, "*.queued", times=1))
    for repository in (s.repository, s.personal):
        for _ in range(3):
            s.push(repository, seconds=60)
    for _ in range(6):
        s.world.time.step(120)
        s.good_run()
    s.world.time.step(DAY - 6 * 120)
    return s.good_run().statements


def test_lesson_24_what_a_run_remembers_does_not_grow_with_the_days(s: System) -> None:
    s.boards(6)
    statements = [a_day(s) for _ in range(3)]
    after_three = sizes(s)
    statements += [a_day(s) for _ in range(3)]
    assert len(s.jobs()) == 36
    assert set(s.statuses()[0]) == {"completed"}
    for table, size in sizes(s).items():
        assert size <= 1.25 * after_three[table] + 200, table
    assert statements[-1] <= max(statements[:3]), "nor do its statements"


def test_lesson_24_a_run_reads_no_history(s: System) -> None:
    """A thousand jobs and workers that ended change nothing about what a run asks."""
    s.boards(1)
    it.working(s, seconds=HOUR)
    s.world.time.step(15)
    before = s.good_run()
    for table, key, name in (
        ("jobs", "job_id", "70000 + n"),
        ("workers", "pod_name", "'old-' || n"),
    ):
        columns = [
            row["column_name"]
            for row in s.database.rows(
                "SELECT column_name FROM information_schema.columns"
                " WHERE table_schema = 'prod' AND table_name = %s",
                table,
            )
        ]
        values = ", ".join({key: name, "status": "'failed'"}.get(each, each) for each in columns)
        s.database.execute(
            f"INSERT INTO {table} ({', '.join(columns)})"
            f" SELECT {values} FROM {table}, generate_series(1, 1000) AS n"
        )
    s.world.time.step(15)
    after = s.good_run()
    assert after.statements == before.statements
    assert after.totals == before.totals


# 25: terminal pods -------------------------------------------------------------------------------


@pytest.mark.parametrize("behaviour", [Behaviour.RUNS, Behaviour.CRASHES])
def test_lesson_25_terminal_pods_stay_six_hours_and_their_rows_longer(
    s: System, behaviour: Behaviour
) -> None:
    s.boards(1)
    s.world.cluster.next_pod(behaviour)
    run = it.working(s, seconds=60)
    s.world.github.engine.cancel(run)
    s.world.time.step(100)
    s.good_run()
    [worker] = s.workers()
    assert worker["status"] in ("completed", "failed")
    ended = worker["completed_at"]
    until = ended.timestamp() + 6 * HOUR
    s.world.time.step(until - s.world.time.clock.now().timestamp() - 1)
    s.good_run()
    assert worker["pod_name"] in s.pods()
    assert len(s.world.cluster.secrets()) == 1
    s.world.time.step(1)
    s.good_run()
    s.world.time.step(60)
    assert s.pods() == []
    assert s.world.cluster.secrets() == []
    assert s.workers() == [worker]
