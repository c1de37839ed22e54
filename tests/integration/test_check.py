"""`reconcile check`: all is well, or just what is broken fails, and says what to do next."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from reconcile import check
from reconcile.demo import keys
from reconcile.errors import ConfigError
from reconcile.kube import REQUIRED
from reconcile.sim.faults import Fault, Kind
from tests.database import Database
from tests.integration.checked import NAMES, Checked, checked, failed, skipped
from tests.published_site import Bucket
from tests.simulated import private_key


@pytest.fixture
def place(
    database: Database, bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Checked]:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with checked(database, bucket, tmp_path) as made:
        yield made


def test_all_is_well(place: Checked, bucket: Bucket) -> None:
    checks = place.run()
    assert failed(checks) == skipped(checks) == set()
    assert "prod_reconcile_login, without TLS" in checks["database"].detail
    assert checks["organization App"].detail == "App 1001 is rise-runners, and the key is its own"
    assert checks["boards"].detail == "scw-em-rv1: 3 of 3 usable"
    assert "no board for jupiter" in checks["routes"].detail
    assert (
        checks["site"].detail == f"bucket {bucket.name} takes and gives up status/.reconcile-check"
    )


def test_nothing_is_left_behind(place: Checked, bucket: Bucket) -> None:
    place.run()
    assert bucket.client.list_objects_v2(Bucket=bucket.name)["KeyCount"] == 0


def test_no_secret_is_shown(place: Checked, capsys: pytest.CaptureFixture[str]) -> None:
    url = place.environ["POSTGRES_URL"] + " password=hunter2"
    assert check.main(place.environ | {"POSTGRES_URL": url}, json=False) == 0
    shown = capsys.readouterr().out
    assert "GHAPP_ORG_PRIVATE_KEY" in shown
    assert "hunter2" not in shown
    assert "simulated-admin-token" not in shown
    assert private_key().splitlines()[1] not in shown


def test_table_is_aligned_and_ends_well(place: Checked, capsys: pytest.CaptureFixture[str]) -> None:
    assert check.main(place.environ, json=False) == 0
    lines = capsys.readouterr().out.splitlines()
    starts = [line for line in lines if not line.startswith(" ")]
    assert [line[9:27].strip() for line in starts] == NAMES
    assert {line[:9].strip() for line in starts} == {"ok"}
    assert all(line[27] != " " and line[25:27] == "  " for line in lines)
    assert max(len(line) for line in lines) <= 130


def test_json_says_the_same(place: Checked, capsys: pytest.CaptureFixture[str]) -> None:
    environ = place.environ | {"SITE_URL": "s3://other-bucket"}
    assert check.main(environ, json=True) == 1
    said = json.loads(capsys.readouterr().out)
    assert said["ok"] is False
    assert [one["name"] for one in said["checks"]] == NAMES
    assert {one["name"] for one in said["checks"] if one["ok"] is False} == {"site"}


@pytest.mark.parametrize("as_json", [False, True])
def test_unusable_configuration_is_exit_code_2(
    place: Checked, capsys: pytest.CaptureFixture[str], as_json: bool
) -> None:
    assert check.main(place.environ | {"RUNNERS_ENV": "x", "SITE_URL": "y"}, json=as_json) == 2
    said = capsys.readouterr().out
    assert "RUNNERS_ENV must be prod or staging" in said
    assert "SITE_URL must be" in said
    if as_json:
        assert json.loads(said)["ok"] is False


def test_database_that_cannot_be_reached(place: Checked) -> None:
    checks = place.run(POSTGRES_URL="postgresql://me:hunter2@127.0.0.1:1/x")
    assert failed(checks) == {"database"}
    assert skipped(checks) == {"schema", "privileges"}
    assert "POSTGRES_URL" in checks["database"].detail
    assert "hunter2" not in str(checks)


@pytest.mark.parametrize(
    ("broken", "difference"),
    [
        ("ALTER TABLE workers DROP COLUMN k8s_image", "table workers has no column k8s_image"),
        ("DROP TABLE installation_events", "table installation_events is missing"),
        ("DROP INDEX idx_jobs_active", "index idx_jobs_active is missing"),
        ("DROP TRIGGER jobs_notify_queue_event ON jobs", "trigger jobs_notify_queue_event is"),
    ],
)
def test_schema_that_is_not_as_it_should_be(place: Checked, broken: str, difference: str) -> None:
    place.database.execute(broken)
    checks = place.run()
    assert failed(checks) == {"schema"}
    assert difference in checks["schema"].detail
    assert "-v schema=prod -f schema.sql" in checks["schema"].detail


def test_what_applying_the_schema_again_does_not_mend_is_said(place: Checked) -> None:
    place.database.execute("DROP INDEX idx_jobs_created")
    assert "by hand" not in place.run()["schema"].detail
    place.database.execute("CREATE INDEX idx_jobs_created ON jobs (created_at)")
    checks = place.run()
    assert failed(checks) == {"schema"}
    assert "by hand" in checks["schema"].detail


def test_schema_that_is_not_there_at_all(place: Checked) -> None:
    place.database.execute("DROP SCHEMA prod CASCADE")
    checks = place.run()
    assert failed(checks) == {"schema"}
    assert skipped(checks) == {"privileges"}


def test_user_without_the_role(place: Checked) -> None:
    checks = place.run(POSTGRES_URL=place.database.role_url("prod_webhook_fn"))
    assert failed(checks) == {"privileges"}
    assert "no SELECT on workers" in checks["privileges"].detail
    assert 'GRANT prod_reconcile TO "prod_webhook_fn_login"' in checks["privileges"].detail


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"GHAPP_ORG_PRIVATE_KEY": keys.private_key()}, "organization App"),
        ({"GHAPP_PERSONAL_PRIVATE_KEY": keys.private_key()}, "personal App"),
        ({"GHAPP_ORG_ID": "4711"}, "organization App"),
        ({"GHAPP_PERSONAL_ID": "4711"}, "personal App"),
    ],
)
def test_app_and_key_that_do_not_belong_together(
    place: Checked, changes: dict[str, str], name: str
) -> None:
    checks = place.run(**changes)
    assert failed(checks) == {name}
    assert f"{next(iter(changes))} " in checks[name].detail


def test_key_that_only_looks_like_one(place: Checked) -> None:
    lines = private_key().splitlines(keepends=True)
    damaged = "".join([*lines[:2], *lines[4:]])
    checks = place.run(GHAPP_PERSONAL_PRIVATE_KEY=damaged)
    assert failed(checks) == {"personal App"}
    assert "GHAPP_PERSONAL_PRIVATE_KEY" in checks["personal App"].detail


def test_github_that_cannot_be_reached(place: Checked) -> None:
    checks = place.run(GITHUB_API_URL="http://127.0.0.1:1")
    assert failed(checks) == {"organization App", "personal App"}
    assert "GITHUB_API_URL" in checks["personal App"].detail


def test_github_at_its_limit_is_no_fault_of_ours(place: Checked) -> None:
    limited = Fault(Kind.STATUS, status=429, retry_after=60)
    place.world.faults.always("github.get_app", limited)
    checks = place.run()
    assert failed(checks) == set()
    assert skipped(checks) == {"organization App", "personal App"}


@pytest.mark.parametrize("permission", REQUIRED, ids=str)
def test_each_missing_permission_is_named(place: Checked, permission: object) -> None:
    rules = [
        ("default" if one.namespaced else None, str(one).partition(" ")[2], one.verb)
        for one in REQUIRED
        if one != permission
    ]
    place.world.cluster.add_user("some-token", rules, "reconciler")
    checks = place.run(K8S_KUBECONFIG=place.kubeconfig("some-token"))
    assert failed(checks) == {"permissions"}
    assert checks["permissions"].detail.startswith(f"may not {permission}\n")


def test_credentials_that_the_cluster_does_not_know(place: Checked) -> None:
    checks = place.run(K8S_KUBECONFIG=place.kubeconfig("unknown-token"))
    assert failed(checks) == {"cluster"}
    assert skipped(checks) == {"permissions", "boards", "routes"}
    assert "K8S_KUBECONFIG" in checks["cluster"].detail
    assert "unknown-token" not in str(checks)


@pytest.mark.parametrize("text", ["clusters: [", "clusters: []", "clusters: [{name: hunter2}]"])
def test_kubeconfig_that_is_none_is_a_setting_at_fault(place: Checked, text: str) -> None:
    with pytest.raises(ConfigError, match="K8S_KUBECONFIG") as caught:
        place.run(K8S_KUBECONFIG=text)
    assert "hunter2" not in str(caught.value)


def test_kubeconfig_that_leads_nowhere(place: Checked) -> None:
    text = (
        "{current-context: a, contexts: [{name: a, context: {cluster: hunter2}}],"
        " clusters: [{name: b, cluster: {}}]}"
    )
    checks = place.run(K8S_KUBECONFIG=text)
    assert failed(checks) == {"cluster"}
    assert "hunter2" not in checks["cluster"].detail


def test_cluster_that_cannot_be_reached(place: Checked) -> None:
    text = place.world.cluster.kubeconfig("http://127.0.0.1:1")
    checks = place.run(K8S_KUBECONFIG=text)
    assert failed(checks) == {"cluster"}
    assert place.waited, "it was tried more than once"


def test_boards_that_take_no_pod_are_counted(place: Checked) -> None:
    place.world.cluster.cordon("rv1-02")
    assert place.run()["boards"].detail == "scw-em-rv1: 1 of 3 usable"


def test_without_routes_and_site_those_are_skipped(place: Checked) -> None:
    checks = place.run(ROUTES_FILE="", SITE_URL="")
    assert failed(checks) == set()
    assert skipped(checks) == {"routes", "site"}
    assert checks["site"].detail.startswith("SITE_URL is not set")


def test_sample_in_the_documentation_names_every_check() -> None:
    page = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text()
    sample = page.partition("## `reconcile check`\n\n```\n")[2].partition("```")[0]
    starts = [line for line in sample.splitlines() if not line.startswith(" ")]
    assert [line[9:27].strip() for line in starts] == NAMES
    assert {line[:9].strip() for line in starts} <= set(check.WORDS.values())
