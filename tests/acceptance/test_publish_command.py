"""`reconcile publish` and runs that publish, as processes, to moto's S3 server."""

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from moto.server import ThreadedMotoServer

from tests.acceptance.command import call, good_run
from tests.acceptance.controller import controller, fleet, push, wait_for_pods
from tests.database import Database
from tests.published_site import KEYS, Bucket
from tests.system import System, command_environment
from tests.waiting import wait_until


@pytest.fixture
def s(database: Database) -> Iterator[System]:
    with fleet(database) as made:
        yield made


@pytest.fixture
def bucket(s: System) -> Iterator[Bucket]:
    """Where the runs of this system publish to."""
    server = ThreadedMotoServer(port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    made = Bucket(f"http://{host}:{port}", f"site-{uuid.uuid4().hex}")  # moto has but one memory
    made.client.create_bucket(Bucket=made.name)
    s.environment |= {
        "SITE_URL": f"s3://{made.name}/{made.prefix}",
        "AWS_ENDPOINT_URL": made.endpoint,
        "AWS_ACCESS_KEY_ID": KEYS["aws_access_key_id"],
        "AWS_SECRET_ACCESS_KEY": KEYS["aws_secret_access_key"],
    }
    yield made
    server.stop()


def test_run_publishes_and_tells_how_much(s: System, bucket: Bucket) -> None:
    done = good_run(s)
    assert done.summary["objects_published"] == len(bucket.paths())
    assert "index.html" in bucket.paths()


def test_publish_makes_everything_anew(s: System, bucket: Bucket) -> None:
    done = call(command_environment(s), "publish", "--json")
    assert done.code == 0, done.stderr
    assert done.document["status"] == "completed"
    assert done.document["objects_published"] == len(bucket.paths()) > 10
    [line] = done.events("publish")
    assert line["objects_published"] == done.document["objects_published"]


def test_publish_without_a_site_is_exit_2(s: System) -> None:
    done = call(command_environment(s), "publish", "--json")
    assert (done.code, done.document["error"]) == (2, "Cannot start: SITE_URL is not set.")


def test_publish_to_a_place_that_is_not_there_is_exit_1(s: System, bucket: Bucket) -> None:
    s.environment["SITE_URL"] = "s3://somewhere-else"
    done = call(command_environment(s), "publish")
    [line] = done.events("publish")
    assert done.code == 1
    assert "somewhere-else" in line["error"]
    assert "NoSuchBucket" in line["error"]


def test_publish_without_a_database_is_exit_2(s: System, tmp_path: Path) -> None:
    s.environment |= {
        "SITE_URL": f"file://{tmp_path}/site",
        "POSTGRES_URL": "postgresql://nobody@127.0.0.1:1/none",
    }
    done = call(command_environment(s), "publish")
    [line] = done.events("publish")
    assert done.code == 2
    assert "The database cannot be reached" in line["error"]


def test_settings_of_aws_that_cannot_be_used_stop_nothing_else(s: System, bucket: Bucket) -> None:
    s.environment["AWS_PROFILE"] = "nobody-has-this"
    with controller(s) as c:
        push(s)
        wait_for_pods(s, 1)
        assert c.stop() == 0
    errors = [line["error"] for line in c.events("phase") if line["phase"] == "publish"]
    assert errors
    assert "The config profile (nobody-has-this) could not be found" in errors[0]


def test_controllers_runs_publish(s: System, bucket: Bucket) -> None:
    with controller(s) as c:
        wait_until(lambda: "health.json" in bucket.paths())
        assert len(list(Path(f"/proc/{c.process.pid}/task").iterdir())) == 1
        push(s)
        wait_until(lambda: b'"status":"pending"' in bucket.read("jobs.json"))
        assert c.stop() == 0
    phases = [line for line in c.events("phase") if line["phase"] == "publish"]
    assert len(phases) >= 2
    assert all(line["success"] for line in phases)
