"""What tests of the folding ask of a log: its account, its only installation, what that covers."""

from tests.trace_events import NAME
from webhook_fn.trace.facts import StateEvent
from webhook_fn.trace.state import Account, Installation, fold

SECRETS = {"secrets": "read"}
EVENTS = (
    "installation.created",
    "installation.deleted",
    "installation.suspend",
    "installation.unsuspend",
    "installation.new_permissions_accepted",
    "installation.of_next_year",
    "installation_repositories.added",
    "installation_repositories.removed",
    "installation_target.renamed",
    "installation_target.of_next_year",
    "auth_attempt.404",
    "auth_attempt.other_error",
    "auth_attempt.ok",
)
# All that is kept of what such an event says.
FIELDS = (
    "delivery",
    "updated_at",
    "suspended_at",
    "selection",
    "permissions",
    "repositories",
    "added",
    "removed",
    "renamed_from",
    "status",
    "message",
)


def account(events: list[StateEvent]) -> Account:
    folded = fold(events)
    assert folded is not None
    return folded


def only(events: list[StateEvent]) -> Installation:
    [installation] = account(events).installations
    return installation


def covered(installation: Installation, *names: str) -> list[bool | None]:
    return [installation.repositories.covers(f"{NAME}/{name}") for name in names]
