"""What can go wrong between a client and a server, on command or by chance from a seed."""

import fnmatch
import random
import threading
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum


class Kind(StrEnum):
    LATENCY = "latency"  # the answer comes, later
    TIMEOUT = "timeout"  # no answer comes, for as long as a client may wait
    RESET = "reset"  # the connection is reset instead of an answer
    STATUS = "status"  # an error instead of an answer
    HALF_BODY = "half_body"  # the connection ends in the middle of the answer
    WRONG_JSON = "wrong_json"  # an answer that is no JSON
    EXPIRED_TOKEN = "expired_token"  # noqa: S105 the name of a fault


@dataclass(frozen=True, slots=True)
class Fault:
    """One way to fail.

    With `after_effect` the server first does what it was asked and then fails to say so: the
    fault that makes a client do a thing twice. Half a body and wrong JSON always come after.
    """

    kind: Kind
    seconds: float = 0  # real ones, whatever the speed of the world
    status: int = 0
    retry_after: int | None = None
    after_effect: bool = False


def latency(seconds: float) -> Fault:
    return Fault(Kind.LATENCY, seconds=seconds)


def timeout(seconds: float = 60, *, after_effect: bool = False) -> Fault:
    return Fault(Kind.TIMEOUT, seconds=seconds, after_effect=after_effect)


def reset(*, after_effect: bool = False) -> Fault:
    return Fault(Kind.RESET, after_effect=after_effect)


def status(code: int, *, retry_after: int | None = None, after_effect: bool = False) -> Fault:
    return Fault(Kind.STATUS, status=code, retry_after=retry_after, after_effect=after_effect)


def rate_limited(retry_after: int = 60) -> Fault:
    return status(429, retry_after=retry_after)


def half_body() -> Fault:
    return Fault(Kind.HALF_BODY, after_effect=True)


def wrong_json() -> Fault:
    return Fault(Kind.WRONG_JSON, after_effect=True)


def expired_token() -> Fault:
    return Fault(Kind.EXPIRED_TOKEN)


@dataclass(eq=False)
class Rule:
    """Which calls fail, and how. Endpoints are named `github.list_runners`; `*` stands for any
    part of a name."""

    endpoints: str
    fault: Fault
    probability: float = 1.0
    times: int | None = None  # how often it still strikes; None is without end
    number: int = 0
    calls: Counter[str] = field(default_factory=Counter)  # by path, where chance decides


class Faults:
    """The rules in force. Each call's fate depends on the seed, the endpoint, the path and how
    often that path was called, not on what other clients do meanwhile: a seed replays."""

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed
        self._rules: list[Rule] = []
        self._made = 0
        self._lock = threading.Lock()

    def next(self, endpoints: str, fault: Fault, times: int = 1) -> Rule:
        """The next call to such an endpoint fails, or the next few."""
        return self._add(Rule(endpoints, fault, times=times))

    def sometimes(self, endpoints: str, probability: float, fault: Fault) -> Rule:
        """Each call to such an endpoint fails with that probability, until removed."""
        return self._add(Rule(endpoints, fault, probability=probability))

    def always(self, endpoints: str, fault: Fault) -> Rule:
        return self._add(Rule(endpoints, fault))

    def remove(self, rule: Rule) -> None:
        with self._lock:
            self._rules = [other for other in self._rules if other is not rule]

    def clear(self) -> None:
        with self._lock:
            self._rules.clear()

    def draw(self, endpoint: str, path: str) -> list[Fault]:
        """What befalls this call: any number of delays, and at most one failure."""
        with self._lock:
            drawn: list[Fault] = []
            failing = False
            for rule in self._rules:
                is_failure = rule.fault.kind is not Kind.LATENCY
                if (failing and is_failure) or not self._strikes(rule, endpoint, path):
                    continue
                failing = failing or is_failure
                drawn.append(rule.fault)
                if rule.times is not None:
                    rule.times -= 1
            self._rules = [rule for rule in self._rules if rule.times != 0]
            return drawn

    def _strikes(self, rule: Rule, endpoint: str, path: str) -> bool:
        if not fnmatch.fnmatchcase(endpoint, rule.endpoints):
            return False
        if rule.probability >= 1:
            return True
        rule.calls[path] += 1
        lot = f"{self._seed}:{rule.number}:{endpoint}:{path}:{rule.calls[path]}"
        return random.Random(lot).random() < rule.probability  # noqa: S311

    def _add(self, rule: Rule) -> Rule:
        with self._lock:
            self._made += 1
            rule.number = self._made
            self._rules.append(rule)
            return rule
