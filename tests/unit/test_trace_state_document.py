"""What is installed on an account, as a document."""

import json

from tests.trace_events import ASKED, ENTITY, NAME, World, event
from tests.trace_folding import account


def test_the_document_tells_everything_in_json() -> None:
    world = World()
    first = world.install(chosen={"linux", "qemu"})
    world.wait()
    world.rename("risc-v")
    world.wait()
    world.select(first, {"linux"})
    world.fail_to_authenticate(first)
    world.install(app=2)
    document = account(world.log()).document()
    assert json.loads(json.dumps(document)) == document
    at = "2026-03-02T09:00:00Z"
    assert document == {
        "id": ENTITY,
        "name": "risc-v",
        "type": "Organization",
        "former_names": [{"name": NAME, "until": "2026-03-02T09:00:01Z", "event_id": 2}],
        "installations": [
            {
                "id": first,
                "app_id": 1,
                "status": "installed",
                "since": {"event_id": 1, "at": at, "event": "installation.created"},
                "began": True,
                "selection": "selected",
                "repositories": ["linux"],
                "complete": True,
                "removed": ["qemu"],
                "permissions": ASKED,
                "auth_failure": {
                    "event_id": 4,
                    "at": "2026-03-02T09:00:02Z",
                    "event": "auth_attempt.404",
                    "message": "Not Found",
                },
            },
            {
                "id": first + 1,
                "app_id": 2,
                "status": "installed",
                "since": {
                    "event_id": 5,
                    "at": "2026-03-02T09:00:02Z",
                    "event": "installation.created",
                },
                "began": True,
                "selection": "all",
                "repositories": None,
                "complete": False,
                "removed": [],
                "permissions": ASKED,
                "auth_failure": None,
            },
        ],
    }


def test_the_document_of_a_selection_nobody_told_lists_nothing_rather_than_none() -> None:
    [it] = account([event("auth_attempt.404")]).document()["installations"]
    assert (it["selection"], it["repositories"]) == (None, None)
