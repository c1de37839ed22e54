"""`reconcile check`: all is well, or just what is broken fails, and says what to do next."""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import boto3  # type: ignore[import-untyped]
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from moto.server import ThreadedMotoServer

from reconcile import check
from reconcile.check import Check
from reconcile.config import from_environment
from reconcile.errors import ConfigError
from reconcile.kube import REQUIRED
from reconcile.sim.faults import Fault, Kind
from reconcile.sim.timeline import SteppedTime
from reconcile.sim.world import World
from tests.database import Database
from tests.simulated import private_key, public_key

NAMES = [
    "configuration",
    "database",
    "schema",
    "privileges",
    "organization App",
    "personal App",
    "cluster",
    "permissions",
    "boards",
    "routes",
    "site",
]
BUCKET = "site-bucket"
ROUTES = """
[[route]]
labels = ["a"]
pool = "scw-em-rv1"
image = "i"
[[route]]
labels = ["b"]
pool = "jupiter"
image = "i"
"""


@dataclass
class Place:
    """A world in which everything is as it should be, until a test breaks something."""

    world: World[SteppedTime]
    database: Database
    environ: dict[str, str]
    waited: list[float] = field(default_factory=list)

    def run(self, **changes: str) -> dict[str, Check]:
        checks = check.run_checks(from_environment(self.environ | changes), self.waited.append)
        assert [one.name for one in checks] == NAMES
        return {one.name: one for one in checks}

    def kubeconfig(self, token: str) -> str:
        return self.world.cluster.kubeconfig(self.world.cluster_server.url, token)


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    try:
        yield f"http://{host}:{port}"
    finally:
        server.stop()


@pytest.fixture
def place(
    database: Database, s3: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Place]:
    for name, value in (("ACCESS_KEY_ID", "test"), ("SECRET_ACCESS_KEY", "test")):
        monkeypatch.setenv(f"AWS_{name}", value)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    client = boto3.client("s3", endpoint_url=s3)
    client.create_bucket(Bucket=BUCKET)
    client.close()
    routes = tmp_path / "routes.toml"
    routes.write_text(ROUTES)
    with World(SteppedTime()) as world:
        accounts = world.github.accounts
        accounts.add_app(public_key(), app_id=1001, slug="rise-runners")
        accounts.add_app(public_key(), app_id=1002, slug="rise-runners-personal")
        world.cluster.add_node("rv1-01", board="scw-em-rv1")
        world.cluster.add_node("rv1-02", board="scw-em-rv1", runners=2)
        world.time.step(60)
        environ = {
            "POSTGRES_URL": database.role_url("prod_reconcile"),
            "RUNNERS_ENV": "prod",
            "GITHUB_API_URL": world.github_url,
            "GHAPP_ORG_ID": "1001",
            "GHAPP_ORG_PRIVATE_KEY": private_key(),
            "GHAPP_PERSONAL_ID": "1002",
            "GHAPP_PERSONAL_PRIVATE_KEY": private_key(),
            "K8S_KUBECONFIG": world.kubeconfig,
            "ROUTES_FILE": str(routes),
            "RUNNERS_CLOCK": world.time.clock.now().isoformat(),
            "SITE_URL": f"s3://{BUCKET}/status/",
            "AWS_ENDPOINT_URL": s3,
        }
        yield Place(world, database, environ)


def failed(checks: dict[str, Check]) -> set[str]:
    return {name for name, one in checks.items() if one.ok is False}


def skipped(checks: dict[str, Check]) -> set[str]:
    return {name for name, one in checks.items() if one.ok is None}


def other_key() -> str:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()


def test_all_is_well(place: Place) -> None:
    checks = place.run()
    assert failed(checks) == skipped(checks) == set()
    assert "prod_reconcile_login, without TLS" in checks["database"].detail
    assert checks["organization App"].detail == "App 1001 is rise-runners, and the key is its own"
    assert checks["boards"].detail == "scw-em-rv1: 3 of 3 usable"
    assert "no board for jupiter" in checks["routes"].detail
    assert checks["site"].detail == "bucket site-bucket takes and gives up status/.reconcile-check"


def test_nothing_is_left_behind(place: Place) -> None:
    place.run()
    client = boto3.client("s3", endpoint_url=place.environ["AWS_ENDPOINT_URL"])
    assert client.list_objects_v2(Bucket=BUCKET)["KeyCount"] == 0
    client.close()


def test_no_secret_is_shown(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    url = place.environ["POSTGRES_URL"] + " password=hunter2"
    assert check.main(place.environ | {"POSTGRES_URL": url}, json=False) == 0
    shown = capsys.readouterr().out
    assert "GHAPP_ORG_PRIVATE_KEY" in shown
    assert "hunter2" not in shown
    assert "simulated-admin-token" not in shown
    assert private_key().splitlines()[1] not in shown


def test_table_is_aligned_and_ends_well(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert check.main(place.environ, json=False) == 0
    lines = capsys.readouterr().out.splitlines()
    starts = [line for line in lines if not line.startswith(" ")]
    assert [line[9:27].strip() for line in starts] == NAMES
    assert {line[:9].strip() for line in starts} == {"ok"}
    assert all(line[27] != " " and line[25:27] == "  " for line in lines)
    assert max(len(line) for line in lines) <= 130


def test_json_says_the_same(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    environ = place.environ | {"SITE_URL": "s3://other-bucket"}
    assert check.main(environ, json=True) == 1
    said = json.loads(capsys.readouterr().out)
    assert said["ok"] is False
    assert [one["name"] for one in said["checks"]] == NAMES
    assert {one["name"] for one in said["checks"] if one["ok"] is False} == {"site"}


@pytest.mark.parametrize("as_json", [False, True])
def test_unusable_configuration_is_exit_code_2(
    place: Place, capsys: pytest.CaptureFixture[str], as_json: bool
) -> None:
    assert check.main(place.environ | {"RUNNERS_ENV": "x", "SITE_URL": "y"}, json=as_json) == 2
    said = capsys.readouterr().out
    assert "RUNNERS_ENV must be prod or staging" in said
    assert "SITE_URL must be" in said
    if as_json:
        assert json.loads(said)["ok"] is False


def test_database_that_cannot_be_reached(place: Place) -> None:
    checks = place.run(POSTGRES_URL="postgresql://me:hunter2@127.0.0.1:1/x")
    assert failed(checks) == {"database"}
    assert skipped(checks) == {"schema", "privileges"}
    assert "POSTGRES_URL" in checks["database"].detail
    assert "hunter2" not in str(checks)


@pytest.mark.parametrize(
    ("broken", "difference"),
    [
        ("ALTER TABLE workers DROP COLUMN k8s_node", "table workers has no column k8s_node"),
        ("DROP TABLE installation_events", "table installation_events is missing"),
        ("DROP INDEX idx_jobs_active", "index idx_jobs_active is missing"),
        ("DROP TRIGGER jobs_notify_queue_event ON jobs", "trigger jobs_notify_queue_event is"),
    ],
)
def test_schema_that_is_not_as_it_should_be(place: Place, broken: str, difference: str) -> None:
    place.database.execute(broken)
    checks = place.run()
    assert failed(checks) == {"schema"}
    assert difference in checks["schema"].detail
    assert "-v schema=prod -f schema.sql" in checks["schema"].detail


def test_what_applying_the_schema_again_does_not_mend_is_said(place: Place) -> None:
    place.database.execute("DROP INDEX idx_jobs_created")
    assert "by hand" not in place.run()["schema"].detail
    place.database.execute("CREATE INDEX idx_jobs_created ON jobs (created_at)")
    checks = place.run()
    assert failed(checks) == {"schema"}
    assert "by hand" in checks["schema"].detail


def test_schema_that_is_not_there_at_all(place: Place) -> None:
    place.database.execute("DROP SCHEMA prod CASCADE")
    checks = place.run()
    assert failed(checks) == {"schema"}
    assert skipped(checks) == {"privileges"}


def test_user_without_the_role(place: Place) -> None:
    checks = place.run(POSTGRES_URL=place.database.role_url("prod_webhook_fn"))
    assert failed(checks) == {"privileges"}
    assert "no SELECT on workers" in checks["privileges"].detail
    assert 'GRANT prod_reconcile TO "prod_webhook_fn_login"' in checks["privileges"].detail


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"GHAPP_ORG_PRIVATE_KEY": other_key()}, "organization App"),
        ({"GHAPP_PERSONAL_PRIVATE_KEY": other_key()}, "personal App"),
        ({"GHAPP_ORG_ID": "4711"}, "organization App"),
        ({"GHAPP_PERSONAL_ID": "4711"}, "personal App"),
    ],
)
def test_app_and_key_that_do_not_belong_together(
    place: Place, changes: dict[str, str], name: str
) -> None:
    checks = place.run(**changes)
    assert failed(checks) == {name}
    assert f"{next(iter(changes))} " in checks[name].detail


def test_key_that_only_looks_like_one(place: Place) -> None:
    lines = private_key().splitlines(keepends=True)
    damaged = "".join([*lines[:2], *lines[4:]])
    checks = place.run(GHAPP_PERSONAL_PRIVATE_KEY=damaged)
    assert failed(checks) == {"personal App"}
    assert "GHAPP_PERSONAL_PRIVATE_KEY" in checks["personal App"].detail


def test_github_that_cannot_be_reached(place: Place) -> None:
    checks = place.run(GITHUB_API_URL="http://127.0.0.1:1")
    assert failed(checks) == {"organization App", "personal App"}
    assert "GITHUB_API_URL" in checks["personal App"].detail


def test_github_at_its_limit_is_no_fault_of_ours(place: Place) -> None:
    limited = Fault(Kind.STATUS, status=429, retry_after=60)
    place.world.faults.always("github.get_app", limited)
    checks = place.run()
    assert failed(checks) == set()
    assert skipped(checks) == {"organization App", "personal App"}


@pytest.mark.parametrize("permission", REQUIRED, ids=str)
def test_each_missing_permission_is_named(place: Place, permission: object) -> None:
    rules = [
        ("default" if one.namespaced else None, str(one).partition(" ")[2], one.verb)
        for one in REQUIRED
        if one != permission
    ]
    place.world.cluster.add_user("some-token", rules, "reconciler")
    checks = place.run(K8S_KUBECONFIG=place.kubeconfig("some-token"))
    assert failed(checks) == {"permissions"}
    assert checks["permissions"].detail.startswith(f"may not {permission}\n")


def test_credentials_that_the_cluster_does_not_know(place: Place) -> None:
    checks = place.run(K8S_KUBECONFIG=place.kubeconfig("unknown-token"))
    assert failed(checks) == {"cluster"}
    assert skipped(checks) == {"permissions", "boards", "routes"}
    assert "K8S_KUBECONFIG" in checks["cluster"].detail
    assert "unknown-token" not in str(checks)


@pytest.mark.parametrize("text", ["clusters: [", "clusters: []", "clusters: [{name: hunter2}]"])
def test_kubeconfig_that_is_none_is_a_setting_at_fault(place: Place, text: str) -> None:
    with pytest.raises(ConfigError, match="K8S_KUBECONFIG") as caught:
        place.run(K8S_KUBECONFIG=text)
    assert "hunter2" not in str(caught.value)


def test_kubeconfig_that_leads_nowhere(place: Place) -> None:
    text = (
        "{current-context: a, contexts: [{name: a, context: {cluster: hunter2}}],"
        " clusters: [{name: b, cluster: {}}]}"
    )
    checks = place.run(K8S_KUBECONFIG=text)
    assert failed(checks) == {"cluster"}
    assert "hunter2" not in checks["cluster"].detail


def test_cluster_that_cannot_be_reached(place: Place) -> None:
    text = place.world.cluster.kubeconfig("http://127.0.0.1:1")
    checks = place.run(K8S_KUBECONFIG=text)
    assert failed(checks) == {"cluster"}
    assert place.waited, "it was tried more than once"


def test_boards_that_take_no_pod_are_counted(place: Place) -> None:
    place.world.cluster.cordon("rv1-02")
    assert place.run()["boards"].detail == "scw-em-rv1: 1 of 3 usable"


def test_without_routes_and_site_those_are_skipped(place: Place) -> None:
    checks = place.run(ROUTES_FILE="", SITE_URL="")
    assert failed(checks) == set()
    assert skipped(checks) == {"routes", "site"}
    assert checks["site"].detail.startswith("SITE_URL is not set")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"SITE_URL": "s3://other-bucket/x"}, "bucket other-bucket cannot be found"),
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:1"}, "bucket site-bucket cannot be found"),
    ],
)
def test_bucket_that_is_not_there(place: Place, changes: dict[str, str], sentence: str) -> None:
    checks = place.run(**changes)
    assert failed(checks) == {"site"}
    assert sentence in checks["site"].detail
    assert "SITE_URL" in checks["site"].detail


class Guarded(BaseHTTPRequestHandler):
    """A bucket that refuses one thing; moto allows everything."""

    refused = ""

    def answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        asked = "LIST" if "list-type" in self.path else self.command
        body = b"<ListBucketResult/>" if asked == "LIST" else b""
        self.send_response(403 if asked == self.refused else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_HEAD = do_GET = do_PUT = do_DELETE = answer  # noqa: N815 http.server's names

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 as it is named there
        pass


@pytest.mark.parametrize(
    ("method", "sentence"),
    [
        ("HEAD", "cannot be found: "),
        ("LIST", "cannot be listed: "),
        ("PUT", "cannot be written to: "),
        ("GET", "cannot be read from: "),
        ("DELETE", "cannot be deleted from: "),
    ],
)
def test_bucket_that_does_not_let_us(place: Place, method: str, sentence: str) -> None:
    handler = type("Refusing", (Guarded,), {"refused": method})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        checks = place.run(AWS_ENDPOINT_URL=f"http://127.0.0.1:{server.server_port}")
        server.shutdown()
        thread.join()
    assert failed(checks) == {"site"}
    assert sentence in checks["site"].detail
    assert "policy" in checks["site"].detail


def test_site_in_a_directory(place: Place, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "file").touch()
    for name, ok in (("there", True), ("not/yet", True), ("file", False), ("file/below", False)):
        checks = place.run(SITE_URL=f"file://{tmp_path}/{name}")
        assert checks["site"].ok is ok, checks["site"]
        assert failed(checks) <= {"site"}
    assert list((tmp_path / "there").iterdir()) == []
    assert not (tmp_path / "not").exists()


def test_sample_in_the_documentation_names_every_check() -> None:
    page = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text()
    sample = page.partition("## `reconcile check`\n\n```\n")[2].partition("```")[0]
    starts = [line for line in sample.splitlines() if not line.startswith(" ")]
    assert [line[9:27].strip() for line in starts] == NAMES
    assert {line[:9].strip() for line in starts} <= set(check.WORDS.values())
