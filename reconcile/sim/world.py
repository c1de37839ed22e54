"""A GitHub and a cluster on one timeline, each on a port of its own.

with World(SteppedTime(), seed=7) as world:
    world.cluster.add_node("rv1-01", board="scw-em-rv1")
    world.time.step(60)
"""

import contextlib
from typing import Generic, Self, TypeVar

from .cluster import Cluster
from .faults import Faults
from .github import GitHub, Limits
from .server import Server
from .timeline import LiveTime, SteppedTime

Time = TypeVar("Time", SteppedTime, LiveTime)


class World(Generic[Time]):
    def __init__(self, time: Time, *, seed: int = 0, limits: Limits | None = None) -> None:
        self.time: Time = time
        self.faults = Faults(seed)
        self.github = GitHub(time.timeline, seed, limits)
        self.cluster = Cluster(time.timeline, self.github, seed)
        self.github_server = Server(self.github, time.timeline, self.faults)
        self.cluster_server = Server(self.cluster, time.timeline, self.faults)
        self._open = contextlib.ExitStack()

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as opening:
            opening.enter_context(self.github_server)
            opening.enter_context(self.cluster_server)
            if isinstance(self.time, LiveTime):
                opening.enter_context(self.time)
            self._open = opening.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    @property
    def github_url(self) -> str:
        return self.github_server.url

    @property
    def kubeconfig(self) -> str:
        """The text of a kubeconfig for an administrator."""
        return self.cluster.kubeconfig(self.cluster_server.url)
