"""What the phases need of the outside, and what they may rely on.

Every call can raise TransientError, RateLimitedError or PermanentError (see `errors`). A listing
is everything or an error: never a part of it, and never empty because something failed.
"""

from collections.abc import Sequence
from typing import Protocol

from .errors import AccessError, RateLimitedError
from .model import Delivery, JitConfig, Json, Listing, Node, Pages, Pod, RemoteJob, Runner, Scope
from .settings import EphemeralStorage


class GitHub(Protocol):
    """All calls may be made from several threads at once. Each takes the installation's token by
    itself, and raises AccessError if there is none to be had."""

    def polls_left(self, scope: Scope) -> int:
        """How many looks at jobs the polling budget allows now, if they find nothing new: what
        is new costs more, and then the last of them are refused."""
        ...

    def writes_left(self, scope: Scope) -> int:
        """How many runners GitHub's limits allow to be registered now."""
        ...

    def refusal(self, scope: Scope) -> AccessError | RateLimitedError | None:
        """Why nothing can be asked of the installation at present, as far as is known: to find
        out, nothing is sent."""
        ...

    def jobs_of_run(
        self, scope: Scope, repository: str, run_id: int, known: Pages
    ) -> Listing[RemoteJob]:
        """All jobs of all attempts. Counts as polling; 404 is NotFoundError."""
        ...

    def job(self, scope: Scope, repository: str, job_id: int) -> RemoteJob:
        """One job. Counts as polling; 404 is NotFoundError."""
        ...

    def run_is_completed(self, scope: Scope, repository: str, run_id: int) -> bool:
        """Counts as polling; 404 is NotFoundError."""
        ...

    def runners(self, scope: Scope, group_id: int | None, known: Pages) -> Listing[Runner]:
        """All registrations of the scope: of the group if it is given and still there."""
        ...

    def find_runner(self, scope: Scope, name: str) -> Runner | None:
        """The registration of that name, asked for by itself: pages read one after the other can
        miss one."""
        ...

    def delete_runner(self, scope: Scope, runner_id: int) -> bool:
        """Whether it is gone now (also if it was before). False: it is busy, GitHub refused."""
        ...

    def ensure_group(
        self, scope: Scope, name: str, *, allows_public_repositories: bool | None
    ) -> int:
        """The id of the organization's group of that name, made if there is none."""
        ...

    def create_jit_config(
        self, scope: Scope, group_id: int | None, name: str, labels: Sequence[str]
    ) -> JitConfig:
        """Registers the runner. NameTakenError if there is one of that name, UncertainError if
        the answer was lost. Never repeated by itself."""
        ...

    def failed_deliveries(self, app_id: int, after: int | None) -> list[Delivery]:
        """Failed deliveries of the App's log with an id above `after`, oldest first."""
        ...

    def job_of_delivery(self, app_id: int, delivery_id: int) -> int | None:
        """Which job it is about; None if its record does not tell. Counts as polling; 404 is
        NotFoundError."""
        ...

    def redeliver(self, app_id: int, delivery_id: int) -> None: ...


class Cluster(Protocol):
    """The runner namespace, and the nodes. All calls may be made from several threads at once."""

    def pods(self) -> list[Pod]:
        """Every runner pod of the namespace, whoever made it: they all take up boards."""
        ...

    def nodes(self) -> list[Node]: ...

    def create_pod(
        self, name: str, pool: str, image: str, storage: EphemeralStorage | None, deadline: int
    ) -> str:
        """Its uid. NameTakenError if there is one of that name."""
        ...

    def hand_over(self, name: str, pod_uid: str, jit: JitConfig) -> None:
        """The configuration as a Secret that the pod reads and owns: it goes when the pod goes."""
        ...

    def find_pod(self, name: str) -> Pod | None: ...

    def stop_pod(self, name: str) -> None:
        """Its deadline is now: the kubelet ends it, and it stays to be looked at."""
        ...

    def delete_pod(self, pod: Pod, *, force: bool = False, unchanged: bool = False) -> bool:
        """Whether it is gone or going. `unchanged`: only if nothing happened to it since it was
        listed, else False. `force`: without waiting for a kubelet that is not there."""
        ...

    def diagnose(self, pod: Pod) -> Json:
        """What is left to see of it: states, events, the end of its logs; bounded and scrubbed.
        Never raises: what could not be had is said in `errors`."""
        ...
