"""How long things take in the world around the decisions."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pace:
    """In seconds; by default as in the simulated world, whose runs take no time."""

    interval: float = 15.0  # from one run to the next, if no new job wakes one
    notice: float = 0.5  # from a new job to the run it wakes: its webhook's way
    run: float = 0.0  # from what a run sees to the pods it makes
    # From a pod to its runner's job: it gets its node (0.3), its container is made (0.5), the
    # runner starts (5), GitHub finds it a job (1).
    start: float = 6.8
    pull: float = 20.0  # of the image, before that, by a board that never had a pod
    stop: float = 2.0  # from a job's end to that of its pod, which frees the board

    def __post_init__(self) -> None:
        if self.interval <= 0:
            raise ValueError("Between two runs some time must pass.")
