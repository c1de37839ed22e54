"""The run: with nothing to do, through an hour of lost webhooks, and with everything to do."""

from collections.abc import Iterator

from tests.bench import bench_run_hour, bench_run_idle, bench_run_provision
from tests.bench.figures import Figure


def run() -> Iterator[Figure]:
    yield from bench_run_idle.run()
    yield from bench_run_hour.run()
    yield from bench_run_provision.run()
