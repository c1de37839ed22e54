"""Run the benches named on the command line, or all of them."""

import sys
import time

from tests.bench import (
    bench_controller,
    bench_fuzz,
    bench_run,
    bench_site,
    bench_trace,
    bench_webhook,
    bench_world,
)

BENCHES = {
    "webhook": bench_webhook.run,
    "fuzz": bench_fuzz.run,
    "world": bench_world.run,
    "run": bench_run.run,
    "controller": bench_controller.run,
    "site": bench_site.run,
    "trace": bench_trace.run,
}


def main(names: list[str]) -> int:
    if unknown := [name for name in names if name not in BENCHES]:
        print(f"No bench called {', '.join(unknown)}; there are {', '.join(BENCHES)}.")
        return 2
    missed = 0
    for name in names or BENCHES:
        started = time.perf_counter()
        print(f"{name}:", flush=True)
        for figure in BENCHES[name]():
            print(figure.line(), flush=True)
            missed += figure.holds is False
        print(f"  {time.perf_counter() - started:.0f} s\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
