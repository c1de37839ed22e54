"""What may happen to a fleet, as Prometheus would see it, and what fires then.

A line is a series and its value at all times, or its values a minute apart in promtool's notation
(`1x5` is 1 and five more of it, `_` is none). OURS and THEIRS are two releases.
"""

from dataclasses import dataclass, field

JOB = "ci-system/rise-reconciler-controller"
RELEASES = {"OURS": f'job="{JOB}"', "THEIRS": 'job="ci-system/other-reconciler-controller"'}
HEALTHY = """
    reconcile_listening{OURS} 1
    reconcile_last_success_age_seconds{OURS} 9
"""


@dataclass(frozen=True)
class Fires:
    alert: str
    minutes: int  # until it does
    series: str
    labels: dict[str, str] = field(default_factory=dict)  # beside those that all alerts have


RISCV, RV1 = {"runner_label": "riscv"}, {"pool": "rv1"}

FIRES = {
    "a queue that is too long": Fires(
        "RunnersQueueDrainSlow",
        10,
        """
        cicd_estimated_drain_time_seconds{OURS,runner_label="riscv"} 301
        cicd_queue_depth{OURS,runner_label="riscv"} 1
        """,
        RISCV,
    ),
    "a queue without a board": Fires(
        "RunnersQueueDrainSlow",
        10,
        """
        cicd_estimated_drain_time_seconds{OURS,runner_label="riscv"} Inf
        cicd_queue_depth{OURS,runner_label="riscv"} 1
        """,
        RISCV,
    ),
    "a queue that two pods tell of": Fires(
        "RunnersQueueDrainSlow",
        10,
        """
        cicd_estimated_drain_time_seconds{OURS,runner_label="riscv",pod="a"} 301
        cicd_estimated_drain_time_seconds{OURS,runner_label="riscv",pod="b"} 302
        cicd_queue_depth{OURS,runner_label="riscv",pod="a"} 1
        cicd_queue_depth{OURS,runner_label="riscv",pod="b"} 1
        """,
        RISCV,
    ),
    "jobs that waited": Fires(
        "RunnersJobWaitLong",
        5,
        """
        cicd_fleet_wait_time_seconds{OURS,runner_label="riscv",quantile="0.99"} 61
        """,
        RISCV,
    ),
    "a job that still waits": Fires(
        "RunnersJobWaitLong",
        5,
        """
        cicd_fleet_wait_time_seconds{OURS,runner_label="riscv",quantile="0.99"} 1
        cicd_oldest_pending_seconds{OURS,runner_label="riscv"} 301
        """,
        RISCV,
    ),
    "runners that fail": Fires(
        "RunnersWorkersFailing",
        15,
        """
        cicd_worker_failures_last_hour{OURS,pool="rv1",reason="a"} 1
        cicd_worker_failures_last_hour{OURS,pool="rv1",reason="b"} 2
        cicd_workers_ended_last_hour{OURS,pool="rv1"} 10
        """,
        RV1,
    ),
    "no success for long": Fires(
        "RunnersReconcilerStale",
        1,
        "reconcile_last_success_age_seconds{OURS} 301",
        {"last_success": "old"},
    ),
    "no success ever": Fires(
        "RunnersReconcilerStale",
        5,
        "reconcile_last_success_age_seconds{OURS} _",
        {"last_success": "unknown", "job": JOB},
    ),
    "no controller": Fires(
        "RunnersControllerDown",
        5,
        """
        reconcile_listening{OURS} _
        reconcile_last_success_age_seconds{OURS} _
        reconcile_listening{THEIRS} 1
        """,
        {"job": JOB},
    ),
    "no connection": Fires("RunnersNotListening", 5, "reconcile_listening{OURS} 0"),
    "a run that was killed": Fires(
        "RunnersRunsKilled",
        2,
        'reconcile_runs_total{OURS,outcome="killed"} 0 0 1x60',
        {"outcome": "killed"},
    ),
    "requests that are nearly used up": Fires(
        "RunnersGitHubLimitNear",
        5,
        'github_rate_limit_remaining_ratio{OURS,installation="rise"} 0.09',
        {"installation": "rise", "limit": "near"},
    ),
    "an installation that must wait": Fires(
        "RunnersGitHubLimitNear",
        10,
        "github_installations_blocked{OURS} 1",
        {"limit": "reached"},
    ),
    "a board that is away": Fires(
        "RunnersBoardsUnusable",
        15,
        """
        cicd_board_capacity{OURS,pool="rv1"} 4
        cicd_boards_usable{OURS,pool="rv1"} 3
        """,
        RV1,
    ),
    "a demand that is parked": Fires(
        "RunnersDemandParked", 5, 'cicd_demands_held{OURS,state="parked"} 1'
    ),
}

QUIET = {
    "health": "",
    "a queue at the limit": """
        cicd_estimated_drain_time_seconds{OURS,runner_label="riscv"} 300
        cicd_queue_depth{OURS,runner_label="riscv"} 5
        """,
    "neither a queue nor a board": """
        cicd_estimated_drain_time_seconds{OURS,runner_label="riscv"} Inf
        cicd_queue_depth{OURS,runner_label="riscv"} 0
        """,
    "another release's queue": """
        cicd_estimated_drain_time_seconds{THEIRS,runner_label="riscv"} 999
        cicd_queue_depth{THEIRS,runner_label="riscv"} 5
        """,
    "waits at the limit": """
        cicd_fleet_wait_time_seconds{OURS,runner_label="riscv",quantile="0.99"} 60
        cicd_fleet_wait_time_seconds{OURS,runner_label="riscv",quantile="0.5"} 999
        cicd_oldest_pending_seconds{OURS,runner_label="riscv"} 300
        """,
    "failures at the limit": """
        cicd_worker_failures_last_hour{OURS,pool="rv1",reason="a"} 2
        cicd_workers_ended_last_hour{OURS,pool="rv1"} 10
        """,
    "too few runners to tell": """
        cicd_worker_failures_last_hour{OURS,pool="rv1",reason="a"} 4
        cicd_workers_ended_last_hour{OURS,pool="rv1"} 4
        """,
    "no runners at all": """
        cicd_worker_failures_last_hour{OURS,pool="rv1",reason="a"} 0
        cicd_workers_ended_last_hour{OURS,pool="rv1"} 0
        """,
    "a success at the limit": "reconcile_last_success_age_seconds{OURS} 300",
    "a controller that is replaced": """
        reconcile_listening{OURS} 1x10 _x50
        reconcile_listening{OURS,pod="new"} _x12 0 1x50
        reconcile_last_success_age_seconds{OURS} 9x10 _x50
        reconcile_last_success_age_seconds{OURS,pod="new"} _x12 _ 9x50
        """,
    "a pod that is left over, and hears nothing": """
        reconcile_listening{OURS,pod="left over"} 0
        """,
    "runs that fail, and one that was killed long ago": """
        reconcile_runs_total{OURS,outcome="failed"} 0+1x60
        reconcile_runs_total{OURS,outcome="killed"} 3
        """,
    "requests at the limit": """
        github_rate_limit_remaining_ratio{OURS,installation="rise"} 0.1
        github_installations_blocked{OURS} 0
        """,
    "boards that are all in order": """
        cicd_board_capacity{OURS,pool="rv1"} 4
        cicd_boards_usable{OURS,pool="rv1"} 4
        """,
    "a demand that is tried again soon": """
        cicd_demands_held{OURS,state="backing_off"} 5
        cicd_demands_held{OURS,state="parked"} 0
        """,
}
