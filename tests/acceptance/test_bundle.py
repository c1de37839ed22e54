"""The deployable zip: what is in it, and that AWS's own runtime client can run it."""

import json
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from tests import github
from tests.database import Database
from tests.function import environment
from tools import bundle

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="the bundle holds wheels for Linux, as Lambda is"
)


@pytest.fixture(scope="module")
def zipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built by the same code as `make bundle`, for the Python that runs the tests."""
    output = tmp_path_factory.mktemp("bundle") / "webhook_fn.zip"
    machine = sysconfig.get_platform().rpartition("-")[2]
    bundle.build(output, sysconfig.get_python_version(), f"{machine}-manylinux2014")
    return output


def test_bundle_holds_psycopg_and_nothing_else_heavy(zipped: Path) -> None:
    with zipfile.ZipFile(zipped) as archive:
        names = {Path(name).parts[0].partition("-")[0] for name in archive.namelist()}
    assert names <= {
        *("webhook_fn", "psycopg", "psycopg_binary", "psycopg_binary.libs"),
        *("typing_extensions", "typing_extensions.py", "__pycache__"),
    }
    assert zipped.stat().st_size < 10 * 1024 * 1024


def test_bundle_holds_the_trace_and_every_statement(zipped: Path) -> None:
    with zipfile.ZipFile(zipped) as archive:
        there = set(archive.namelist())
    package = bundle.ROOT / "webhook_fn"
    wanted = [path for kind in ("*.py", "*.sql", "*.toml") for path in package.rglob(kind)]
    names = {path.relative_to(bundle.ROOT).as_posix() for path in wanted}
    assert "webhook_fn/trace/queries.sql" in names
    assert names - there == set(bundle.NOT_FOR_LAMBDA)


def test_same_inputs_give_the_same_bytes(zipped: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.zip"
    machine = sysconfig.get_platform().rpartition("-")[2]
    bundle.build(again, sysconfig.get_python_version(), f"{machine}-manylinux2014")
    assert again.read_bytes() == zipped.read_bytes()


def test_aws_runtime_client_runs_the_zip_and_a_row_is_written_and_traced(
    zipped: Path, tmp_path: Path, database: Database
) -> None:
    pytest.importorskip("awslambdaric", reason="AWS publishes its runtime client for Linux only")
    from tests.lambda_runtime import lambda_running

    code = tmp_path / "task"
    with zipfile.ZipFile(zipped) as archive:
        archive.extractall(code)
    body = github.encode(github.WorkflowJob().payload("queued"))
    event = github.lambda_event(body, github.headers("workflow_job", body), encoded=True)
    token = "a-token-of-24-characters"
    settings = environment(database.role_url("prod_webhook_fn")) | {"TRACE_API_SECRET": token}
    bearer = {"authorization": f"Bearer {token}"}
    job = github.lambda_event(b"", bearer, method="GET", path="/trace/job/41000000001")
    setup = github.lambda_event(b"", {}, method="GET", path="/setup/org", query="installation_id=1")
    with lambda_running(code, "webhook_fn.app.handler", settings, tmp_path) as runtime:
        first = runtime.invoke(event)
        second = runtime.invoke(event)
        traced = runtime.invoke(job)
        refused = runtime.invoke({**job, "headers": {}})
        page = runtime.invoke(setup)
    assert (first["statusCode"], json.loads(first["body"])["outcome"]) == (200, "job_stored")
    assert json.loads(second["body"])["outcome"] == "job_already_exists"
    assert len(database.rows("SELECT * FROM jobs")) == 1
    assert len(database.rows("SELECT * FROM installation_events")) == 2
    assert (traced["statusCode"], refused["statusCode"]) == (200, 401)
    assert json.loads(traced["body"])["job"]["status"] == "pending"
    assert (page["statusCode"], page["headers"]["content-type"]) == (
        200,
        "text/html; charset=utf-8",
    )


def test_own_routes_go_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    routes = tmp_path / "my-routes.toml"
    routes.write_text("# mine\n")
    monkeypatch.setattr(bundle, "_install_dependencies", lambda *_: None)
    bundle.build(tmp_path / "b.zip", "3.13", "x86_64-manylinux2014", routes)
    with zipfile.ZipFile(tmp_path / "b.zip") as archive:
        assert archive.read("routes.toml") == b"# mine\n"
