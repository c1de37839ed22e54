"""Workers against the cluster and GitHub, in six steps under the lock of their table.

All steps look at one snapshot: the rows, the pods, the nodes, and the registrations of those
scopes where they could change a verdict. A step that fails does not stop the next.
"""

from collections.abc import Callable

from ... import log, store
from ...errors import StoreError
from ..context import OUTSIDE_ERRORS, Context
from ..outcome import Outcome
from . import (
    delete_terminal_pods,
    github_cleanup,
    health_checks,
    orphan_sweep,
    pod_phase_sync,
    unreachable_nodes,
)
from .fleet import Fleet, observe

Step = Callable[[Context, Fleet, Outcome], None]

STEPS: tuple[tuple[str, Step], ...] = (
    ("orphan_sweep", orphan_sweep.sweep),
    ("pod_phase_sync", pod_phase_sync.sync),
    ("unreachable_nodes", unreachable_nodes.check),
    ("health_checks", health_checks.check),
    ("github_cleanup", github_cleanup.clean),
    ("delete_terminal_pods", delete_terminal_pods.delete),
)


def sync_workers(context: Context) -> Outcome:
    outcome = Outcome()
    database = context.database
    with database.transaction():
        store.workers.lock(database)
        fleet = observe(context, outcome)
        outcome.workers_checked = len(fleet.active)
        for name, step in STEPS:
            try:
                step(context, fleet, outcome)
            except (*OUTSIDE_ERRORS, StoreError) as error:
                if database.broken:
                    raise
                log.emit("step_failed", step=name, error=str(error))
                outcome.problem(f"{name}: {error}")
        fleet.ledger.save(context)
        fleet.runners.save(context)
    return outcome
