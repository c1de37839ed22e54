"""Container images: how long they take to pull and to start, and what they do then."""

from collections import deque
from dataclasses import dataclass
from enum import StrEnum


class Behaviour(StrEnum):
    RUNS = "runs"  # registers, takes a job, exits
    MISSING = "missing"  # cannot be pulled
    REJECTED = "rejected"  # its node refuses the pod
    CRASHES = "crashes"  # exits soon after its start, with an error
    NEVER_REGISTERS = "never_registers"  # runs, and never talks to GitHub
    HANGS = "hangs"  # does its job and then does not exit
    FILLS_DISK = "fills_disk"  # is evicted for it
    LEAKS = "leaks"  # prints its environment, and otherwise runs


@dataclass(frozen=True)
class Image:
    pull_seconds: float = 20
    start_seconds: float = 5  # from the container's start to the runner's connection
    behaviour: Behaviour = Behaviour.RUNS


class Images:
    """What the registry holds. An image nobody described is an ordinary one."""

    def __init__(self) -> None:
        self._known: dict[str, Image] = {}
        self._next: deque[Behaviour] = deque()

    def set(self, name: str, image: Image) -> None:
        self._known[name] = image

    def get(self, name: str) -> Image:
        return self._known.get(name) or Image()

    def force(self, behaviour: Behaviour, times: int) -> None:
        self._next.extend([behaviour] * times)

    def force_nothing(self) -> None:
        self._next.clear()

    def take_forced(self) -> Behaviour | None:
        """What the next pod to start must do, whatever its image."""
        return self._next.popleft() if self._next else None
