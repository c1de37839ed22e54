"""What a scenario is: something that happens, a question, and what the first finding is to say."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from reconcile.sim.github.model import Run
from tests.simulated import LABEL
from tests.system import System
from webhook_fn.trace.finding import Kind

ROUTES = f"""
[[route]]
labels = ["{LABEL}"]
pool = "scw-em-rv1"
image = "registry.example/good:1"

[[route]]
labels = ["limited"]
repositories = ["riseproject/firmware"]
pool = "scw-em-rv1"
image = "registry.example/good:1"
"""


@dataclass(frozen=True)
class Question:
    kind: str
    name: int | str
    repository: str | None = None


Happening = Callable[[System], Question]


@dataclass(frozen=True)
class Scenario:
    finding: Kind
    happen: Happening
    says: tuple[str, ...]  # all of them in the first finding, somewhere
    routes: str


class Scenarios(list[Scenario]):
    """Those of a module, in the order they are written in."""

    def scenario(
        self, finding: Kind, *says: str, routes: str = ""
    ) -> Callable[[Happening], Happening]:
        def add(happen: Happening) -> Happening:
            self.append(Scenario(finding, happen, says, routes + ROUTES))
            return happen

        return add


def of(run: Run, repository: str | None = None) -> Question:
    return Question("job", run.jobs[0].id, repository)


def pushed(s: System, **push: Any) -> Run:
    """And stored, if the function takes it."""
    run = s.push(**push)
    s.world.time.step(2)
    return run
