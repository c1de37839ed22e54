"""Publishing with a long history: what a run costs that changed 20 jobs, and a full build."""

import json
import logging
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from moto.server import ThreadedMotoServer

from tests.bench.figures import Figure, ratio
from tests.bench.world import fresh_cluster
from tests.database import Database
from tests.published_site import KEYS, Bucket
from tests.simulated import private_key
from tests.site_history import add_history
from tests.site_rows import NOW, SiteRows

JOBS = 1_000_000
DAYS = 365
GROWTH = 10
FAILED_EVERY = 500
CHANGED = 20
ROUNDS = 9
CALM_RUNS = 10
OBJECTS = 20
SECONDS = 2.0
MEGABYTES = 200
HISTORY_COST = 1.3
# A run has one; publishing does not look at it.
KUBECONFIG = "{clusters: [{name: none}], contexts: [{name: none}], current-context: none}"


@dataclass
class Published:
    database: Database
    bucket: Bucket
    now: datetime = NOW

    def publish(self, *options: str) -> dict[str, Any]:
        done = subprocess.run(
            [sys.executable, "-m", "tests.bench.site_process", self.now.isoformat(), *options],
            env={**os.environ, **self._settings()},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        found: dict[str, Any] = json.loads(done.stdout)
        assert not found["problems"], found["problems"]
        return found

    def _settings(self) -> dict[str, str]:
        return {
            "POSTGRES_URL": self.database.role_url("prod_reconcile"),
            "RUNNERS_ENV": "prod",
            "GHAPP_ORG_ID": "1",
            "GHAPP_ORG_PRIVATE_KEY": private_key(),
            "GHAPP_PERSONAL_ID": "2",
            "GHAPP_PERSONAL_PRIVATE_KEY": private_key(),
            "K8S_KUBECONFIG": KUBECONFIG,
            "SITE_URL": f"s3://{self.bucket.name}/{self.bucket.prefix}",
            "AWS_ENDPOINT_URL": self.bucket.endpoint,
            "AWS_ACCESS_KEY_ID": KEYS["aws_access_key_id"],
            "AWS_SECRET_ACCESS_KEY": KEYS["aws_secret_access_key"],
            "AWS_DEFAULT_REGION": KEYS["region_name"],
        }


class Load:
    """A busy fleet: at each step some jobs come, some begin and some end, twenty in all."""

    def __init__(self, published: Published) -> None:
        self._published = published
        self._rows = SiteRows(published.database)
        self._rows.boards(slots=40, usable=40, in_use=30)
        self._rows.waits("no_board", pending=40)
        self._waiting = [self._new() for _ in range(40)]
        self._running: list[int] = []
        for _ in range(30):
            self._begin()

    def step(self, seconds: float = 15) -> None:
        self._published.now += timedelta(seconds=seconds)
        for _ in range(7):
            self._waiting.append(self._new())
        for _ in range(7):
            self._begin()
        for _ in range(6):
            self._end()
        self._rows.run(started_at=self._published.now)

    def _new(self) -> int:
        return self._rows.job(created_at=self._published.now)

    def _begin(self) -> None:
        job, now = self._waiting.pop(0), self._published.now
        worker = self._rows.worker(created_at=now, running_at=now)
        self._rows.update("jobs", "job_id", job, status="running", started_at=now, k8s_pod=worker)
        self._running.append(job)

    def _end(self) -> None:
        job, now = self._running.pop(0), self._published.now
        self._rows.update(
            "jobs", "job_id", job, status="completed", conclusion="success", completed_at=now
        )


def run() -> Iterator[Figure]:
    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # A line for each request.
    moto = ThreadedMotoServer(port=0, verbose=False)
    moto.start()
    host, port = moto.get_host_and_port()
    try:
        with (
            fresh_cluster() as cluster,
            cluster.new_database() as large,
            cluster.new_database() as small,
        ):
            endpoint = f"http://{host}:{port}"
            long = _made(large, Bucket(endpoint, "long"), JOBS, DAYS)
            short = _made(small, Bucket(endpoint, "short"), JOBS // GROWTH, DAYS / GROWTH)
            yield from _full(long, short)
            yield from _runs(long, short)
    finally:
        moto.stop()


def _made(database: Database, bucket: Bucket, jobs: int, days: float) -> Published:
    add_history(database, jobs, days, failed_every=FAILED_EVERY)
    bucket.client.create_bucket(Bucket=bucket.name)
    return Published(database, bucket)


def _full(long: Published, short: Published) -> Iterator[Figure]:
    of_short, of_long = short.publish("--from-scratch"), long.publish("--from-scratch")
    for name, done in ((f"{JOBS // GROWTH:,} jobs", of_short), (f"{JOBS:,} jobs", of_long)):
        told = f"{done['seconds']:.0f} s, {done['objects']:,} objects"
        yield Figure(f"full build, {name}", told)
    times = of_long["seconds"] / of_short["seconds"]
    yield Figure(
        f"full build, {GROWTH}x the history",
        f"{times:.1f}x",
        f"at most {GROWTH * 1.3:g}x",
        times <= GROWTH * 1.3,
    )
    memory = of_long["megabytes"]
    yield Figure(
        "full build, memory", f"{memory:.0f} MB", f"at most {MEGABYTES} MB", memory <= MEGABYTES
    )


def _runs(long: Published, short: Published) -> Iterator[Figure]:
    loads = Load(long), Load(short)
    for published in (long, short):
        published.publish()  # What the loads began with.
    samples: list[list[dict[str, Any]]] = [[], []]
    for _ in range(ROUNDS):
        for load, published, found in zip(loads, (long, short), samples, strict=True):
            load.step()
            found.append(published.publish())
    of_long, of_short = samples
    objects = max(each["objects"] for each in of_long)
    yield Figure(
        f"a run that changed {CHANGED} jobs, {JOBS:,} in history: objects",
        f"{objects} at most",
        f"at most {OBJECTS}",
        objects <= OBJECTS,
    )
    seconds = _median(of_long, "seconds")
    slowest = max(each["seconds"] for each in of_long)
    yield Figure(
        "  its publishing",
        f"{seconds:.2f} s ({slowest:.2f} at most)",
        f"at most {SECONDS:g} s",
        slowest <= SECONDS,
    )
    memory = max(each["megabytes"] for each in of_long)
    yield Figure(
        "  the run's memory", f"{memory:.0f} MB", f"at most {MEGABYTES} MB", memory <= MEGABYTES
    )
    before = _median(of_short, "seconds")
    yield ratio(f"  with {GROWTH}x the history", seconds, before, HISTORY_COST, "s")
    for _ in range(CALM_RUNS):  # Pages that became long pass their older rows on.
        long.now += timedelta(seconds=15)
        long.publish()
    for name, later in (
        ("a run that changed nothing", timedelta(seconds=15)),
        ("a run that also looks after the day's files", timedelta(minutes=11)),
    ):
        long.now += later
        done = long.publish()
        yield Figure(name, f"{done['seconds']:.2f} s, {done['objects']} objects")


def _median(samples: list[dict[str, Any]], name: str) -> float:
    return float(statistics.median(each[name] for each in samples))
