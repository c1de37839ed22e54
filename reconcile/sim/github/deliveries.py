"""Webhooks on their way: signed, logged, and now and then mishandled.

Like GitHub, this never tries again by itself: a failed delivery stays in the log until somebody
asks for it to be delivered again. The log goes back three days.
"""

import fnmatch
import hashlib
import hmac
import json
import random
import threading
import zlib
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

import requests

from ..timeline import Effect, Timeline
from .ids import Ids
from .model import App
from .shapes import Json

USUAL_SECONDS = 0.5  # from a change to the delivery of its webhook
TIMEOUT_SECONDS = 10  # real ones: how long GitHub waits for an answer
HELD_BACK_SECONDS = 600  # how long one waits to be overtaken
KEPT = timedelta(days=3)
ANSWER_KEPT = 4096


class Mishap(StrEnum):
    DUPLICATE = "duplicate"  # it is delivered twice
    DELAY = "delay"  # it is delivered later
    REORDER = "reorder"  # the App's next delivery overtakes it
    DROP = "drop"  # it is never delivered, and the log knows nothing of it
    REFUSE = "refuse"  # the receiver is not reached: a failure in the log


@dataclass(eq=False)
class MishapRule:
    """Which deliveries go wrong. Events are named `workflow_job.queued`; `*` is any part."""

    mishap: Mishap
    events: str = "*"
    probability: float = 1.0
    times: int | None = None  # how often it still strikes; None is without end
    seconds: float = 30  # of a delay
    status: int = 503  # of a refusal
    number: int = 0


@dataclass(eq=False)
class Delivery:
    id: int
    guid: str
    app: App
    event: str
    action: str | None
    installation_id: int | None
    repository_id: int | None
    packed_body: bytes
    delivered_at: datetime
    redelivery: bool = False
    attempt: int = 1
    duration: float = 0
    status: str = "pending"
    status_code: int = 0
    answer_headers: dict[str, str] = field(default_factory=dict)
    answer: str = ""

    @property
    def body(self) -> bytes:
        return zlib.decompress(self.packed_body)

    @property
    def headers(self) -> dict[str, str]:
        signature = hmac.new(self.app.webhook_secret.encode(), self.body, hashlib.sha256)
        return {
            "Accept": "*/*",
            "Content-Type": "application/json",
            "User-Agent": "GitHub-Hookshot/5d4b6f6",
            "X-GitHub-Delivery": self.guid,
            "X-GitHub-Event": self.event,
            "X-GitHub-Hook-ID": str(self.app.id),
            "X-GitHub-Hook-Installation-Target-ID": str(self.app.id),
            "X-GitHub-Hook-Installation-Target-Type": "integration",
            "X-Hub-Signature-256": f"sha256={signature.hexdigest()}",
        }


class Deliveries:
    def __init__(self, timeline: Timeline, ids: Ids) -> None:
        self.timeline = timeline
        self.log: dict[int, Delivery] = {}  # in order of id, which is that of delivery
        self._ids = ids
        self._rules: list[MishapRule] = []
        self._rules_made = 0
        self._held_back: dict[App, Delivery] = {}
        self._local = threading.local()

    def misbehave(self, rule: MishapRule) -> MishapRule:
        with self.timeline.lock:
            self._rules_made += 1
            rule.number = self._rules_made
            self._rules.append(rule)
        return rule

    def forget(self, rule: MishapRule) -> None:
        with self.timeline.lock:
            self._rules = [other for other in self._rules if other is not rule]

    def behave(self) -> None:
        with self.timeline.lock:
            self._rules.clear()

    def send(
        self, app: App, event: str, payload: Json, installation: int, repository: int | None
    ) -> None:
        if app.webhook_url is None:
            return
        delivery = Delivery(
            id=0,
            guid=self._ids.guid(),
            app=app,
            event=event,
            action=payload.get("action"),
            installation_id=installation,
            repository_id=repository,
            packed_body=zlib.compress(json.dumps(payload).encode(), 1),
            delivered_at=self.timeline.now(),
        )
        self._dispatch(delivery)

    def redeliver(self, delivery: Delivery) -> None:
        self._dispatch(_again(delivery, redelivery=True))

    def of(self, app: App) -> list[Delivery]:
        """The App's log, newest first."""
        self._forget_the_old()
        return [delivery for delivery in reversed(self.log.values()) if delivery.app is app]

    def _dispatch(self, delivery: Delivery) -> None:
        rule = self._strikes(delivery)
        mishap = rule.mishap if rule else None
        if mishap is Mishap.DROP:
            return
        if mishap is Mishap.REORDER and delivery.app not in self._held_back:
            self._hold_back(delivery)
            return
        delay = rule.seconds if rule and mishap is Mishap.DELAY else USUAL_SECONDS
        batch = [delivery]
        if mishap is Mishap.DUPLICATE:
            batch.append(_again(delivery, redelivery=False))
        if (overtaken := self._held_back.pop(delivery.app, None)) is not None:
            batch.append(overtaken)
        refused = rule.status if rule and mishap is Mishap.REFUSE else None
        self.timeline.after(delay, lambda: self._deliver(batch, refused))

    def _strikes(self, delivery: Delivery) -> MishapRule | None:
        """By chance from the seed and the delivery itself, whatever else is going on."""
        event = f"{delivery.event}.{delivery.action}"
        for rule in self._rules:
            if not fnmatch.fnmatchcase(event, rule.events):
                continue
            lot = f"{self._ids.seed}:{rule.number}:{event}:{delivery.guid}:{delivery.attempt}"
            if rule.probability < 1 and random.Random(lot).random() >= rule.probability:  # noqa: S311
                continue
            if rule.times is not None:
                rule.times -= 1
                self._rules = [other for other in self._rules if other.times != 0]
            return rule
        return None

    def _hold_back(self, delivery: Delivery) -> None:
        self._held_back[delivery.app] = delivery

        def let_go() -> Effect | None:
            if self._held_back.get(delivery.app) is not delivery:
                return None
            del self._held_back[delivery.app]
            return self._deliver([delivery], None)

        self.timeline.after(HELD_BACK_SECONDS, let_go)

    def _deliver(self, batch: list[Delivery], refused: int | None) -> Effect | None:
        """One after the other: the next leaves when the one before it was answered."""
        first, *rest = batch
        first.id = self._ids.next("delivery")
        first.delivered_at = self.timeline.now()
        self.log[first.id] = first
        self._forget_the_old()
        url = first.app.webhook_url
        if refused is not None or url is None:
            _conclude(first, refused or 502)
            return self._deliver(rest, None) if rest else None

        def effect() -> None:
            self._post(first, url)
            if rest:
                with self.timeline.lock:
                    then = self._deliver(rest, None)
                if then is not None:
                    then()

        return effect

    def _post(self, delivery: Delivery, url: str) -> None:
        """Without the lock: the receiver may well turn around and call us."""
        session = getattr(self._local, "session", None)
        if session is None:
            session = self._local.session = requests.Session()
            session.trust_env = False  # straight to the receiver, whatever proxy there is
        text, headers, seconds = "", dict[str, str](), 0.0
        try:
            response = session.post(
                url,
                data=delivery.body,
                headers=delivery.headers,
                timeout=TIMEOUT_SECONDS,
                allow_redirects=False,
            )
            session.cookies.clear()
        except requests.Timeout:
            code, seconds = 504, float(TIMEOUT_SECONDS)
        except requests.RequestException:
            code = 502
        else:
            code, text = response.status_code, response.text[:ANSWER_KEPT]
            headers, seconds = dict(response.headers), response.elapsed.total_seconds()
        with self.timeline.lock:
            delivery.answer, delivery.answer_headers = text, headers
            delivery.duration = round(seconds, 3)
            _conclude(delivery, code)

    def _forget_the_old(self) -> None:
        horizon = self.timeline.now() - KEPT
        while self.log:
            oldest = next(iter(self.log.values()))
            if oldest.delivered_at >= horizon:
                return
            del self.log[oldest.id]


def _again(delivery: Delivery, *, redelivery: bool) -> Delivery:
    return Delivery(
        id=0,
        guid=delivery.guid,
        app=delivery.app,
        event=delivery.event,
        action=delivery.action,
        installation_id=delivery.installation_id,
        repository_id=delivery.repository_id,
        packed_body=delivery.packed_body,
        delivered_at=delivery.delivered_at,
        redelivery=redelivery,
        attempt=delivery.attempt + 1,
    )


def _conclude(delivery: Delivery, code: int) -> None:
    delivery.status_code = code
    if 200 <= code < 300:
        delivery.status = "OK"
    else:
        words = {502: "failed to connect to host", 504: "timed out"}
        delivery.status = words.get(code, f"Invalid HTTP Response: {code}")
