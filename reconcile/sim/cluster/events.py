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
        action: str = "",
    ) -> None:
        """With an action it is an event of the newer kind, which core/v1 shows without its old
        times and without a count: so the scheduler says what it does."""
        self.sweep()
        message = message[:MESSAGE_LIMIT]
        now = self._store.timeline.now()
        path = f"spec.containers{{{container}}}" if container else ""
        key = (about["metadata"]["uid"], reason, message, component, path)
        if key in self._heard:
            _, namespace, name = self._heard[key]
            old = self._store.events.get(namespace, name)
            if old is not None:
                self._store.events.replace(old, old | _again(old, now))
        else:
            said = {
                "reason": reason,
                "message": message,
                "type": "Warning" if warning else "Normal",
                "reportingComponent": component,
            }
            said |= _newer(action, component, now) if action else _older(component, host, now)
            event = self._store.events.add(self._event(about, kind, path, key) | said)
            namespace, name = event["metadata"]["namespace"], event["metadata"]["name"]
        self._heard[key] = (now, namespace, name)
        self._heard.move_to_end(key)

    def _event(self, about: Object, kind: str, path: str, key: EventKey) -> Object:
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
        lot = self._store.lot(f"event:{key}:{self._store.timeline.now()}")
        name = f"{subject['name']}.{lot.getrandbits(64):016x}"
        metadata = self._store.stamped({"name": name, "namespace": namespace}, name)
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


def _older(component: str, host: str, now: datetime) -> Object:
    return {
        "source": {"component": component} | ({"host": host} if host else {}),
        "firstTimestamp": timestamp(now),
        "lastTimestamp": timestamp(now),
        "count": 1,
        "eventTime": None,
        "reportingInstance": host,
    }


def _newer(action: str, component: str, now: datetime) -> Object:
    return {
        "source": {},
        "firstTimestamp": None,
        "lastTimestamp": None,
        "eventTime": _precisely(now),
        "action": action,
        "reportingInstance": f"{component}-0",
    }


def _again(event: Object, now: datetime) -> Object:
    if "action" not in event:
        return {"count": event["count"] + 1, "lastTimestamp": timestamp(now)}
    before = event.get("series", {"count": 1})
    return {"series": {"count": before["count"] + 1, "lastObservedTime": _precisely(now)}}


def _precisely(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%S.%f}Z"
