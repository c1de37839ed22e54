"""Core events: what the scheduler, the kubelets and the node controller say they did."""

from collections import OrderedDict
from datetime import datetime, timedelta

from .store import Object, Store, timestamp

KEPT_SECONDS = 3600
MESSAGE_LIMIT = 1024

EventKey = tuple[str, str, str, str, str]


class Recorder:
    """The same thing said again is the same event, counted."""

    def __init__(self, store: Store) -> None:
        self._store = store
        # In the order of when they were last heard, so that the oldest is always first.
        self._heard: OrderedDict[EventKey, tuple[datetime, str, str]] = OrderedDict()

    def record(
        self,
        about: Object,
        kind: str,
        reason: str,
        message: str,
        *,
        component: str,
        host: str = "",
        warning: bool = False,
        container: str = "",
    ) -> None:
        self.sweep()
        message = message[:MESSAGE_LIMIT]
        now = self._store.timeline.now()
        path = f"spec.containers{{{container}}}" if container else ""
        key = (about["metadata"]["uid"], reason, message, component, path)
        if key in self._heard:
            _, namespace, name = self._heard[key]
            old = self._store.events.get(namespace, name)
            if old is not None:
                again = {"count": old["count"] + 1, "lastTimestamp": timestamp(now)}
                self._store.events.replace(old, old | again)
        else:
            event = self._event(about, kind, path)
            said = {
                "reason": reason,
                "message": message,
                "source": {"component": component} | ({"host": host} if host else {}),
                "firstTimestamp": timestamp(now),
                "lastTimestamp": timestamp(now),
                "count": 1,
                "type": "Warning" if warning else "Normal",
                "eventTime": None,
                "reportingComponent": component,
                "reportingInstance": host,
            }
            event = self._store.events.add(event | said)
            namespace, name = event["metadata"]["namespace"], event["metadata"]["name"]
        self._heard[key] = (now, namespace, name)
        self._heard.move_to_end(key)

    def _event(self, about: Object, kind: str, path: str) -> Object:
        subject = about["metadata"]
        # A node is in no namespace; what is said about it is kept in this one.
        namespace = subject.get("namespace", "default")
        involved = {
            "kind": kind,
            "name": subject["name"],
            # Kubelets and the node controller know nodes by name alone.
            "uid": subject["uid"] if kind != "Node" else subject["name"],
            "apiVersion": "v1",
            "resourceVersion": subject["resourceVersion"],
        }
        if "namespace" in subject:
            involved["namespace"] = namespace
        if path:
            involved["fieldPath"] = path
        name = f"{subject['name']}.{self._store.random.getrandbits(64):016x}"
        metadata = self._store.new_metadata({"name": name, "namespace": namespace})
        return {"metadata": metadata, "involvedObject": involved}

    def sweep(self) -> None:
        """Forget what is too old. Asked for whenever events are written or read, so that no
        appointment has to be kept for each."""
        end = self._store.timeline.now() - timedelta(seconds=KEPT_SECONDS)
        while self._heard and next(iter(self._heard.values()))[0] <= end:
            _, (_, namespace, name) = self._heard.popitem(last=False)
            event = self._store.events.get(namespace, name)
            if event is not None:
                self._store.events.remove(event)
