"""RUNNERS_CONFIG, read: TOML in, `Settings` out, and every place at fault named at once.

Keys and types are those of the dataclasses in `settings`; only what a value may be is said here.
"""

import dataclasses
import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from .errors import ConfigError
from .settings import EphemeralStorage, Pool, Settings

ENTITIES = "entities"  # [entities.<id>] max_workers = … becomes Settings.max_workers
MAX_WORKERS = "max_workers"
YEAR = 365 * 86_400


@dataclass(frozen=True, slots=True)
class Range:
    low: float
    high: float
    words: str
    or_zero: bool = False  # which then means something else than a small number

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high or (self.or_zero and value == 0)


POINTS_OF_A_WRITE = 5
SECONDS = Range(0.001, YEAR, "a positive number of seconds, at most a year")
DAY = Range(0.001, 86_400, "a positive number of seconds, at most a day")
COUNT = Range(1, 1_000_000, "a positive whole number, at most 1000000")
WORKERS = Range(0, 1_000_000, "a whole number from 0 to 1000000")
AT_ONCE = Range(1, 100, "a whole number from 1 to 100")
SHARE = Range(0.001, 1, "a number above 0 and at most 1")
PART = Range(0, 0.999, "a number from 0 to below 1")
# A week at least: webhooks are redelivered for three days, and whoever looks into something needs
# what led to it.
DAYS = Range(7, 36_500, "a whole number of days from 7 to 36500, or 0 (for ever)", or_zero=True)

# What differs from the rule of its type (a number is seconds, a whole number is a count).
RANGES = {
    "default_max_workers": WORKERS,
    # A deadline of 1 is how a pod is told to stop.
    "timeouts.pod_active_deadline": Range(60, YEAR, "a number of seconds from 60 to a year"),
    "back_off.jitter": PART,
    "github.points_per_minute": Range(0, 1_000_000, "a whole number from 0 to 1000000"),
    "github.points_share": SHARE,
    "github.polling_points_share": SHARE,
    "github.polling_requests_share": SHARE,
    "github.reserve_share": PART,
    "github.parallel": AT_ONCE,  # GitHub takes 100 requests at once
    "run.provision_parallel": AT_ONCE,
    "run.deadline": DAY,  # PostgreSQL's own limits are not much longer
    "run.lock_timeout": DAY,
    "run.statement_timeout": DAY,
    "run.redelivery_attempts": Range(0, 100, "a whole number from 0 to 100"),
    "retention.events_days": DAYS,
    "retention.history_days": DAYS,
    "retention.runs_days": DAYS,
    "retention.batch": Range(1, 100_000, "a whole number from 1 to 100000"),
}

_LABEL_VALUE = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
# Bytes: what is smaller than one (`40m`, meant as `40M`) is a mistake here, though Kubernetes
# takes it.
_QUANTITY = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,9})?)(?:(k|[MGTPE]|[KMGTPE]i)|[eE]([0-9]{1,2}))?")
_POWERS = {letter: power for power, letter in enumerate("kMGTPE", start=1)}


def load(source: str) -> Settings:
    """`source` is a file's path, or the TOML itself. Raises ConfigError, naming each place."""
    import tomllib  # Most processes are children of one that has read the file.

    is_text = "\n" in source or "=" in source
    place = "" if is_text else f"{source}: "
    try:
        document = tomllib.loads(source if is_text else Path(source).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ValueError, RecursionError) as error:
        raise ConfigError(_unreadable(source, is_text=is_text, error=error)) from error
    faults: list[str] = []
    settings = _Reader(faults).settings(document)
    if faults:
        raise ConfigError(place + "; ".join(faults))
    return settings


def _unreadable(source: str, *, is_text: bool, error: Exception) -> str:
    if isinstance(error, OSError):
        return f"{source} cannot be read: {error.strerror}"
    if isinstance(error, UnicodeDecodeError):
        return f"{source} is not UTF-8"
    return f"is not TOML: {error}" if is_text else f"{source} is not TOML: {error}"


def size(quantity: str) -> int | None:
    """The bytes of a Kubernetes quantity, or None if it is none."""
    found = _QUANTITY.fullmatch(quantity)
    if found is None:
        return None
    number, suffix, exponent = found.groups()
    if exponent:
        factor = 10 ** int(exponent)
    elif suffix:
        base = 1024 if suffix.endswith("i") else 1000
        factor = base ** _POWERS["k" if suffix[0] == "K" else suffix[0]]
    else:
        factor = 1
    bytes_ = int(float(number) * factor) if "." in number else int(number) * factor
    return bytes_ if 0 < bytes_ < 2**63 else None


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads on after a fault, with the default in the value's place, to find the others."""

    faults: list[str]

    def settings(self, document: dict[str, Any]) -> Settings:
        self._refuse_unknown(document, allowed_keys(), "")
        given: dict[str, Any] = {}
        for field in dataclasses.fields(Settings):
            if field.name == MAX_WORKERS:
                given[field.name] = self._entities(document.get(ENTITIES, {}))
            elif field.name == "pools":
                given[field.name] = self._pools(document.get(field.name, {}))
            elif field.name in document:
                self._put(given, field, document[field.name], field.name)
        settings = Settings(**given)
        self._check_order(settings)
        return settings

    def _section(self, kind: type, table: Any, place: str) -> Any:
        """An instance of the dataclass, with what the table says of its fields."""
        given: dict[str, Any] = {}
        if self._is_table(table, place):
            fields = {field.name: field for field in dataclasses.fields(kind)}
            self._refuse_unknown(table, set(fields), f"{place}.")
            for name, field in fields.items():
                if name in table:
                    self._put(given, field, table[name], f"{place}.{name}")
        return kind(**given)

    def _put(
        self, given: dict[str, Any], field: dataclasses.Field[Any], value: Any, place: str
    ) -> None:
        kind = field.type
        if isinstance(kind, type) and dataclasses.is_dataclass(kind):
            given[field.name] = self._section(kind, value, place)
        elif kind == EphemeralStorage | None:
            given[field.name] = self._storage(value, place)
        elif fault := _fault(kind, value, place):
            self.faults.append(f"{place} must be {fault}")
        elif isinstance(kind, type) and issubclass(kind, StrEnum):
            given[field.name] = kind(value)
        else:
            given[field.name] = value

    def _storage(self, table: Any, place: str) -> EphemeralStorage:
        before = len(self.faults)
        storage: EphemeralStorage = self._section(EphemeralStorage, table, place)
        sizes = []
        for field in dataclasses.fields(storage):
            sizes.append(size(getattr(storage, field.name)))
            if sizes[-1] is None:
                self.faults.append(
                    f"{place}.{field.name} must be a quantity of bytes, such as 40Gi"
                )
        request, limit = sizes
        if before == len(self.faults) and (request or 0) > (limit or 0):
            self.faults.append(f"{place}.request must not be above its limit ({storage.limit})")
        return storage

    def _entities(self, table: Any) -> dict[int, int]:
        caps: dict[int, int] = {}
        for key, entity in self._tables(table, ENTITIES):
            place = f"{ENTITIES}.{key}"
            self._refuse_unknown(entity, {MAX_WORKERS}, f"{place}.")
            if not (key.isascii() and key.isdigit() and key[0] != "0" and int(key) < 2**63):
                self.faults.append(f"{place} must be named by an account's id, a number")
            elif MAX_WORKERS not in entity:
                self.faults.append(f"{place}.{MAX_WORKERS} is missing")
            elif type(entity[MAX_WORKERS]) is int and entity[MAX_WORKERS] in WORKERS:
                caps[int(key)] = entity[MAX_WORKERS]
            else:
                self.faults.append(f"{place}.{MAX_WORKERS} must be {WORKERS.words}")
        return caps

    def _pools(self, table: Any) -> dict[str, Pool]:
        pools: dict[str, Pool] = {}
        for name, pool in self._tables(table, "pools"):
            if not _LABEL_VALUE.fullmatch(name):
                self.faults.append(f"pools.{name!r} must be named by a board's label")
            pools[name] = self._section(Pool, pool, f"pools.{name}")
        return pools

    def _tables(self, table: Any, place: str) -> list[tuple[str, dict[str, Any]]]:
        if not self._is_table(table, place):
            return []
        return [(k, v) for k, v in table.items() if self._is_table(v, f"{place}.{k}")]

    def _is_table(self, value: Any, place: str) -> bool:
        if isinstance(value, dict):
            return True
        self.faults.append(f"{place} must be a table")
        return False

    def _refuse_unknown(self, table: dict[str, Any], known: set[str], place: str) -> None:
        self.faults.extend(f"unknown key {place}{key}" for key in table if key not in known)

    def _check_order(self, settings: Settings) -> None:
        back_off, github = settings.back_off, settings.github
        if back_off.first > back_off.longest:
            self.faults.append("back_off.first must not be above back_off.longest")
        if github.polling_points_share > github.points_share:
            self.faults.append("github.polling_points_share must not be above github.points_share")
        if 0 < github.points_share * github.points_per_minute < POINTS_OF_A_WRITE:
            self.faults.append(
                "github.points_share of github.points_per_minute must leave room for a write, "
                f"which is {POINTS_OF_A_WRITE} points"
            )


def allowed_keys() -> set[str]:
    """Of the top level."""
    names = {field.name for field in dataclasses.fields(Settings)}
    return names - {MAX_WORKERS} | {ENTITIES}


def _fault(kind: Any, value: Any, place: str) -> str | None:
    """What the value must be, if it is not that."""
    if kind is float:
        allowed = RANGES.get(place, SECONDS)
        return None if type(value) in (int, float) and value in allowed else allowed.words
    if kind is int:
        allowed = RANGES.get(place, COUNT)
        return None if type(value) is int and value in allowed else allowed.words
    if kind == bool | None:
        return None if isinstance(value, bool) else "true or false"
    if kind is str:
        return None if isinstance(value, str) else "a text"
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        known = isinstance(value, str) and value in list(kind)
        return None if known else " or ".join(kind)
    raise TypeError(f"{place} has a type that nothing here reads: {kind}")
