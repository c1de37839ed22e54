"""A cluster to which everything happens, by lot: it stays sane meanwhile, and recovers after."""

import random
from collections import Counter
from collections.abc import Callable

import pytest

from reconcile.sim.cluster import Behaviour
from tests.integration.sim_cluster import BOARD, World

TERMINAL = ("Succeeded", "Failed")
STEPS = 250
Deed = Callable[[], object]


class Chaos:
    def __init__(self, seed: int) -> None:
        self.world = World(nodes=6, seed=seed)
        self.random = random.Random(f"soak:{seed}")
        self.added = 0
        self.deeds: list[Deed] = [
            *[self.create] * 6,
            *[self.finish] * 6,
            self.delete,
            self.force,
            self.deadline,
            lambda: self.world.cluster.silence(self.node()),
            lambda: self.world.cluster.silence(self.node(), runner_survives=True),
            lambda: self.world.cluster.silence(self.node(), runner_survives=True, online=False),
            *[lambda: self.world.cluster.revive(self.node())] * 3,
            lambda: self.world.cluster.not_ready(self.node()),
            *[lambda: self.world.cluster.ready(self.node())] * 2,
            lambda: self.world.cluster.cordon(self.node()),
            *[lambda: self.world.cluster.uncordon(self.node())] * 2,
            lambda: self.world.cluster.taint(self.node(), "chaos", effect="NoExecute"),
            *[lambda: self.world.cluster.untaint(self.node(), "chaos")] * 2,
            self.replace_node,
            lambda: self.world.cluster.next_pod(self.random.choice(list(Behaviour))),
        ]

    def node(self) -> str:
        nodes: list[str] = [node["metadata"]["name"] for node in self.world.cluster.nodes()]
        return self.random.choice(nodes)

    def pod(self) -> str | None:
        return self.random.choice(self.world.names() or [None])

    def create(self) -> None:
        self.world.create(activeDeadlineSeconds=self.random.choice([60, 3000, 525600]))

    def finish(self) -> None:
        alive = [one for one in self.world.github.sessions if not one.calls and not one.done]
        if alive:
            self.random.choice(alive).do_job()

    def delete(self) -> None:
        if name := self.pod():
            self.world.delete(name)

    def force(self) -> None:
        if name := self.pod():
            self.world.delete(name, gracePeriodSeconds=0)

    def deadline(self) -> None:
        if name := self.pod():
            self.world.patch(name, {"spec": {"activeDeadlineSeconds": 1}})

    def replace_node(self) -> None:
        self.world.cluster.remove_node(self.node())
        self.added += 1
        self.world.cluster.add_node(f"new-{self.added}", BOARD)

    def check(self) -> None:
        """No board has more than one runner, as far as the cluster knows."""
        nodes = {node["metadata"]["name"] for node in self.world.cluster.nodes()}
        taken = Counter(
            pod["spec"]["nodeName"]
            for pod in self.world.cluster.pods()
            if pod["status"]["phase"] not in TERMINAL and "nodeName" in pod["spec"]
        )
        assert not [node for node, count in taken.items() if count > 1 and node in nodes]
        for node in nodes:
            live = [worker for worker in self.world.workers(node) if not worker.over]
            assert len(live) <= 1, "nor as far as the board itself does"
        for session in self.world.github.sessions:
            assert session.calls.count("stop") + session.calls.count("vanish") <= 1

    def heal(self) -> None:
        cluster = self.world.cluster
        for node in cluster.nodes():
            name = node["metadata"]["name"]
            cluster.revive(name)
            cluster.ready(name)
            cluster.uncordon(name)
            cluster.untaint(name, "chaos")


@pytest.mark.parametrize("seed", range(8))
def test_cluster_survives_and_recovers(seed: int) -> None:
    chaos = Chaos(seed)
    for _ in range(STEPS):
        chaos.random.choice(chaos.deeds)()
        chaos.world.step(chaos.random.choice([0, 0.1, 1, 15, 60, 400]))
        chaos.check()
    chaos.heal()
    chaos.world.step(4000)
    for pod in chaos.world.cluster.pods():
        chaos.world.delete(pod["metadata"]["name"])
    chaos.world.step(600)
    assert chaos.world.names() == []
    for node in chaos.world.cluster.nodes():
        assert node["spec"] == {}
    names = [chaos.world.create() for _ in range(6)]
    chaos.world.step(60)
    assert len({chaos.world.node_of(name) for name in names} - {""}) == 6
